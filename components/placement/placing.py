"""Placement of an order in a region of the fleet: a pure function of the order and of the data of all regions."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from components.allocate.allocation import allocate
from components.lookups.pools import placed_cluster, tenant_file
from components.placement.constraints import refusals
from components.placement.decision import Decision, Reason, Refusal, Verdict
from components.placement.fit import Plan, fit
from components.placement.tenant_file import with_order
from components.rules.checks import check, check_data, errors
from components.specs.environment import Environment
from components.specs.fleet.order import OrderSpec
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.edits import edited
from components.specs.reading.fleet import Fleet
from components.specs.reading.parsing import parsed
from components.specs.reading.problems import Problem, SpecError
from components.specs.region.tenant import TenantSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """Edits of the data with which a region has the order. `jacquard check` accepts the result."""

    before: Environment
    after: Environment
    file: str
    """File of the tenant, relative to the folder of the region."""
    text: str
    """New text of the file."""
    numbers: AllocationsLock
    pins: ImagesLock


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Decision about an order, and the edits of its region."""

    decision: Decision
    edits: Edits | None = None
    """Edits of the chosen region; None if no region can get the order, or if the order has a region already."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Region with room for an order."""

    environment: Environment
    plan: Plan
    text: str | None
    """Text of the tenant's file; None if the region does not have the tenant."""
    extends: bool

    @property
    def key(self) -> tuple[bool, bool, int, str]:
        """Return the sort key: the tenant's cluster, the tenant, then the least room that would be left."""
        return not self.extends, self.text is None, self.plan.left, self.environment.name


def place(
    order: OrderSpec, fleet: Fleet, environments: Sequence[Environment], texts: Mapping[str, str], today: dt.date
) -> Placement:
    """Return the region of ``order``, with the verdict on each region of the fleet.

    Regions where the tenant already has the cluster, and then regions that have the tenant, are preferred. Of other
    regions, the one with the least room left is chosen, so that the largest rooms remain for large orders. The first
    region is chosen whose data are valid with the order and its allocated hosts and numbers.

    Args:
        order: order to place; `components.rules.fleet.orders` reports no problem of it.
        fleet: the fleet.
        environments: all regions of the fleet, in any order.
        texts: text of the tenant's file, by name of each region that has the tenant.
        today: day of the decision; violations of new rules that are warnings on it do not count.
    """
    made = Decision(order=order.order, tenant=order.tenant, needed_from=order.from_, region=order.placed_in)
    if order.placed_in is not None:
        return Placement(decision=replace(made, was_placed=True))
    refused: list[Verdict] = []
    candidates: list[_Candidate] = []
    for environment in sorted(environments, key=lambda item: item.name):
        if environment.name in fleet.regions:
            known = placed_cluster(environment, order.tenant, order.cluster)
            vpc = known.vpc if known else None
            plan, unfit = fit(environment, order, vpc)
            if against := (*refusals(fleet, environment, order), *unfit):
                refused.append(Verdict(region=environment.name, refusals=against))
            else:
                candidates.append(_Candidate(environment, plan, texts.get(environment.name), vpc is not None))
    ranked: list[Verdict] = []
    edits: Edits | None = None
    for candidate in sorted(candidates, key=lambda item: item.key):
        name = candidate.environment.name
        if edits is None:
            tried = _tried(candidate, order, today)
            if isinstance(tried, Refusal):
                refused.append(Verdict(region=name, refusals=(tried,)))
                continue
            edits = tried
        ranked.append(Verdict(region=name, rank=len(ranked) + 1, left=candidate.plan.left))
    verdicts = (*ranked, *sorted(refused, key=lambda verdict: verdict.region))
    region = edits.before.name if edits else None
    return Placement(decision=replace(made, region=region, verdicts=verdicts), edits=edits)


def with_region(text: str, region: str) -> str:
    """Return the text of an order's file with its region."""

    def edit(document: dict[str, str]) -> dict[str, str]:
        document["placed_in"] = region
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
