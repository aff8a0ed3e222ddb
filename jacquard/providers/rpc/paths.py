"""Property paths in Pulumi's notation: ``spec.a["b-c"][0]``."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices, starting at the resource's properties; the empty path denotes all properties."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def render(path: Path) -> str:
    """Return ``path`` in Pulumi's notation."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


def covered(path: Path, paths: Iterable[Path]) -> bool:
    """Return whether ``path`` is in ``paths``, or below one of them."""
    return any(path[: len(other)] == other for other in paths)


def look_up(properties: Any, path: Path) -> Any:
    """Return the value at ``path``.

    Raises:
        LookupError: The path does not exist.
    """
    value = properties
    for step in path:
        inside = range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()
        if step not in inside:
            raise LookupError(render(path))
        value = value[step]
    return value


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every scalar, and every empty map or list, with its path."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value
