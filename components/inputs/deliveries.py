"""Deliveries of a secret store: Secrets that rendered objects refer to and no controller creates."""

from collections.abc import Iterable
from functools import cache

from components.inputs.buckets import generated_keys
from components.lookups.references.table import Entry, Table, references_table
from components.lookups.references.walk import MissingTarget, missing_targets
from components.render.manifest import Manifest
from components.render.region.external_secrets import Delivery
from components.specs.environment import Environment
from components.specs.struct import replace

_KIND = "Secret"


def deliveries(environment: Environment, items: Iterable[Manifest]) -> tuple[Delivery, ...]:
    """Return the Secrets that ``items`` refer to and no controller creates, in the order of the first reference."""
    table, region, generated = _secrets(), environment.region.region, generated_keys(environment)
    return tuple(
        replace(
            _delivery(prerequisite, region, entry, form.type),
            generated=generated.get((prerequisite.target.cluster, prerequisite.target.name)),
        )
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
