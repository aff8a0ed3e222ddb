"""Resolved region as text, YAML and JSON."""

import json
import re
from collections.abc import Iterator
from typing import Any

from components.reports.resolved import Node, Value, leaves
from components.specs.reading.strict_yaml import is_plain

_MAX_ENTRIES = 50
"""Maximum number of listed entries; further entries are only counted, unless the requested path selects them."""
_MAX_INDENT = 56
"""Maximum indentation of the origin column; the origin of a longer value follows further to the right."""
_PLAIN = re.compile(r"[A-Za-z0-9_./$(~]([-A-Za-z0-9_./:+@%=$(){}~]*[-A-Za-z0-9_./+@%=$(){}~])?")


def text_lines(node: Node, environment: str, path: str) -> Iterator[str]:
    """Yield an indented tree with the origins in a separate column."""
    rows = list(_rows(node, environment, path, 0))
    width = max((len(text) for text, _ in rows if len(text) <= _MAX_INDENT), default=0)
    return ((f"{text:<{width}}  {origin}" if origin else text) for text, origin in rows)


def yaml_lines(node: Node, indent: int = 0) -> Iterator[str]:
    """Yield all values as YAML, each with its origin as a comment."""
    if isinstance(node, Value):
        yield f"{_scalar(node.value)}  # {node.origin}"
        return
    for name, child in node.children.items():
        key = f"{' ' * indent}{_scalar(name)}:"
        if isinstance(child, Value):
            yield f"{key} {_scalar(child.value)}  # {child.origin}"
        elif child.children:
            yield key
            yield from yaml_lines(child, indent + 2)
        else:
            yield f"{key} {{}}"


def to_json(environment: str, path: str, node: Node) -> dict[str, Any]:
    """Return all values as a flat list."""
    values = [
        {
            "path": where,
            "value": value.value,
            "source": value.origin.source.value,
            "file": value.origin.file or None,
            "line": value.origin.line or None,
        }
        for where, value in leaves(node, path)
    ]
    return {"environment": environment, "path": path, "values": values}


def _rows(node: Node, environment: str, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(node, Value):
        yield _shown(node.value), str(node.origin)
        return
    crowded = len(node.children) > _MAX_ENTRIES
    for name, child in node.children.items():
        here, key = f"{path}.{name}" if path else name, f"{'  ' * depth}{name}"
        if isinstance(child, Value):
            yield f"{key}: {_shown(child.value)}", str(child.origin)
        elif crowded or len(child.children) > _MAX_ENTRIES:
            yield f"{key}: {len(child.children)} entries", f"jacquard show {environment} {here}"
        else:
            yield (f"{key}:" if child.children else f"{key}: none"), ""
            yield from _rows(child, environment, here, depth + 1)


def _shown(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case list() | dict():
            return ", ".join(str(item) for item in value) or "none"
        case _:
            return str(value)


def _scalar(value: Any) -> str:
    """Return a scalar, list or empty mapping as YAML; strings are quoted if they could be parsed as another type."""
    match value:
        case None:
            return "null"
        case list():
            return f"[{', '.join(_scalar(item) for item in value)}]"
        case str() if _PLAIN.fullmatch(value) and is_plain(value):
            return value
        case _:
            return json.dumps(value, ensure_ascii=False)
