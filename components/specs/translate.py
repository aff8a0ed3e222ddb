"""Turns pydantic's errors into the house's words: path, rule, value got, remedy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from components.specs import api_server, base, cluster_api, dpus, intents, keys, kubelet, nodes
from components.specs.problems import listed, nearest, shown, suggestion

Path = tuple[str | int, ...]

_LABEL = "lower-case letters, digits and '-'"
PATTERN_RULES = {
    base.DNS_LABEL: f"must be a name of {_LABEL} that starts with a letter, at most 63 characters",
    base.SHORT_NAME: f"must be a name of {_LABEL} that starts with a letter, at most 15 characters",
    base.CLUSTER_NAME: f"must be a name of {_LABEL} that starts with a letter, at most 30 characters",
    base.LABEL: f"must be a name of {_LABEL}, at most 63 characters",
    base.VERSION_NAME: "must be a name of lower-case letters, digits, '-' and '.', at most 63 characters",
    base.KUBERNETES_VERSION: "must be a Kubernetes version like v1.35.2",
    base.KUBERNETES_MINOR: "must be a minor version of Kubernetes like v1.36",
    base.SHA256: "must be a SHA-256 digest, 64 lower-case hex digits",
    base.QUANTITY: "must be a size with a binary unit like 500Gi",
    base.HTTPS_URL: "must be a URL that starts with https://",
    base.OCI_URL: "must be a chart's URL that starts with oci://",
    base.OCI_DIGEST: "must be a digest like sha256: and 64 lower-case hex digits",
    base.BMC_ADDRESS: "must be a BMC address of Metal3 like redfish-virtualmedia+https://10.1.1.1/redfish/v1/Systems/1",
    base.ABSOLUTE_PATH: "must be a path that starts with /",
    base.RELATIVE_PATH: "must be a path that does not start with /, without parts that start with '.'",
    base.LABEL_VALUE: "must be letters, digits, '-', '_' and '.', at most 63 characters",
    base.NODE_LABEL_KEY: "must be a name of letters, digits, '-', '_' and '.', plain or in a domain that reaches nodes"
    " (node.cluster.x-k8s.io, node-role.kubernetes.io, node-restriction.kubernetes.io)",
    base.QUALIFIED_NAME: "must be a name of letters, digits, '-', '_' and '.', plain or after a domain and /",
    base.ENDPOINT: "must be host and port, at most 65535, without a scheme like etcd-0.etcd.svc:2379",
    base.DOMAIN: "must be a domain with a dot like cluster.local",
    base.REGISTRY: "must be a host without a scheme like registry.cloud.example, its port at most 65535",
    base.INTERFACE: "must be the name of a network interface, at most 15 characters without blanks, '/' and ':'",
    base.CRON_SCHEDULE: 'must be a cron schedule of five fields like "15 3 * * *"',
    dpus.DPU_CLUSTER_NAME: "must be a name of at most 4 lower-case letters and digits that starts with a letter",
    api_server.FEATURE_GATE: "must be a feature gate like InPlacePodVerticalScaling",
    api_server.CLAIM: "must be text without spaces, '=' and ','",
    cluster_api.RELEASE: "must be a release like v1.13.5",
    kubelet.CPU_AMOUNT: 'must be CPUs like "2" or 500m',
    kubelet.SYSCTL: "must be a kernel parameter like net.core.somaxconn",
    nodes.PINNED_IMAGE: "must be a container image by digest, registry/name@sha256: and 64 hex digits",
    intents.INTENT_NAME: "must be the name of an intent like gpu-2026.11.1@8d2f0c6b1a4e9375",
    keys.GROUP_KEY: "must be a rollout group like acme-train/train/a01",
    keys.POOL_KEY: "must be a pool like acme-train/train",
    keys.PROMOTED_KEY: "must be a pool like acme-train/train, or dpus",
    keys.WAVE_KEY: "must be a pool, or dpus, and the number of a wave like acme-train/train/1",
    keys.DPU_KEY: "must be a DPUDeployment like dpus/acme",
    base.PCI_SELECTOR: 'must be a PCI vendor and product like "10DE:2330"',
}

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


@dataclass(frozen=True)
class Mistake:
    """One mistake a model found."""

    path: Path
    """Keys from the model down to the value that breaks a rule."""
    text: str
    """Rule, value got and remedy, in lower case and without a full stop."""
    wants_text: bool
    """Whether text could be right here; false for a number, a mapping or one of a few words."""


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
    for path, details in by_path.items():
        kind = details[0]["type"]
        if (kind == "missing" and path in misspelt) or _meant_otherwise(details, path, by_path):
            continue
        yield Mistake(
            path,
            _text(details, model, path, data),
            wants_text=kind.startswith("string") or kind in {"value_error", base.MISFIT},
        )


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
            return "is required; add it"
        case "extra_forbidden":
            keys = _keys(model, path[:-1], data)
            return f"is not a key here (keys: {listed(keys)}){suggestion(str(path[-1]), keys)}"
        case "union_tag_invalid":
            tags = context["expected_tags"].replace("'", "").split(", ")
            return f"must be one of {listed(tags)} (got '{context['tag']}'){suggestion(context['tag'], tags)}"
        case "value_error" if ";" in str(context["error"]):
            return _with_got(str(context["error"]), got)
        case base.MISFIT:
            return context["text"] if got is None else _with_got(context["text"], got)
    rules = dict.fromkeys(_rule(detail["type"], detail.get("ctx", {})) for detail in details)
    if kind == "int_type" and isinstance(got, str) and got.isascii() and got.isdecimal():
        hint = _number(got, _wanted(model, path[:-1], data).get(str(path[-1])))
    else:
        hint = _hint(kind, context, got) or _keys_to_write(kind, model, path, data)
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
        return "must be a moment with its offset from UTC like 2026-12-20T00:00:00Z"
    if kind.startswith("date"):
        return "must be a date like 2026-11-03"
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


def _keys_to_write(kind: str, model: type[BaseModel], path: Path, data: Any) -> str:
    """Return which keys the mapping must have that is missing at ``path``."""
    if kind not in {"model_type", "model_attributes_type"}:
        return ""
    required = [key for key, field in _wanted(model, path, data).items() if field.is_required()]
    return f"; write {{{', '.join(f'{key}: ...' for key in required)}}}" if required else ""


def _keys(model: type[BaseModel], path: Sequence[str | int], data: Any) -> list[str]:
    """Return the keys that a mapping at ``path`` may have."""
    return sorted(_wanted(model, path, data))


def _wanted(model: type[BaseModel], path: Sequence[str | int], data: Any) -> dict[str, FieldInfo]:
    """Return the fields of the mapping that ``path`` stands for; none when it is of no model."""
    found: Any = model
    for step in path:
        data = data[step]
        found = _fields(found)[str(step)].annotation if _is_model(found) else _entry_type(found)
        found = _member(found, data)
    return _fields(found) if _is_model(found) else {}


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
    if get_origin(found) is Union or type(found).__name__ == "UnionType":
        models = [member for member in get_args(found) if _is_model(member)]
        return next((member for member in models if len(models) == 1 or _says(member, data)), None)
    return found


def _says(model: type[BaseModel], data: Any) -> bool:
    return isinstance(data, dict) and any(
        get_origin(field.annotation) is Literal and data.get(name) in get_args(field.annotation)
        for name, field in _fields(model).items()
    )
