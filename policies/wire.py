"""From what the engine sends about a resource to the facts that rules judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2

from components.render.manifest import MANAGEMENT
from policies.facts import PROVIDER, UNKNOWN, Fact, object_fact

Resource: TypeAlias = analyzer_pb2.AnalyzeRequest | analyzer_pb2.AnalyzerResource

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_WRAPPED = frozenset({"1b47061264138c4ac30d75fd1eb44270", "d0e6a833031e9bbcd3f4e8bde6ca49a4"})
"""Signatures of a secret and of an output: the value is inside, or missing when it is unknown."""
_UNKNOWNS = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
"""What the engine writes for an unknown boolean, number, string, array, asset, archive and object."""
_PROVIDERS = "pulumi:providers:"
_JUDGED_PROVIDERS = frozenset({"kubernetes", "jacquard"})
_OBJECTS = "kubernetes:"
_OBJECT_SET = "jacquard:index:ObjectSet"
_STACK = "pulumi:pulumi:Stack"


def is_stack(resource: Resource) -> bool:
    """Tell whether a resource is the root of its stack, which the engine shows first."""
    return resource.type == _STACK


def stack_of(urn: str) -> str:
    """Return the stack that ``urn`` belongs to."""
    return urn.split("::", 1)[0].removeprefix("urn:pulumi:")


def facts_of(resource: Resource) -> Iterator[Fact]:
    """Yield the facts that a resource stands for: none, one, or one for each member of an object set."""
    package = resource.type.removeprefix(_PROVIDERS)
    if package in _JUDGED_PROVIDERS:
        yield Fact(kind=PROVIDER, title=f"provider {package} {resource.name}", body=plain_struct(resource.properties))
    elif resource.type == _OBJECT_SET:
        for body in _bodies(plain_struct(resource.properties)):
            yield object_fact(body if isinstance(body, Mapping) else {}, _cluster(resource))
    elif resource.type.startswith(_OBJECTS):
        kind = resource.type.rsplit(":", 1)[-1]
        yield object_fact(plain_struct(resource.properties), _cluster(resource), kind)


def _bodies(object_set: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the members of an object set, and what is applied to objects that other controllers make."""
    members, patches = object_set.get("members", UNKNOWN), object_set.get("patches", {})
    yield from members.values() if isinstance(members, Mapping) else (UNKNOWN,)
    for patch in patches.values() if isinstance(patches, Mapping) else (UNKNOWN,):
        if not isinstance(patch, Mapping) or UNKNOWN in patch.values():
            yield UNKNOWN
            continue
        for name in patch["names"]:
            metadata = {"name": name, "namespace": patch["namespace"]}
            yield {"apiVersion": patch["apiVersion"], "kind": patch["kind"], "metadata": metadata, **patch["fields"]}


def plain_struct(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Return ``struct`` as plain data: secrets opened, unknowns as UNKNOWN, whole numbers as integers."""
    return {key: plain(value) for key, value in struct.fields.items()}


def plain(value: struct_pb2.Value) -> Any:
    """Return one value as plain data."""
    match value.WhichOneof("kind"):
        case "struct_value":
            return _opened(plain_struct(value.struct_value))
        case "list_value":
            return [plain(item) for item in value.list_value.values]
        case "string_value":
            return UNKNOWN if value.string_value in _UNKNOWNS else value.string_value
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
        case _:
            return None


def _opened(mapping: dict[str, Any]) -> Any:
    return mapping.get("value", UNKNOWN) if mapping.get(_SIGNATURE) in _WRAPPED else mapping


def _cluster(resource: Resource) -> str:
    return resource.provider.name or MANAGEMENT
