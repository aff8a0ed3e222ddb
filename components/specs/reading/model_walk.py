"""Lookup of the type, fields and possible models of a value in a document by its path."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.alias_generators import to_snake
from pydantic.fields import FieldInfo

from components.specs.base import Spec


def at(data: Any, path: Sequence[str | int]) -> Any:
    """Return the value at ``path`` in ``data``; an empty mapping if it is omitted, because it has a default."""
    for step in path:
        data = _inner(data, step)
    return data


def _inner(data: Any, step: str | int) -> Any:
    return data.get(step, {}) if isinstance(data, dict) else data[step]


def keys(model: type[BaseModel], path: Sequence[str | int], data: Any) -> list[str]:
    """Return the valid keys of the mapping at ``path``, sorted."""
    return sorted(wanted(model, path, data))


def wanted(model: type[BaseModel], path: Sequence[str | int], data: Any) -> dict[str, FieldInfo]:
    """Return the fields of the mapping at ``path``; empty if it has no model."""
    member = _member(annotation(model, path, data), at(data, path))
    return fields(member) if _is_model(member) else {}


def advice(model: type[BaseModel], path: Sequence[str | int], data: Any) -> str:
    """Return the advice of a model for the forbidden key at ``path``, ignoring case; empty without advice."""
    member = _member(annotation(model, path[:-1], data), at(data, path[:-1]))
    refused: Mapping[str, str] = member.REFUSED_KEYS if _is_model(member) and issubclass(member, Spec) else {}
    key = str(path[-1])
    return refused.get(key) or refused.get(to_snake(key), "")


def annotation(model: type[BaseModel], path: Sequence[str | int], data: Any) -> Any:
    """Return the type of the value at ``path``, including bounds, as declared in the model."""
    declared: Any = model
    for step in path:
        declared = _member(declared, data)
        declared = _bounded(fields(declared)[str(step)]) if _is_model(declared) else _entry_type(declared)
        data = _inner(data, step)
    return declared


def _bounded(field: FieldInfo) -> Any:
    return Annotated[field.annotation, field]


def fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of ``model`` by their keys in data."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _entry_type(kind: Any) -> Any:
    arguments = [argument for argument in get_args(kind) if argument is not Ellipsis]
    return arguments[-1] if arguments else None


def _member(kind: Any, data: Any) -> Any:
    """Return the type without annotations. For a union, return the model that the discriminator in ``data`` selects."""
    if get_origin(kind) is Annotated:
        return _member(get_args(kind)[0], data)
    if _is_union(kind):
        members = models(kind, data)
        return members[0] if len(members) == 1 else None
    return kind


def models(kind: Any, data: Any) -> list[type[BaseModel]]:
    """Return the possible models of a value of type ``kind``, narrowed by a discriminator or keys in ``data``."""
    if get_origin(kind) is Annotated:
        return models(get_args(kind)[0], data)
    members = [member for member in (get_args(kind) if _is_union(kind) else [kind]) if _is_model(member)]
    named = [member for member in members if _has_keys_of(member, data)]
    alike = [member for member in members if isinstance(data, dict) and data and data.keys() <= fields(member).keys()]
    return named or alike or members


def _is_union(kind: Any) -> bool:
    return get_origin(kind) is Union or type(kind).__name__ == "UnionType"


def _has_keys_of(model: type[BaseModel], data: Any) -> bool:
    return isinstance(data, dict) and any(
        get_origin(field.annotation) is Literal and data.get(name) in get_args(field.annotation)
        for name, field in fields(model).items()
    )
