"""Translation of pydantic's errors into problem texts with path, rule, value and remedy."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from components.specs import base
from components.specs.near_forms import near_form
from components.specs.reading import model_walk
from components.specs.reading.patterns import PATTERN_RULES
from components.specs.reading.problems import listed, nearest, one_of, shown, suggestion
from components.specs.reading.remedy import FormError, Remedy
from components.specs.reading.shape import FORMATS, form_to_write, key_to_write
from components.specs.reading.violations import incompatibilities
from components.specs.secret_text import MASK, HiddenValueError, masked, masked_parts, shown_at
from components.specs.struct import Struct

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


_DATE = re.compile(r"([0-9]{4})[/.]([0-9]{2})[/.]([0-9]{2})|([0-9]{2})\.([0-9]{2})\.([0-9]{4})")
"""Date with other separators, or with the day first."""
_DIGITS = re.compile(r"([0-9]+)(?:\.0+|,)?", re.ASCII)
_MAX_DIGITS = 9
"""Maximum number of digits of a number in an error text; no count or port has more."""
_BOOLEANS = dict.fromkeys(("yes", "on", "y", "true"), "true") | dict.fromkeys(("no", "off", "n", "false"), "false")


_MISSING: ErrorDetails = {"type": "missing", "loc": (), "msg": "", "input": None}


class Mistake(Struct, kw_only=False):
    """Error that a model found in one value."""

    path: Path
    """Path of keys from the model to the invalid value."""
    text: str
    """Rule, value and remedy, in lower case and without a full stop."""
    wants_text: bool
    """Whether the value may be text; false for a number, a mapping or an enum."""
    remedy: Remedy | None = None
    """Replacement for the value; None if the remedy is ambiguous."""


def mistakes(error: ValidationError, model: type[BaseModel], data: Any) -> Iterator[Mistake]:
    """Yield each mistake in ``data`` that ``error`` reports for ``model``, without duplicates."""
    by_path: dict[Path, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        if not _counts_wrong_entries(detail):
            by_path.setdefault(_path_in(data, detail), []).append(detail)
    misspelt = {
        (*path[:-1], near)
        for path, [detail, *_] in by_path.items()
        if detail["type"] == "extra_forbidden"
        and (near := nearest(str(path[-1]), model_walk.keys(model, path[:-1], data)))
    }
    for path in [path for path, [detail, *_] in by_path.items() if detail["type"] == "union_tag_not_found"]:
        by_path |= {(*path[:-1], key): [_MISSING] for key in _also_missing(model, path[:-1], data)}
    for path, violation in list(incompatibilities(model, data, {*by_path, *misspelt})):
        for at in [at for at, [detail, *_] in by_path.items() if _is_cut(at, detail, path, violation.text)]:
            del by_path[at]
        by_path[path] = [{**_MISSING, "type": base.MISFIT, "input": violation.got, "ctx": {"text": violation.text}}]
    for path, details in by_path.items():
        kind = details[0]["type"]
        if (kind == "missing" and path in misspelt) or _is_valid_list(details, path, by_path):
            continue
        text = _text(details, model, path, data)
        wants_text = kind.startswith("string") or kind in {"value_error", base.MISFIT}
        yield Mistake(path, text, wants_text=wants_text, remedy=_remedy(details[0], path, text))


def _is_cut(at: Path, detail: ErrorDetails, path: Path, text: str) -> bool:
    """Return whether ``at`` is ``path`` without the omitted mappings before its last key, which `_path_in` skips."""
    same = at != path and at[-1:] == path[-1:] and at[:-1] == path[: len(at) - 1]
    return same and detail["type"] == base.MISFIT and detail["ctx"]["text"] == text


def _counts_wrong_entries(detail: ErrorDetails) -> bool:
    """Return whether a list is reported as too short only because entries are invalid."""
    got = detail.get("input")
    return detail["type"] == "too_short" and isinstance(got, list) and len(got) >= detail["ctx"]["min_length"]


def _is_valid_list(details: list[ErrorDetails], path: Path, paths: Iterable[Path]) -> bool:
    """Return whether a value is reported as an invalid literal although it is a list, which is also allowed."""
    words = all(detail["type"] == "literal_error" and isinstance(detail.get("input"), list) for detail in details)
    return words and any(len(other) > len(path) and other[: len(path)] == path for other in paths)


def _path_in(data: Any, detail: ErrorDetails) -> Path:
    """Return the path in ``data`` of an error. The location of pydantic also contains members of unions."""
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
    got = details[0].get("input")
    safe = shown_at(path, got)
    text = _composed(details, safe, model, path, data)
    return masked_parts(text, got, masked(safe)) if isinstance(safe, str) else text


def _composed(details: list[ErrorDetails], got: Any, model: type[BaseModel], path: Path, data: Any) -> str:
    kind, context = details[0]["type"], details[0].get("ctx", {})
    match kind:
        case "missing" | "union_tag_not_found":
            return f"is required; {key_to_write(model, path, data)}"
        case "extra_forbidden":
            return _no_key(model, path, data)
        case "union_tag_invalid":
            tags = context["expected_tags"].replace("'", "").split(", ")
            return f"must be {one_of(tags)} (got '{context['tag']}'){suggestion(context['tag'], tags)}"
        case "value_error" if ";" in str(context["error"]):
            hidden = isinstance(context["error"], HiddenValueError)
            return _with_got(str(context["error"]), MASK if hidden else got)
        case base.MISFIT:
            text = context["text"].replace("; add it", f"; {key_to_write(model, path, data)}")
            return text if got is None else _with_got(text, got)
    rules = dict.fromkeys(_rule(detail["type"], detail.get("ctx", {})) for detail in details)
    if kind == "int_type" and isinstance(got, str) and (digits := _DIGITS.fullmatch(got)):
        hint = _number(digits[1], model_walk.annotation(model, path, data))
    elif kind == "string_type" and isinstance(got, int) and (refused := _refused_in_quotes(got, model, path, data)):
        rules, hint = dict.fromkeys(map(_rule_of, refused)), ""
    else:
        hints = (_hint(detail["type"], detail.get("ctx", {}), got) for detail in details)
        hint = next(filter(None, hints), "") or form_to_write((detail["type"] for detail in details), model, path, data)
    return f"{' or '.join(rules).replace('or must be', 'or')} (got {shown(got)}){hint}"


def _no_key(model: type[BaseModel], path: Path, data: Any) -> str:
    advice, keys = model_walk.advice(model, path, data), model_walk.keys(model, path[:-1], data)
    if advice:
        return _with_got(advice, shown_at(path, model_walk.at(data, path)))
    return f"is not a key here (keys: {listed(keys)}){suggestion(str(path[-1]), keys)}"


def _with_got(text: str, got: Any) -> str:
    rule, separator, remedy = text.partition("; ")
    return f"{rule} (got {shown(got)}){separator}{remedy}"


def _rule(kind: str, context: dict[str, Any]) -> str:
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        return PATTERN_RULES.get(context["pattern"], f"must look like {context['pattern']}")
    if kind in {"enum", "literal_error"}:
        return f"must be {one_of(_expected(context))}"
    if kind.startswith(("datetime", "timezone")):
        return f"must be a moment with its offset from UTC like {FORMATS['date-time']}"
    if kind.startswith("date"):
        return f"must be a date like {FORMATS['date']}"
    rule = _RULES.get(kind)
    return rule.format_map(context) if rule else f"is not valid: {kind.replace('_', ' ')}"


def _expected(context: dict[str, Any]) -> list[str]:
    text: str = context["expected"]
    return text.replace(" or ", ", ").replace("'", "").split(", ")


def _number(got: str, kind: Any) -> str:
    """Return the remedy for a number in quotes, with the number itself only if it is valid without quotes."""
    if len(got) > _MAX_DIGITS:
        return f"; write a number of at most {_MAX_DIGITS} digits, without quotes"
    refused = _refused(int(got), kind)
    return f"; write a number without quotes, which {_rule_of(refused[0])}" if refused else f"; write {int(got)}"


def _refused(value: int | str, kind: Any) -> list[ErrorDetails]:
    """Return the errors of ``value`` in the requested form; empty if it is valid."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    try:
        adapter.validate_python(value)
    except ValidationError as error:
        return error.errors(include_url=False)
    return []


def _refused_in_quotes(got: int, model: type[BaseModel], path: Path, data: Any) -> list[ErrorDetails]:
    return _refused(shown(got), model_walk.annotation(model, path, data))


def _rule_of(detail: ErrorDetails) -> str:
    return _rule(detail["type"], detail.get("ctx", {}))


def _hint(kind: str, context: dict[str, Any], got: Any) -> str:
    if kind == "string_type" and isinstance(got, int):
        return f'; write "{shown(got)}" in quotes'
    if kind == "bool_type" and isinstance(got, str) and got.lower() in _BOOLEANS:
        return f"; write {_BOOLEANS[got.lower()]}"
    if kind in {"enum", "literal_error"} and isinstance(got, str):
        whole = [word for word in _expected(context) if got.lower().startswith(word)]
        return f"; did you mean '{whole[0]}'?" if len(whole) == 1 else suggestion(got, _expected(context))
    if kind.startswith("date_") and isinstance(got, str) and (date := _DATE.fullmatch(got)):
        return f"; is {date[1] or date[6]}-{date[2] or date[5]}-{date[3] or date[4]} meant?"
    if kind == "string_pattern_mismatch" and (near := near_form(got, context["pattern"])):
        return f"; did you mean '{near}'?"
    return ""


def _remedy(detail: ErrorDetails, path: Path, text: str) -> Remedy | None:
    """Return the remedy of a value with exactly one possible meaning."""
    match detail["type"], detail.get("input"), detail.get("ctx", {}).get("error"):
        case "value_error", _, FormError() as error:
            return Remedy(path, error.write)
        case "int_type", str(got), _ if text.endswith(f"; write {got}"):
            return Remedy(path, got)
        case "bool_type", str(got), _ if got.lower() in _BOOLEANS:
            return Remedy(path, _BOOLEANS[got.lower()])
        case "string_type", bool() | int() as got, _ if text.endswith(" in quotes"):
            return Remedy(path, f'"{shown(got)}"', instead_of=shown(got))
    return None


def _also_missing(model: type[BaseModel], path: Path, data: Any) -> list[str]:
    """Return other missing required keys of a mapping whose kind is missing but can be derived from its keys."""
    got = model_walk.at(data, path)
    models = model_walk.models(model_walk.annotation(model, path, data), got)
    wanted = model_walk.fields(models[0]) if len(models) == 1 else {}
    return [key for key, field in wanted.items() if field.is_required() and key not in got]
