"""Input of the Stacks by which an operator applies the slices of a region."""

from collections.abc import Iterator, Mapping

from components.lookups.network.dpus import uses_dpf
from components.lookups.pools import clusters
from components.lookups.slices import BY_COMMAND, Slice, SliceKind, needs, slices
from components.render.namespaces import FREE_HOSTS, tenant_namespace
from components.render.network.dpus import NAMESPACE as DPUS
from components.render.region import dns
from components.render.region.engine.engine import TOOL, EngineInput, StackSlice
from components.render.region.operators import NAMESPACE as OPERATORS
from components.specs.environment import Environment
from components.specs.region.engine import EngineSpec


def of_region(environment: Environment, engine: EngineSpec) -> Iterator[EngineInput]:
    """Yield the single input of the engine."""
    region = environment.region
    yield EngineInput(
        name=environment.name,
        spec=engine,
        state=region.state,
        context=region.context,
        image=str(environment.versions.tool(TOOL)),
        slices=tuple(_stack_slices(environment)),
    )


def _stack_slices(environment: Environment) -> Iterator[StackSlice]:
    """Yield the slices of the operator; `jacquard up` applies the foundation, which installs it, and its Stacks."""
    dependencies = needs(environment)
    ours = {piece.name: piece for piece in slices(environment) if piece.kind not in BY_COMMAND}
    for name in dependencies:
        if name in ours:
            needed = tuple(need for need in dependencies[name] if need in ours)
            yield StackSlice(name=name, needs=needed, places=dict(_places(environment, ours[name])))


def _places(environment: Environment, piece: Slice) -> Mapping[str, tuple[str, ...]]:
    """Return the namespaces in which a slice has each role.

    Hosts of a hall can move between the namespaces of all clusters, and the slice that has a host deletes it.
    """
    every = [placed.cluster.name for placed in clusters(environment)]
    dpus = {"dpus": (DPUS,)} if uses_dpf(environment) else {}
    match piece.kind:
        case SliceKind.INVENTORY:
            return {"inventory": (FREE_HOSTS, *every), **dpus}
        case SliceKind.TENANT:
            own = (placed.cluster.name for placed in clusters(environment) if placed.tenant.tenant == piece.subject)
            return {"tenant": (tenant_namespace(piece.subject), *own), **dpus}
        case SliceKind.CLUSTER:
            return {"cluster": (piece.subject,)}
        case _:
            return {"fleet": (dns.NAMESPACE, OPERATORS)}
