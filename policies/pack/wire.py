"""Converts resources from the engine to the facts that rules evaluate."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from pulumi.runtime.proto import analyzer_pb2

from components.render.manifest import MANAGEMENT, cluster_of_provider
from jacquard.providers.objectset.patch_bodies import bodies
from jacquard.providers.rpc.values import decode
from policies.facts import PROVIDER, REFERENCE, RESOURCE, UNKNOWN, Fact, object_fact

Resource: TypeAlias = analyzer_pb2.AnalyzeRequest | analyzer_pb2.AnalyzerResource

_PROVIDERS = "pulumi:providers:"
_JUDGED_PROVIDERS = frozenset({"kubernetes", "jacquard"})
_OBJECTS = "kubernetes:"
_PATCH = "Patch"
_EVERY_OBJECT = frozenset({"apiVersion", "kind", "metadata"})
"""Fields that distinguish an object from a component of the provider that only groups objects, such as Chart."""
OBJECT_SET = "jacquard:index:ObjectSet"
"""Type of resources with several objects as members."""
_STACK = "pulumi:pulumi:Stack"
_STACK_REFERENCE = "pulumi:pulumi:StackReference"


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
        yield Fact(kind=RESOURCE, title=_source(resource), body={"ignoreChanges": ignored})
    if resource.type == _STACK_REFERENCE:
        yield Fact(kind=REFERENCE, title=f"stack reference {resource.name}", body=_plain(resource))
    elif package in _JUDGED_PROVIDERS:
        yield Fact(kind=PROVIDER, title=f"provider {package} {resource.name}", body=_plain(resource))
    elif resource.type == OBJECT_SET:
        properties = _plain(resource)
        for body in _members(properties):
            yield object_fact(body if isinstance(body, Mapping) else {}, _cluster(resource), source=_source(resource))
        for body in _patched(properties):
            yield object_fact(body if isinstance(body, Mapping) else {}, _cluster(resource))
    elif resource.type.startswith(_OBJECTS) and not _EVERY_OBJECT.isdisjoint(resource.properties.fields):
        yield _object(resource)


def _object(resource: Resource) -> Fact:
    """Return the fact about an object, or about the patch of one.

    The provider applies the kind of the inputs, whatever the type is. The type of a patch of a Role is ``RolePatch``
    (pulumi/pulumi-kubernetes:provider/pkg/kinds/util.go IsPatchResource, provider/pkg/await/await.go Creation).
    """
    body, name = _plain(resource), resource.type.rsplit(":", 1)[-1]
    kind = body.get("kind") or name
    is_patch = kind is not UNKNOWN and name == f"{kind}{_PATCH}"
    return object_fact(body, _cluster(resource), kind, source="" if is_patch else _source(resource))


def _members(object_set: Mapping[str, Any]) -> Iterator[Any]:
    members = object_set.get("members", UNKNOWN)
    yield from members.values() if isinstance(members, Mapping) else (UNKNOWN,)


def _patched(object_set: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the patches of objects that other controllers create."""
    patches = object_set.get("patches", {})
    for patch in patches.values() if isinstance(patches, Mapping) else (UNKNOWN,):
        if not isinstance(patch, Mapping) or UNKNOWN in patch.values() or UNKNOWN in patch["names"]:
            yield UNKNOWN
            continue
        yield from bodies(patch)


def _plain(resource: Resource) -> dict[str, Any]:
    return decode(resource.properties, UNKNOWN).plain


def _source(resource: Resource) -> str:
    return f"resource {resource.name}"


def _cluster(resource: Resource) -> str:
    return cluster_of_provider(resource.provider.name) or MANAGEMENT
