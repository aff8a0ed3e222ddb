"""One side of a comparison: an environment, and the objects of its components with their scopes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, assert_never

from components.inputs.slice_inputs import made
from components.lookups.slices import Slice, SliceKind, slices
from components.render.concept import Concept, Made
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.extensions import ExtensionInput
from components.render.fleet.delegation import DelegationInput
from components.render.hosts.inventory import InventoryInput
from components.render.manifest import Manifest, objects
from components.render.network.tenant_network import TenantNetworkInput
from components.render.pools.node_pool import NodePoolInput
from components.render.region.engine.engine import EngineInput
from components.render.region.external_secrets import ExternalSecretsInput
from components.render.region.isolation import IsolationInput
from components.render.region.region import RegionInput
from components.render.storage.seaweedfs import ProvisionedBucketsInput
from components.specs.environment import Environment
from components.specs.struct import Struct
from jacquard.previews.impacts.scopes import Scope, Scopes, hall_scope, vpc_scope

Key: TypeAlias = tuple[str, str, str]
"""Slice, class and name of a component."""


_SINGLE = {RegionInput: "foundation", IsolationInput: "isolation", DelegationInput: "delegation", EngineInput: "engine"}
"""Label of each part that a region has once."""


class Part(Struct):
    """Input of one component, and its objects."""

    key: Key
    about: Scope
    """Scope of the component."""
    label: str
    """Readable name."""
    concept: object
    """Input of the component; equal on both sides if the component is unchanged."""
    objects: Callable[[], tuple[Manifest, ...]]
    """Renders the objects; the most expensive operation of a comparison."""


class Side(Struct):
    """An environment in the base or in the head."""

    environment: Environment
    parts: Mapping[Key, Part]


def side(environment: Environment, rendered: Mapping[Key, tuple[Manifest, ...]] | None = None) -> Side:
    """Return a side of ``environment``.

    Args:
        environment: valid data.
        rendered: objects by component, if another version of the library rendered them.

    Raises:
        KeyError: the lock files do not match the data.
    """
    parts = dict(_parts(environment, Scopes(environment)))
    if rendered is not None:
        parts = {key: _rendered(parts.get(key), key, items) for key, items in rendered.items()}
    return Side(environment=environment, parts=parts)


def rendered(environment: Environment) -> dict[Key, tuple[Manifest, ...]]:
    """Return all objects of ``environment`` by component."""
    return {key: part.objects() for key, part in _parts(environment, Scopes(environment))}


def same(before: Part | None, after: Part | None) -> bool:
    """Return whether a component has the same objects; its inputs may differ in values that are not rendered."""
    if before is None or after is None:
        return before is after
    return before.concept == after.concept or before.objects() == after.objects()


def _parts(environment: Environment, scopes: Scopes) -> Iterator[tuple[Key, Part]]:
    for piece in slices(environment):
        for item in made(environment, piece):
            concept = item.concept
            about, label = _about(concept, piece, scopes)
            key = (piece.name, type(concept).__name__, concept.name)
            yield key, Part(key=key, about=about, label=label, concept=concept, objects=_renderer(item))


def _renderer(made: Made[Concept]) -> Callable[[], tuple[Manifest, ...]]:
    return lambda: tuple(objects(made.rendered))


def _rendered(known: Part | None, key: Key, items: tuple[Manifest, ...]) -> Part:
    about, label = (known.about, known.label) if known else ((), " ".join(key[1:]))
    return Part(key=key, about=about, label=label, concept=items, objects=lambda: items)


def _about(concept: Any, piece: Slice, scopes: Scopes) -> tuple[Scope, str]:
    match concept:
        case (
            RegionInput()
            | IsolationInput()
            | DelegationInput()
            | EngineInput()
            | ExtensionInput()
            | ExternalSecretsInput()
            | ProvisionedBucketsInput()
        ):
            return _of_slice(piece, scopes), _of_whole_slice(concept)
        case InventoryInput():
            return hall_scope(concept.name), f"hall {concept.name}"
        case TenantNetworkInput():
            vpc = concept.vpc
            where = f" in {concept.cluster}" if concept.cluster else ""
            return vpc_scope(vpc.tenant, vpc.spec.name), f"{vpc.spec.name}{where}"
        case HostedControlPlaneInput():
            return scopes.of_key(concept.spec.name), concept.spec.name
        case NodePoolInput():
            pool = f"{concept.cluster}/{concept.spec.name}"
            return scopes.of_key(pool), pool
        case _:
            return scopes.of_key(concept.cluster), concept.cluster


def _of_whole_slice(
    concept: RegionInput
    | IsolationInput
    | DelegationInput
    | EngineInput
    | ExtensionInput
    | ExternalSecretsInput
    | ProvisionedBucketsInput,
) -> str:
    """Return the label of a part that is not about a single cluster, VPC or hall."""
    match concept:
        case ExtensionInput():
            return concept.name
        case ExternalSecretsInput():
            return f"secrets of {concept.name}"
        case ProvisionedBucketsInput():
            return f"buckets of {concept.name}"
        case _:
            return _SINGLE[type(concept)]


def _of_slice(piece: Slice, scopes: Scopes) -> Scope:
    match piece.kind:
        case SliceKind.FOUNDATION | SliceKind.FLEET | SliceKind.ENGINE:
            return ()
        case SliceKind.INVENTORY:
            return hall_scope(piece.subject)
        case SliceKind.TENANT:
            return (piece.subject,)
        case SliceKind.CLUSTER:
            return scopes.of_key(piece.subject)
        case _:
            assert_never(piece.kind)
