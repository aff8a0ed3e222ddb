"""Search for constraint violations in specs with invalid values. Pydantic does not check constraints of such specs."""

import json
from collections.abc import Collection, Iterator
from functools import cache
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from components.specs.base import CheckedSpec, ConstraintViolation
from components.specs.reading import model_walk

Path = tuple[str | int, ...]
_Kind = TypeVar("_Kind", bound=BaseModel)


class _NotKnownError(TypeError):
    """A check uses an invalid value for an operation other than a test against None."""


class _NotKnown:
    """Placeholder for an invalid value. It is not None, and every other operation on it raises an error."""

    def _reject(self, *_: object) -> NoReturn:
        raise _NotKnownError

    __getattr__ = __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __str__ = __format__ = _reject
    __eq__ = __hash__ = __lt__ = __le__ = __gt__ = __ge__ = _reject


def incompatibilities(
    model: type[BaseModel], data: Any, wrong: Collection[Path]
) -> Iterator[tuple[Path, ConstraintViolation]]:
    """Yield the constraint violations, with paths, of each spec in ``data`` that contains a path of ``wrong``.

    Each check uses the valid values of the spec, and stops when it uses an invalid value.
    """
    half = _InvalidDocument(model, data, wrong)
    for path, kind in half.specs():
        try:
            for violation in half.spec(kind, path).incompatibilities():
                at = (*path, *violation.path)
                if (
                    not isinstance(violation.got, _NotKnown)
                    and at not in wrong
                    and (at == path or at not in half.touched)
                ):
                    yield at, violation
        except TypeError:  # An invalid value raises this error, also inside Python's built-in functions.
            continue


class _InvalidDocument:
    """Document that contains invalid values."""

    def __init__(self, model: type[BaseModel], data: Any, wrong: Collection[Path]) -> None:
        self._model, self._data, self._wrong = model, data, wrong
        self.touched = {path[:depth] for path in wrong for depth in range(len(path) + 1)}
        """Paths of invalid values and of all enclosing values."""

    def specs(self) -> Iterator[tuple[Path, type[CheckedSpec]]]:
        """Yield the specs that contain invalid values."""
        for path in sorted(self.touched - {*self._wrong}, key=len):
            kinds = model_walk.models(model_walk.annotation(self._model, path, self._data), self._at(path))
            if len(kinds) == 1 and issubclass(kinds[0], CheckedSpec) and isinstance(self._at(path), dict):
                yield path, kinds[0]

    def spec(self, kind: type[_Kind], path: Path) -> _Kind:
        """Return the spec at ``path`` with its valid values."""
        values = self._at(path)
        fields: dict[str, Any] = {}
        for name, field in kind.model_fields.items():
            key = field.alias or name
            at = (*path, key)
            if at in self._wrong:
                fields[name] = _NotKnown()
            elif key in values:
                fields[name] = self._value(at) if at in self.touched else _read(kind, name, values[key])
        return kind.model_construct(**fields)

    def _value(self, path: Path) -> Any:
        """Return the list or spec at ``path``, which contains invalid values."""
        got = self._at(path)
        if path in self._wrong:
            return _NotKnown()
        if isinstance(got, str | int) and path not in self.touched:
            return _converted(TypeAdapter(model_walk.annotation(self._model, path, self._data)), got)
        if isinstance(got, list):
            return tuple(self._value((*path, index)) for index in range(len(got)))
        kinds = model_walk.models(model_walk.annotation(self._model, path, self._data), got)
        return self.spec(kinds[0], path) if isinstance(got, dict) and len(kinds) == 1 else _NotKnown()

    def _at(self, path: Path) -> Any:
        return model_walk.at(self._data, path)


def _read(kind: type[BaseModel], name: str, value: Any) -> Any:
    """Return ``value`` converted to the type of the field ``name`` of ``kind``."""
    return _converted(_reader(kind, name), value)


def _converted(reader: TypeAdapter[Any], value: Any) -> Any:
    try:
        return reader.validate_json(json.dumps(value), strict=True)
    except ValidationError:
        return _NotKnown()


@cache
def _reader(kind: type[BaseModel], name: str) -> TypeAdapter[Any]:
    field = kind.model_fields[name]
    declared: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    return TypeAdapter(declared)
