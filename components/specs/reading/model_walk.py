"""Finds what a value in a document is by its model: its type, its fields, the models that it can be of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.alias_generators import to_snake
from pydantic.fields import FieldInfo

from components.specs.base import Spec


def at(data: Any, path: Sequence[str | int]) -> Any:
    """Return the value at ``path`` of ``data``."""
    for step in path:
        data = data[step]
    return data


def keys(model: type[BaseModel], path: Sequence[str | int], data: Any) -> list[str]:
    """Return the keys that a mapping at ``path`` may have."""
    return sorted(wanted(model, path, data))


def wanted(model: type[BaseModel], path: Sequence[str | int], data: Any) -> dict[str, FieldInfo]:
    """Return the fields of the mapping that ``path`` stands for; none when it is of no model."""
    found = _member(annotation(model, path, data), at(data, path))
    return fields(found) if _is_model(found) else {}


def advice(model: type[BaseModel], path: Sequence[str | int], data: Any) -> str:
    """Return what a model says of the key at ``path`` that nobody may write, in whatever case; empty when nothing."""
    found = _member(annotation(model, path[:-1], data), at(data, path[:-1]))
    refused: Mapping[str, str] = found.REFUSED_KEYS if _is_model(found) and issubclass(found, Spec) else {}
    key = str(path[-1])
    return refused.get(key) or refused.get(to_snake(key), "")


def annotation(model: type[BaseModel], path: Sequence[str | int], data: Any) -> Any:
    """Return the type of the value at ``path`` with its bounds, as its model declares it."""
    found: Any = model
    for step in path:
        found = _member(found, data)
        found = _bounded(fields(found)[str(step)]) if _is_model(found) else _entry_type(found)
        data = data[step]
    return found


def _bounded(field: FieldInfo) -> Any:
    return Annotated[field.annotation, field]


def fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
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
    if _is_union(found):
        members = models(found, data)
        return members[0] if len(members) == 1 else None
    return found


def models(found: Any, data: Any) -> list[type[BaseModel]]:
    """Return the models that a value of the type ``found`` can be of: those that ``data`` names, or has the keys of."""
    if get_origin(found) is Annotated:
        return models(get_args(found)[0], data)
    members = [member for member in (get_args(found) if _is_union(found) else [found]) if _is_model(member)]
    named = [member for member in members if _says(member, data)]
    alike = [member for member in members if isinstance(data, dict) and data and data.keys() <= fields(member).keys()]
    return named or alike or members


def _is_union(found: Any) -> bool:
    return get_origin(found) is Union or type(found).__name__ == "UnionType"


def _says(model: type[BaseModel], data: Any) -> bool:
    return isinstance(data, dict) and any(
        get_origin(field.annotation) is Literal and data.get(name) in get_args(field.annotation)
        for name, field in fields(model).items()
    )
