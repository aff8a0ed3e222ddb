"""Read-only objects that several readers share; changes require a copy."""

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
"""Methods that change a mapping or a list in place."""


class _Mapping(dict[str, Any]):
    """A read-only mapping; its copies, deep or shallow, and merges can be changed."""

    __copy__ = dict.copy

    def __deepcopy__(self, _: object) -> dict[str, Any]:
        return {key: _opened(value) for key, value in self.items()}


class _List(list[Any]):
    """A read-only list; its copies, deep or shallow, and concatenations can be changed."""

    __copy__ = list.copy

    def __deepcopy__(self, _: object) -> list[Any]:
        return [_opened(value) for value in self]


def sealed(value: Any) -> Any:
    """Return a read-only copy of a JSON value; mappings and lists in it remain subclasses of dict and list."""
    if isinstance(value, dict):
        return _Mapping({key: sealed(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return _List(map(sealed, value))
    return value


def _opened(value: Any) -> Any:
    return value.__deepcopy__(None) if isinstance(value, _Mapping | _List) else value


def _refuse(*_: object, **__: object) -> NoReturn:
    msg = "this object is shared and read-only; change a copy of it"
    raise TypeError(msg)


for _kind in (_Mapping, _List):
    for _change in _CHANGES:
        if hasattr(_kind, _change):
            setattr(_kind, _change, _refuse)

for _dumper in (yaml.SafeDumper, yaml.CSafeDumper):
    _dumper.add_representer(_Mapping, _dumper.represent_dict)
    _dumper.add_representer(_List, _dumper.represent_list)
