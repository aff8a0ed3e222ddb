"""Converts resources from the engine to the facts that rules evaluate."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pulumi.runtime.proto import analyzer_pb2

from components.render.manifest import MANAGEMENT
from jacquard.providers.objectset.patch_bodies import bodies
from jacquard.providers.rpc.values import decode
from policies.facts import PROVIDER, RESOURCE, UNKNOWN, Fact, object_fact

Resource: TypeAlias = analyzer_pb2.AnalyzeRequest | analyzer_pb2.AnalyzerResource

_PROVIDERS = "pulumi:providers:"
_JUDGED_PROVIDERS = frozenset({"kubernetes", "jacquard"})
_OBJECTS = "kubernetes:"
_EVERY_OBJECT = frozenset({"apiVersion", "kind", "metadata"})
"""Fields that distinguish an object from a component of the provider that only groups objects, such as Chart."""
_OBJECT_SET = "jacquard:index:ObjectSet"
_STACK = "pulumi:pulumi:Stack"


def is_stack(resource: Resource) -> bool:
    """Return whether a resource is the root of its stack; the engine sends the root first."""
    return resource.type == _STACK


def stack_of(urn: str) -> str:
    """Return the name of the stack of ``urn``."""
    return urn.split("::", 1)[0].removeprefix("urn:pulumi:")


def facts_of(resource: Resource) -> Iterator[Fact]:
    """Yield the facts of a resource: its objects, or the members of an object set, and options that ignore changes."""
    package = resource.type.removeprefix(_PROVIDERS)
    if ignored := list(resource.options.ignoreChanges):
        yield Fact(kind=RESOURCE, title=f"resource {resource.name}", body={"ignoreChanges": ignored})
    if package in _JUDGED_PROVIDERS:
        yield Fact(kind=PROVIDER, title=f"provider {package} {resource.name}", body=_plain(resource))
    elif resource.type == _OBJECT_SET:
        for body in _bodies(_plain(resource)):
            yield object_fact(body if isinstance(body, Mapping) else {}, _cluster(resource))
    elif resource.type.startswith(_OBJECTS) and not _EVERY_OBJECT.isdisjoint(resource.properties.fields):
        kind = resource.type.rsplit(":", 1)[-1]
        yield object_fact(_plain(resource), _cluster(resource), kind)


def _bodies(object_set: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the members of an object set, and its patches of objects that other controllers create."""
    members, patches = object_set.get("members", UNKNOWN), object_set.get("patches", {})
    yield from members.values() if isinstance(members, Mapping) else (UNKNOWN,)
    for patch in patches.values() if isinstance(patches, Mapping) else (UNKNOWN,):
        if not isinstance(patch, Mapping) or UNKNOWN in patch.values() or UNKNOWN in patch["names"]:
            yield UNKNOWN
            continue
        yield from bodies(patch)


def _plain(resource: Resource) -> dict[str, Any]:
    return decode(resource.properties, UNKNOWN).plain


def _cluster(resource: Resource) -> str:
    return resource.provider.name or MANAGEMENT
