"""Turns pydantic's errors into the house's words: path, rule, value got, remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from components.specs import base
from components.specs.lock_text import entry_text
from components.specs.patterns import PATTERN_RULES
from components.specs.problems import listed, nearest, shown, suggestion
from components.specs.remedy import FormError, Remedy
from components.specs.shape import FORMATS, UNKNOWN, shapes, whole

Path = tuple[str | int, ...]

_RULES = {
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "too_short": "needs at least {min_length} entry",
    "too_long": "may have at most {max_length} entries",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
}


_MAX_DIGITS = 9
"""Digits of a number that a text quotes; no count or port here has more."""
_BOOLEANS = dict.fromkeys(("yes", "on", "y", "true"), "true") | dict.fromkeys(("no", "off", "n", "false"), "false")


_MISSING: ErrorDetails = {"type": "missing", "loc": (), "msg": "", "input": None}


@dataclass(frozen=True)
class Mistake:
    """One mistake a model found."""

    path: Path
    """Keys from the model down to the value that breaks a rule."""
    text: str
    """Rule, value got and remedy, in lower case and without a full stop."""
    wants_text: bool
    """Whether text could be right here; false for a number, a mapping or one of a few words."""
    remedy: Remedy | None = None
    """What to write in place of the value, where that is certain."""


def mistakes(error: ValidationError, model: type[BaseModel], data: Any) -> Iterator[Mistake]:
    """Yield each mistake in ``data`` that ``error`` reports about ``model``, once."""
    by_path: dict[Path, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        if not _counts_wrong_entries(detail):
            by_path.setdefault(_path_in(data, detail), []).append(detail)
    misspelt = {
        (*path[:-1], near)
        for path, [detail, *_] in by_path.items()
        if detail["type"] == "extra_forbidden" and (near := nearest(str(path[-1]), _keys(model, path[:-1], data)))
    }
    for path in [path for path, [detail, *_] in by_path.items() if detail["type"] == "union_tag_not_found"]:
        by_path |= {(*path[:-1], key): [_MISSING] for key in _also_missing(model, path[:-1], data)}
    for path, details in by_path.items():
        kind = details[0]["type"]
        if (kind == "missing" and path in misspelt) or _meant_otherwise(details, path, by_path):
            continue
        text = _text(details, model, path, data)
        wants_text = kind.startswith("string") or kind in {"value_error", base.MISFIT}
        yield Mistake(path, text, wants_text=wants_text, remedy=_remedy(details[0], path, text))


def _counts_wrong_entries(detail: ErrorDetails) -> bool:
    """Tell whether a list is called too short only because its entries are wrong."""
    got = detail.get("input")
    return detail["type"] == "too_short" and isinstance(got, list) and len(got) >= detail["ctx"]["min_length"]


def _meant_otherwise(details: list[ErrorDetails], path: Path, paths: Iterable[Path]) -> bool:
    """Tell whether a value is no word of a list only because it is the list that may stand there instead."""
    words = all(detail["type"] == "literal_error" and isinstance(detail.get("input"), list) for detail in details)
    return words and any(len(other) > len(path) and other[: len(path)] == path for other in paths)


def _path_in(data: Any, detail: ErrorDetails) -> Path:
    """Return where in ``data`` an error is: pydantic's own location also names members of unions."""
    path: list[str | int] = []
    for index, step in enumerate(detail["loc"]):
        last = index == len(detail["loc"]) - 1
        if (isinstance(data, dict) and step in data) or (isinstance(data, list) and isinstance(step, int)):
            data = data[step]  # type: ignore[index]  # a list is indexed by the int just checked
        elif not (last and detail["type"] in {"missing", base.MISFIT}):
            continue
        path.append(step)
    if detail["type"].startswith("union_tag"):
        path.append(detail["ctx"]["discriminator"].strip("'"))
    return tuple(path)


def _text(details: list[ErrorDetails], model: type[BaseModel], path: Path, data: Any) -> str:
    kind, got, context = details[0]["type"], details[0].get("input"), details[0].get("ctx", {})
    match kind:
        case "missing" | "union_tag_not_found":
            return f"is required; {_add(model, path, data)}"
        case "extra_forbidden":
            keys = _keys(model, path[:-1], data)
            return f"is not a key here (keys: {listed(keys)}){suggestion(str(path[-1]), keys)}"
        case "union_tag_invalid":
            tags = context["expected_tags"].replace("'", "").split(", ")
            return f"must be one of {listed(tags)} (got '{context['tag']}'){suggestion(context['tag'], tags)}"
        case "value_error" if ";" in str(context["error"]):
            return _with_got(str(context["error"]), got)
        case base.MISFIT:
            text = context["text"].replace("; add it", f"; {_add(model, path, data)}")
            return text if got is None else _with_got(text, got)
    rules = dict.fromkeys(_rule(detail["type"], detail.get("ctx", {})) for detail in details)
    if kind == "int_type" and isinstance(got, str) and got.isascii() and got.isdecimal():
        hint = _number(got, _wanted(model, path[:-1], data).get(str(path[-1])))
    else:
        hint = _hint(kind, context, got) or _form_to_write(kind, model, path, data)
    return f"{' or '.join(rules).replace('or must be', 'or')} (got {shown(got)}){hint}"


def _with_got(text: str, got: Any) -> str:
    rule, remedy = text.split("; ", 1)
    return f"{rule} (got {shown(got)}); {remedy}"


def _rule(kind: str, context: dict[str, Any]) -> str:
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        return PATTERN_RULES.get(context["pattern"], f"must look like {context['pattern']}")
    if kind in {"enum", "literal_error"}:
        words = _expected(context)
        return f"must be {'one of ' * (len(words) > 1)}{listed(words)}"
    if kind.startswith(("datetime", "timezone")):
        return f"must be a moment with its offset from UTC like {FORMATS['date-time']}"
    if kind.startswith("date"):
        return f"must be a date like {FORMATS['date']}"
    rule = _RULES.get(kind)
    return rule.format_map(context) if rule else f"is not valid: {kind.replace('_', ' ')}"


def _expected(context: dict[str, Any]) -> list[str]:
    text: str = context["expected"]
    return text.replace(" or ", ", ").replace("'", "").split(", ")


def _number(got: str, field: FieldInfo | None) -> str:
    """Return the remedy for a number in quotes, which is quoted only where it could stand without them."""
    if len(got) > _MAX_DIGITS:
        return f"; write one without quotes, of at most {_MAX_DIGITS} digits"
    try:
        if field is not None:
            adapter: TypeAdapter[Any] = TypeAdapter(Annotated[field.annotation, field])  # type: ignore[arg-type]
            adapter.validate_python(int(got))
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        return f"; write one without quotes, which {_rule(detail['type'], detail.get('ctx', {}))}"
    return f"; write {int(got)}"


def _hint(kind: str, context: dict[str, Any], got: Any) -> str:
    if kind == "string_type" and isinstance(got, int):
        return f'; write "{shown(got)}" in quotes'
    if kind == "bool_type" and isinstance(got, str) and got.lower() in _BOOLEANS:
        return f"; write {_BOOLEANS[got.lower()]}"
    if kind in {"enum", "literal_error"} and isinstance(got, str):
        return suggestion(got, _expected(context))
    return ""


def _remedy(detail: ErrorDetails, path: Path, text: str) -> Remedy | None:
    """Return the remedy of a value that can mean only one thing."""
    match detail["type"], detail.get("input"), detail.get("ctx", {}).get("error"):
        case "value_error", _, FormError() as error:
            return Remedy(path, error.write)
        case "int_type", str(got), _ if text.endswith(f"; write {got}"):
            return Remedy(path, got)
        case "bool_type", str(got), _ if got.lower() in _BOOLEANS:
            return Remedy(path, _BOOLEANS[got.lower()])
        case "string_type", bool() | int() as got, _:
            return Remedy(path, f'"{shown(got)}"', instead_of=shown(got))
    return None


def _form_to_write(kind: str, model: type[BaseModel], path: Path, data: Any) -> str:
    """Return what the mapping or list looks like that is missing at ``path``."""
    if kind == "tuple_type":
        got = _at(data, path)
        entry = entry_text(got) if isinstance(got, str) else UNKNOWN
        return f"; {_add(model, path, data).replace(f'[{UNKNOWN}]', f'[{entry}]')}" if isinstance(path[-1], str) else ""
    if kind not in {"model_type", "model_attributes_type", "dict_type"}:
        return ""
    models = _models(_annotation(model, path, data), _at(data, path))
    wanted = [shape for shape in map(whole, models) if shape != "{}"]
    return f"; write {' or '.join(wanted)}" if wanted else ""


def _add(model: type[BaseModel], path: Path, data: Any) -> str:
    """Return the remedy for a key that is missing at ``path``: what to write, as its model has it."""
    key = str(path[-1])
    models = _models(_annotation(model, path[:-1], data), _at(data, path[:-1]))
    found = dict.fromkeys(shapes(member).get(key, UNKNOWN) for member in models)
    return f"write {key}: {'|'.join(found)}" if found else "add it"


def _also_missing(model: type[BaseModel], path: Path, data: Any) -> list[str]:
    """Return what else is missing in a mapping of which nobody said what it is, if its keys say it."""
    got = _at(data, path)
    models = _models(_annotation(model, path, data), got)
    wanted = _fields(models[0]) if len(models) == 1 else {}
    return [key for key, field in wanted.items() if field.is_required() and key not in got]


def _at(data: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        data = data[step]
    return data


def _keys(model: type[BaseModel], path: Sequence[str | int], data: Any) -> list[str]:
    """Return the keys that a mapping at ``path`` may have."""
    return sorted(_wanted(model, path, data))


def _wanted(model: type[BaseModel], path: Sequence[str | int], data: Any) -> dict[str, FieldInfo]:
    """Return the fields of the mapping that ``path`` stands for; none when it is of no model."""
    found = _member(_annotation(model, path, data), _at(data, path))
    return _fields(found) if _is_model(found) else {}


def _annotation(model: type[BaseModel], path: Sequence[str | int], data: Any) -> Any:
    """Return the type of the value at ``path``, as its model declares it."""
    found: Any = model
    for step in path:
        found = _member(found, data)
        found = _fields(found)[str(step)].annotation if _is_model(found) else _entry_type(found)
        data = data[step]
    return found


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of ``model`` by their keys in data."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _is_model(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, BaseModel)


def _entry_type(found: Any) -> Any:
    arguments = [argument for argument in get_args(found) if argument is not Ellipsis]
    return arguments[-1] if arguments else None


def _member(found: Any, data: Any) -> Any:
    """Return the type behind annotations, and the model a union means by the discriminator in ``data``."""
    if get_origin(found) is Annotated:
        return _member(get_args(found)[0], data)
    if _is_union(found):
        models = _models(found, data)
        return models[0] if len(models) == 1 else None
    return found


def _models(found: Any, data: Any) -> list[type[BaseModel]]:
    """Return the models that a value of the type ``found`` can be of: those that ``data`` names, or has the keys of."""
    if get_origin(found) is Annotated:
        return _models(get_args(found)[0], data)
    models = [member for member in (get_args(found) if _is_union(found) else [found]) if _is_model(member)]
    named = [member for member in models if _says(member, data)]
    alike = [member for member in models if isinstance(data, dict) and data and data.keys() <= _fields(member).keys()]
    return named or alike or models


def _is_union(found: Any) -> bool:
    return get_origin(found) is Union or type(found).__name__ == "UnionType"


def _says(model: type[BaseModel], data: Any) -> bool:
    return isinstance(data, dict) and any(
        get_origin(field.annotation) is Literal and data.get(name) in get_args(field.annotation)
        for name, field in _fields(model).items()
    )
