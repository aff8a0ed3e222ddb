"""Placement of an order in a region of the fleet: a pure function of the order and of the data of all regions."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence

from components.allocate.allocation import allocate
from components.lookups.fleet.capabilities import capabilities
from components.lookups.pools import placed_cluster, tenant_file
from components.placement.decision import Decision, Reason, Refusal, Verdict
from components.placement.fit import Plan, fit
from components.placement.tenant_file import with_order
from components.reports.fleet.room import Period
from components.rules.checks import check, check_data, errors
from components.specs.environment import Environment
from components.specs.fleet.fleet import RegionStatus
from components.specs.fleet.order import OrderSpec
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.edits import edited
from components.specs.reading.fleet import Fleet
from components.specs.reading.parsing import parsed
from components.specs.reading.problems import Problem, SpecError, listed
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct, replace


class Edits(Struct):
    """Edits of the data with which a region has the order. `jacquard check` accepts the result."""

    before: Environment
    after: Environment
    file: str
    """File of the tenant, relative to the folder of the region."""
    text: str
    """New text of the file."""
    numbers: AllocationsLock
    pins: ImagesLock


class Placement(Struct):
    """Decision about an order, and the edits of its region."""

    decision: Decision
    edits: Edits | None = None
    """Edits of the chosen region; None if no region can get the order, or if the order has a region already."""


class _Candidate(Struct, kw_only=False):
    """Region with room for an order."""

    environment: Environment
    plan: Plan
    text: str | None
    """Text of the tenant's file; None if the region does not have the tenant."""
    extends: bool
    not_yet: tuple[Refusal, ...] = ()
    """Reasons why the order can only be reserved; empty if it can be placed."""

    @property
    def key(self) -> tuple[bool, bool, bool, int, str]:
        """Return the sort key: room today, the tenant's cluster, the tenant, then the least room that would be left."""
        return bool(self.not_yet), not self.extends, self.text is None, self.plan.left, self.environment.name


def place(
    order: OrderSpec, fleet: Fleet, environments: Sequence[Environment], texts: Mapping[str, str], today: dt.date
) -> Placement:
    """Return the region of ``order``, with the verdict on each region of the fleet.

    Regions where the tenant already has the cluster, and then regions that have the tenant, are preferred. Of other
    regions, the one with the least room left is chosen, so that the largest rooms remain for large orders. The first
    region is chosen whose data are valid with the order and its allocated hosts and numbers.

    The pools of a placed order get hosts at once, so the nodes must be free from ``today`` to the end of the order. If
    they are free from the beginning of the order only, the order is reserved in the region, and placed there later.

    Args:
        order: order to place; `components.rules.fleet.orders` reports no problem of it.
        fleet: the fleet.
        environments: all regions of the fleet, in any order.
        texts: text of the tenant's file, by name of each region that has the tenant.
        today: day of the decision; violations of new rules that are warnings on it do not count, and contracts that
            ended before it are not released.
    """
    made = Decision(order=order.order, tenant=order.tenant, needed_from=order.from_, region=order.placed_in)
    if order.placed_in is not None:
        return Placement(decision=replace(made, was_placed=True))
    refused: list[Verdict] = []
    candidates: list[_Candidate] = []
    for environment in sorted(environments, key=lambda item: item.name):
        if environment.name in (fleet.regions if order.reserved_in is None else [order.reserved_in]):
            candidate = _candidate(order, fleet, environment, texts.get(environment.name), today)
            if isinstance(candidate, Verdict):
                refused.append(candidate)
            else:
                candidates.append(candidate)
    ranked: list[Verdict] = []
    edits: Edits | None = None
    for candidate in sorted(candidates, key=lambda item: item.key):
        name = candidate.environment.name
        if edits is None and not candidate.not_yet:
            tried = _tried(candidate, order, today)
            if isinstance(tried, Refusal):
                refused.append(Verdict(region=name, refusals=(tried,)))
                continue
            edits = tried
        ranked.append(Verdict(region=name, rank=len(ranked) + 1, left=candidate.plan.left, not_yet=candidate.not_yet))
    verdicts = (*ranked, *sorted(refused, key=lambda verdict: verdict.region))
    region = ranked[0].region if ranked else None
    decision = replace(made, region=region, verdicts=verdicts, is_reserved=region is not None and edits is None)
    return Placement(decision=decision, edits=edits)


def _candidate(
    order: OrderSpec, fleet: Fleet, environment: Environment, text: str | None, today: dt.date
) -> _Candidate | Verdict:
    """Return ``environment`` with the room for ``order`` today or from its first day, or the verdict against it."""
    known = placed_cluster(environment, order.tenant, order.cluster)
    vpc = known.vpc if known else None
    others = fleet.reservations(environment.name, order)
    days = Period(today=today, first=today, last=order.until or dt.date.max)
    against = tuple(refusals(fleet, environment, order))
    plan, unfit = fit(environment, order, vpc, days, others)
    not_yet: tuple[Refusal, ...] = ()
    if unfit and not against and order.from_ > today:
        not_yet = tuple(unfit)
        plan, unfit = fit(environment, order, vpc, replace(days, first=order.from_), others)
    if against or unfit:
        return Verdict(region=environment.name, refusals=(*against, *unfit))
    return _Candidate(environment, plan, text, vpc is not None, not_yet)


def with_region(text: str, region: str, *, is_reserved: bool = False) -> str:
    """Return the text of an order's file with its region, in which the order is placed or only reserved."""

    def edit(document: dict[str, str]) -> dict[str, str]:
        document.pop("reserved_in", None)
        document["reserved_in" if is_reserved else "placed_in"] = region
        return document

    return edited(text, edit)


def _tried(candidate: _Candidate, order: OrderSpec, today: dt.date) -> Edits | Refusal:
    """Return the edits of a region, or the reason why its data would not be valid with the order."""
    before = candidate.environment
    if known := errors(check(before), today):
        text = f"has {len(known)} problem{'s' * (len(known) > 1)} without the order; run jacquard check {before.name}"
        return Refusal(reason=Reason.DATA, text=text)
    text = with_order(before, order, candidate.plan, candidate.text)
    file = f"tenants/{order.tenant}.yaml"
    tenant, place_of, problems = parsed(file, text, TenantSpec)
    if not isinstance(tenant, TenantSpec) or problems:
        return _rejected(problems)
    others = [item for item in before.tenants if item.tenant != tenant.tenant]
    ordered = before.model_copy(
        update={
            "tenants": tuple(sorted([*others, tenant], key=tenant_file)),
            "positions": before.positions.replaced(file, place_of),
        }
    )
    if problems := tuple(errors(check_data(ordered), today)):
        return _rejected(problems)
    try:
        numbers, pins = allocate(ordered)
    except SpecError as error:
        return _rejected(error.problems)
    after = ordered.model_copy(update={"allocations": numbers, "image_pins": pins})
    if problems := tuple(errors(check(after), today)):
        return _rejected(problems)
    return Edits(before=before, after=after, file=file, text=text, numbers=numbers, pins=pins)


def _rejected(problems: Sequence[Problem]) -> Refusal:
    first, rest = problems[0], len(problems) - 1
    more = f" (and {rest} more)" if rest else ""
    return Refusal(reason=Reason.RULES, text=f"{first.place} {first.where}{first.text}{more}")


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
