"""Constraints of an order that do not depend on capacity."""

from collections.abc import Iterator

from components.lookups.fleet.capabilities import capabilities
from components.placement.decision import Reason, Refusal
from components.specs.environment import Environment
from components.specs.fleet.fleet import RegionStatus
from components.specs.fleet.order import OrderSpec
from components.specs.reading.fleet import Fleet
from components.specs.reading.problems import listed


def refusals(fleet: Fleet, environment: Environment, order: OrderSpec) -> Iterator[Refusal]:
    """Yield the reasons why ``environment``, a region of ``fleet``, does not satisfy the constraints of ``order``."""
    entry, wanted, name = fleet.regions[environment.name], order.constraints, environment.name
    if entry.status is not RegionStatus.OPEN:
        yield Refusal(reason=Reason.STATUS, text=f"is {entry.status}")
    if wanted.regions and name not in wanted.regions:
        yield Refusal(reason=Reason.EXCLUDED, text=f"is not in {listed(wanted.regions)}")
    if name in wanted.excluded_regions:
        yield Refusal(reason=Reason.EXCLUDED, text="is excluded")
    if wanted.jurisdictions and not {*wanted.jurisdictions} & {*entry.jurisdictions}:
        text = f"is in {listed(entry.jurisdictions)}, not in {listed(wanted.jurisdictions)}"
        yield Refusal(reason=Reason.JURISDICTION, text=text)
    if wanted.near and wanted.near != name:
        other = fleet.regions.get(wanted.near)
        group = other.latency_group if other else None
        if group is None or group != entry.latency_group:
            text = f"is in latency group {entry.latency_group or 'none'}, {wanted.near} in {group or 'none'}"
            yield Refusal(reason=Reason.LATENCY, text=text)
    missing = sorted({*wanted.capabilities} - {*capabilities(environment, entry)})
    if missing:
        yield Refusal(reason=Reason.CAPABILITY, text=f"has no {listed(missing)}")
