"""Leftovers in values: placeholders that were not replaced, such as ``<TODO>`` or ``${tenant}``, and spaces."""

import re
from collections.abc import Iterator
from typing import Any, get_args

from components.specs.storage.storage import StorageClassSpec
from components.specs.storage.storage_class import UNFILLED

Path = tuple[str | int, ...]

_PLACEHOLDER = re.compile(
    r"<[A-Za-z][^<>@|=\s]*>|\$\{[^{}]*\}|\$\([^()]*\)|\{\{[^{}]*\}\}|\{[A-Za-z_][\w.-]*\}"
    rf"|{UNFILLED}"
)
_SIGNS = ("<", "{", "$(", "TODO", "FIXME", "TBD", "ME", "me")
"""Parts of every placeholder; the search for them is much faster than the pattern."""
_FREE_TEXT = frozenset(
    {
        "annotations",
        "description",
        "labels",
        "made_from",
        "reason",
        "revoked",
        "ssh_keys",
        "sub_directory",
        "tunable",
        "values",
        "without_add_ons",
    }
)
"""Keys whose values may contain such text: prose, values of charts, and paths with placeholders of a driver."""
_PER_TENANT = frozenset(key for member in get_args(get_args(StorageClassSpec)[0]) for key in member.PER_TENANT)
"""Keys of storage classes whose values may contain ``<tenant>``. Their model reports other placeholders."""


def placeholder(text: str) -> str | None:
    """Return the first placeholder in ``text``; None if it contains none."""
    if not any(sign in text for sign in _SIGNS):
        return None
    match = _PLACEHOLDER.search(text)
    return match and match[0]


def leftovers(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield path and problem text of each value in ``data`` with a placeholder, or with a space at its start or end."""
    if isinstance(data, str):
        if word := placeholder(data):
            yield path, unfilled(word)
        elif data != data.strip(" "):
            yield (
                path,
                f"has a space at its {'end' if data.endswith(' ') else 'start'} (got {data!a}); write {data.strip()}",
            )
        return
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        if key not in _FREE_TEXT and not (path[:1] == ("storage",) and key in _PER_TENANT):
            yield from leftovers(value, (*path, key))


def unfilled(word: str) -> str:
    """Return the problem text of a value that contains the placeholder ``word``."""
    return f"contains the placeholder '{word}'; write the value"
