"""Secrets in every field that users can fill, to prove that no output contains them."""

from __future__ import annotations

import types
from collections.abc import Iterator
from itertools import count
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from components.specs.reading import model_walk

CANARY = "CANARY"
FORMS = (
    f"https://bot:{CANARY}@images.example/x.raw",
    f"https://images.example/x.raw?X-Amz-Signature={CANARY}",
    f"eyJhbGciOiJIUzI1NiJ9.eyJ{CANARY}.{CANARY}",
    f"AKIA{CANARY}{CANARY}CANA",
    f"bot:{CANARY}@registry.example",
)
"""Forms of a secret on one line. Each contains `CANARY`, which nothing else contains."""
CANARIES = (
    *FORMS,
    f"{{user: a, password: {CANARY}}}",
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{CANARY}\n-----END OPENSSH PRIVATE KEY-----\n",
)
"""`FORMS`, and forms that only reports of rejected values recognise or that have several lines."""
ALTERNATIVES = 7
"""Number of documents of a model that have all alternatives of its fields, and all forms in different fields."""

Path = tuple[str | int, ...]


def secret_in(text: str) -> str:
    """Return the first line of ``text`` with a canary; empty if it has none."""
    return next((line for line in text.splitlines() if CANARY in line or "CANA" in line), "")


def full_document(model: type[BaseModel], variant: int) -> Any:
    """Return a document with every field of ``model``, all of which are secrets; ``variant`` chooses alternatives."""
    return _Document(variant).of(model, ())


class _Document:
    def __init__(self, variant: int) -> None:
        self._variant = variant
        self._number = count(variant)

    def of(self, kind: Any, above: tuple[Any, ...]) -> Any:
        """Return a value in the structure of ``kind``."""
        origin, arguments = get_origin(kind), get_args(kind)
        value: Any
        if origin is Annotated:
            value = self.of(arguments[0], above)
        elif origin in (Union, types.UnionType):
            members = [member for member in arguments if member is not type(None)]
            value = self.of(members[self._variant % len(members)], above)
        elif origin is Literal:
            value = arguments[0]
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            value = {} if kind in above else self._fields(kind, (*above, kind))
        elif isinstance(origin, type) and issubclass(origin, dict):
            value = {self._secret(): self.of(arguments[1], above), "a": self.of(arguments[1], above)}
        elif isinstance(origin, type) and issubclass(origin, list | tuple | set | frozenset):
            value = [self.of(arguments[0], above)]
        else:
            value = self._secret()
        return value

    def _fields(self, model: type[BaseModel], above: tuple[Any, ...]) -> dict[str, Any]:
        return {key: self.of(field.annotation, above) for key, field in model_walk.fields(model).items()}

    def _secret(self) -> str:
        return CANARIES[next(self._number) % len(CANARIES)]


def accepted(model: type[BaseModel], data: Any) -> Iterator[tuple[Path, str]]:
    """Yield the places of a document whose type accepts any text, each with its secret; of equal places the first."""
    numbers, seen = count(), set[Path]()
    for path, field in _places(model, data, ()):
        alike = tuple("" if isinstance(step, int) else step for step in path)
        if alike not in seen:
            seen.add(alike)
            if form := _accepted_form(field, next(numbers)):
                yield path, form


def put(data: Any, path: Path, value: Any) -> None:
    """Set ``value`` at ``path`` of a document."""
    for step in path[:-1]:
        data = data[step]
    data[path[-1]] = value


def _places(model: type[BaseModel], data: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    value = model_walk.at(data, path)
    match value:
        case dict():
            absent = model_walk.wanted(model, path, data)
            for key in [*value, *(key for key in absent if key not in value)]:
                if key in value:
                    yield from _places(model, data, (*path, key))
                else:
                    yield (*path, key), _annotated(absent[key])
        case list():
            for index in range(len(value)):
                yield from _places(model, data, (*path, index))
        case str():
            yield path, model_walk.annotation(model, path, data)


def _annotated(field: FieldInfo) -> Any:
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def _accepted_form(kind: Any, number: int) -> str:
    """Return a form that the type ``kind`` accepts, starting at index ``number``; empty if it accepts none."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    for step in range(len(FORMS)):
        form = FORMS[(number + step) % len(FORMS)]
        if _accepts(adapter, form):
            return form
    return ""


def _accepts(adapter: TypeAdapter[Any], value: str) -> bool:
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True
