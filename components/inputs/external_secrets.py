"""Inputs of Secrets from a secret store: Secrets that rendered objects refer to and no controller creates."""

from collections.abc import Iterable, Iterator

from components.lookups.slices import Slice, SliceKind
from components.render.concept import Concept, Made
from components.render.hosts.inventory import InventoryInput
from components.render.manifest import Rendered, objects
from components.render.namespaces import FREE_HOSTS, tenant_namespace
from components.render.region.dns import NAMESPACE as DNS
from components.render.region.engine.operator import NAMESPACE as ENGINE
from components.render.region.external_secrets import ExternalSecretsInput
from components.specs.environment import Environment
from components.specs.struct import replace


def of_slice(environment: Environment, part: Slice, made: Iterable[Made[Concept]]) -> Iterator[ExternalSecretsInput]:
    """Yield the input with the Secrets that the objects of ``made`` refer to; nothing in a region without a store.

    Secrets of the foundation are in the input of the region, because its data stores wait for these Secrets.
    """
    store = environment.region.secrets.store
    if store is None or part.kind is SliceKind.FOUNDATION:
        return
    from components.inputs.deliveries import deliveries  # noqa: PLC0415 - its tables take time to load

    items = (item for entry in made for item in objects(_seen(entry)))
    had = _of_earlier_halls(environment, part)
    missing = tuple(
        delivery for delivery in deliveries(environment, items) if (delivery.namespace, delivery.name) not in had
    )
    if missing:
        yield ExternalSecretsInput(name=part.name, namespace=_namespace(part), store=store, deliveries=missing)


def _seen(made: Made[Concept]) -> tuple[Rendered, ...]:
    """Return objects that together refer to all Secrets of ``made``: only one of the hosts that share a BMC login."""
    concept = made.concept
    if not isinstance(concept, InventoryInput):
        return made.rendered
    by_login = {(placed.owner and placed.owner.cluster, placed.host.bmc_secret): placed for placed in concept.hosts}
    return replace(concept, hosts=tuple(by_login.values())).render()


def _of_earlier_halls(environment: Environment, part: Slice) -> set[tuple[str, str]]:
    """Return namespace and name of the logins that earlier halls create, because slices never share an object."""
    if part.kind is not SliceKind.INVENTORY:
        return set()
    halls = [hall for site in environment.region.sites for hall in site.halls]
    earlier, pools = set(halls[: halls.index(part.subject)]), environment.allocations.hosts
    return {
        (pools[host.host].partition("/")[0] if host.host in pools else FREE_HOSTS, host.bmc_secret)
        for host in environment.hosts
        if host.hall in earlier
    }


def _namespace(part: Slice) -> str:
    match part.kind:
        case SliceKind.INVENTORY:
            return FREE_HOSTS
        case SliceKind.TENANT:
            return tenant_namespace(part.subject)
        case SliceKind.FLEET:
            return DNS
        case SliceKind.ENGINE:
            return ENGINE
        case _:
            return part.subject
