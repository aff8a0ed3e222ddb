"""Inputs of Secrets from a secret store: Secrets that rendered objects refer to and no controller creates."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from components.lookups.references.table import Entry, Table, references_table
from components.lookups.references.walk import MissingTarget, missing_targets
from components.lookups.slices import Slice, SliceKind
from components.render.concept import Concept, Made
from components.render.hosts.inventory import InventoryInput
from components.render.manifest import Manifest, Rendered, objects
from components.render.namespaces import FREE_HOSTS, tenant_namespace
from components.render.region.external_secrets import Delivery, ExternalSecretsInput
from components.specs.environment import Environment

_KIND = "Secret"


def of_slice(environment: Environment, part: Slice, made: Iterable[Made[Concept]]) -> Iterator[ExternalSecretsInput]:
    """Yield the input with the Secrets that the objects of ``made`` refer to; nothing in a region without a store.

    Secrets of the foundation are in the input of the region, because its data stores wait for these Secrets.
    """
    store = environment.region.secrets.store
    if store is None or part.kind is SliceKind.FOUNDATION:
        return
    items = (item for entry in made for item in objects(_seen(entry)))
    had = _of_earlier_halls(environment, part)
    missing = tuple(
        delivery for delivery in deliveries(environment, items) if (delivery.namespace, delivery.name) not in had
    )
    if missing:
        yield ExternalSecretsInput(name=part.name, namespace=_namespace(part), store=store, deliveries=missing)


def deliveries(environment: Environment, items: Iterable[Manifest]) -> tuple[Delivery, ...]:
    """Return the Secrets that ``items`` refer to and no controller creates, in the order of the first reference."""
    table, region = _secrets(), environment.region.region
    return tuple(
        _delivery(prerequisite, region, entry, form.type)
        for prerequisite in missing_targets(items, table).values()
        if prerequisite.target.kind == _KIND
        and (entry := (form := table.forms[str(prerequisite.form)]).entry) is not None
    )


@cache
def _secrets() -> Table:
    """Return the table reduced to rows of Secrets from a store; the search is then fast, as few objects match."""
    table = references_table()
    deliverable = {name for name, form in table.forms.items() if form.entry is not None}
    kinds = {kind: tuple(row for row in rows if row.form in deliverable) for kind, rows in table.refers.items()}
    return replace(table, refers={kind: rows for kind, rows in kinds.items() if rows}, makes={})


def _delivery(prerequisite: MissingTarget, region: str, entry: Entry, kind: str | None) -> Delivery:
    target = prerequisite.target
    owner = {Entry.REGION: (), Entry.NAMESPACE: (target.namespace,), Entry.CLUSTER: (target.cluster,)}[entry]
    return Delivery(
        cluster=target.cluster,
        namespace=target.namespace,
        name=target.name,
        keys=tuple(sorted(prerequisite.keys)),
        entry="/".join((region, *owner, target.name)),
        type=kind,
    )


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
        case _:
            return part.subject
