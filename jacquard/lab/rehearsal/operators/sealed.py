"""Objects that several look at: whoever wants one otherwise makes another of it."""

from __future__ import annotations

from typing import Any, NoReturn

import yaml

_CHANGES = (
    "__delitem__",
    "__iadd__",
    "__imul__",
    "__ior__",
    "__setitem__",
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
)
"""All that changes a mapping or a list in its place."""


class _Mapping(dict[str, Any]):
    """A mapping that refuses to be changed; a copy of it, deep or not, and what it is merged into, can be."""

    __copy__ = dict.copy

    def __deepcopy__(self, _: object) -> dict[str, Any]:
        return {key: _opened(value) for key, value in self.items()}


class _List(list[Any]):
    """A list that refuses to be changed; a copy of it, deep or not, and what it is joined to, can be."""

    __copy__ = list.copy

    def __deepcopy__(self, _: object) -> list[Any]:
        return [_opened(value) for value in self]


def sealed(value: Any) -> Any:
    """Return what JSON says so that nothing in it can be changed: it still is a dictionary, and so on inward."""
    if isinstance(value, dict):
        return _Mapping({key: sealed(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return _List(map(sealed, value))
    return value


def _opened(value: Any) -> Any:
    return value.__deepcopy__(None) if isinstance(value, _Mapping | _List) else value


def _refuse(*_: object, **__: object) -> NoReturn:
    msg = "an object that others look at too is not to be changed; change a copy of it"
    raise TypeError(msg)


for _kind in (_Mapping, _List):
    for _change in _CHANGES:
        if hasattr(_kind, _change):
            setattr(_kind, _change, _refuse)

for _dumper in (yaml.SafeDumper, yaml.CSafeDumper):
    _dumper.add_representer(_Mapping, _dumper.represent_dict)
    _dumper.add_representer(_List, _dumper.represent_list)
