"""Base of immutable values that are passed between layers: inputs, rendered objects, facts and results.

Specs, which users write, are pydantic models; structs need no validation. They are msgspec structs, because a program
that defines and creates thousands of frozen dataclasses spends a tenth of its time on that (ADR 70).
"""

from typing import Any, dataclass_transform

import msgspec
from msgspec import field
from msgspec.structs import force_setattr, replace

__all__ = ["Struct", "asdict", "field", "force_setattr", "replace"]


class _StructType(msgspec.StructMeta):
    def __new__(  # noqa: PYI034 - PEP 673 rejects Self in a metaclass
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        frozen: bool = True,
        kw_only: bool = True,
        **options: Any,
    ) -> "_StructType":
        return super().__new__(mcs, name, bases, namespace, frozen=frozen, kw_only=kw_only, **options)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Struct(msgspec.Struct, frozen=True, metaclass=_StructType):
    """Immutable value with keyword arguments, equality by fields and a hash.

    Options are those of `msgspec.Struct`: ``kw_only=False`` accepts positional arguments, ``order=True`` defines an
    order, ``dict=True`` permits `functools.cached_property`.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the pickled form. It contains classes only, because the process of extensions rejects functions."""
        return _Unpickled, (type(self), {name: getattr(self, name) for name in self.__struct_fields__})


class _Unpickled:
    def __new__(cls, kind: type[Struct], fields: dict[str, Any]) -> Struct:  # type: ignore[misc]
        return kind(**fields)


def asdict(struct: Struct) -> dict[str, Any]:
    """Return the fields of ``struct`` by name; structs in the fields, also in lists, tuples and dicts, become dicts."""
    return {name: _plain(getattr(struct, name)) for name in struct.__struct_fields__}


def _plain(value: Any) -> Any:
    match value:
        case Struct():
            return asdict(value)
        case list() | tuple():
            return type(value)(map(_plain, value))
        case dict():
            return {_plain(key): _plain(entry) for key, entry in value.items()}
        case _:
            return value
