"""The subset of JSONPath (RFC 9535) for wait expressions: names, indices, wildcards, equality filters."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jacquard.providers.errors import ProviderError


class JsonPathError(ProviderError):
    """A JSONPath outside the supported subset."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Elements of a list in which ``key`` has ``value``: ``[?(@.type=="Ready")]``."""

    key: str
    value: str


class Wildcard:
    """All elements of a list or values of a map."""


Step: TypeAlias = str | int | Filter | Wildcard
_WILDCARD = Wildcard()
_TOKEN = re.compile(
    r"""\.(?P<name>[A-Za-z_][\w-]*)
      | \[(?P<index>-?\d+)\]
      | \[(?:'(?P<single>[^']*)'|"(?P<double>[^"]*)")\]
      | (?P<all>\.\*|\[\*\])
      | \[\?\(?\s*@\.(?P<key>[\w-]+)\s*==\s*(?:'(?P<one>[^']*)'|"(?P<two>[^"]*)")\s*\)?\]
    """,
    re.VERBOSE,
)


def parse(text: str) -> tuple[Step, ...]:
    """Return the steps of a path such as ``.status.conditions[?(@.type=="Ready")].status``.

    Raises:
        JsonPathError: Quotes the unsupported part.
    """
    rest = text.strip().removeprefix("$")
    steps: list[Step] = []
    while rest:
        match = _TOKEN.match(rest)
        if match is None:
            msg = f"JSONPath '{text}' is not supported from '{rest}' on"
            raise JsonPathError(msg)
        steps.append(_step(match))
        rest = rest[match.end() :]
    if not steps:
        msg = "JSONPath is empty"
        raise JsonPathError(msg)
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    group = match.groupdict()
    if group["index"] is not None:
        return int(group["index"])
    if group["all"]:
        return _WILDCARD
    if group["key"]:
        return Filter(group["key"], group["one"] if group["one"] is not None else group["two"])
    return next(group[key] for key in ("name", "single", "double") if group[key] is not None)


def evaluate(path: tuple[Step, ...], obj: Any) -> list[Any]:
    """Return all values at ``path``; empty if there are none."""
    values = [obj]
    for step in path:
        values = [item for value in values for item in _children(step, value)]
    return values


def _children(step: Step, value: Any) -> list[Any]:
    if isinstance(step, str):
        return [value[step]] if isinstance(value, Mapping) and step in value else []
    if isinstance(step, Wildcard) and isinstance(value, Mapping):
        return list(value.values())
    if not isinstance(value, list):
        return []
    if isinstance(step, Wildcard):
        return value
    if isinstance(step, Filter):
        return [item for item in value if isinstance(item, Mapping) and written(item.get(step.key)) == step.value]
    return [value[step]] if -len(value) <= step < len(value) else []


def written(value: Any) -> str:
    """Return a value in the notation of an expression: text without quotes, other values as JSON."""
    return value if isinstance(value, str) else json.dumps(value)
