"""Regions of the fleet with their capacity, images and open rollouts."""

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import methodcaller
from typing import Any

from components.campaigns.deciding import recorded_states
from components.lookups.contracts import promised_nodes
from components.lookups.fleet.capabilities import capabilities
from components.lookups.pools import by_instance_type
from components.reports.capacity import Figures, capacity
from components.reports.contracts import ENDING_DAYS, EndingContract, ending_contracts
from components.reports.fleet.room import Period, Room, reserved_nodes, rooms
from components.reports.images import all_behind, image_report
from components.specs.environment import Environment
from components.specs.fleet.campaign import CampaignSpec
from components.specs.fleet.order import OrderSpec
from components.specs.reading.fleet import Fleet
from components.specs.struct import Struct, asdict

COLUMNS = ("installed", "out_of_service", "spare", "contracted", "planned", "free", "orderable")
"""Figures of a table row, in display order."""


class FleetFigures(Struct):
    """Host counts of one instance type, or sums of them; see `components.reports.capacity.Figures`."""

    installed: int = 0
    out_of_service: int = 0
    spare: int = 0
    contracted: int = 0
    planned: int = 0
    free: int = 0
    orderable: int = 0
    """Nodes that an order can get: free hosts without spares and without contracted nodes."""

    def gpus(self, per_node: int) -> "FleetFigures":
        """Return the same figures in GPUs."""
        return FleetFigures(**{name: getattr(self, name) * per_node for name in COLUMNS})


class DatedFigures(Struct):
    """Figures of one instance type from a later day on which contracts or reserved orders begin or have ended."""

    day: dt.date
    contracted: int
    """Contracted nodes on the day."""
    reserved: int
    """Nodes of reserved orders on the day."""
    orderable: int
    """Nodes that an order without an end can get from the day on."""


class FleetType(Struct):
    """Capacity of one instance type in one region."""

    instance_type: str
    gpus_per_node: int
    nodes: FleetFigures
    dates: tuple[DatedFigures, ...] = ()
    """Figures of later days, without days on which they stay the same."""


class OpenRollout(Struct):
    """Pool, or DPUs of a region, with an open rollout."""

    pool: str
    images: tuple[str, ...]
    """Pinned images."""
    to: str


class FleetDrift(Struct):
    """Last measured drift of a region."""

    observed_at: dt.datetime
    """Time of the measurement, with a time zone."""
    compared: int
    """Declared objects that were compared."""
    differing: int
    """Objects that differ from the data."""
    unread: int
    """Objects, kinds and clusters that could not be read."""


class FleetRegion(Struct):
    """One region of the fleet."""

    region: str
    status: str | None
    """Status in ``fleet.yaml``; None if there is no such file."""
    jurisdictions: tuple[str, ...]
    latency_group: str | None
    backbone: str | None
    capabilities: tuple[str, ...]
    types: tuple[FleetType, ...]
    images: dict[str, int]
    """Nodes by version of the pinned golden image."""
    out_of_date: tuple[str, ...]
    """Pools, and ``dpus``, whose pins differ from the data."""
    rollouts: tuple[OpenRollout, ...]
    ending_contracts: tuple[EndingContract, ...] = ()
    """Contracts that end soon, by last day."""
    drift: FleetDrift | None = None
    """Last measured drift; None if it was not measured."""


class WaitingOrder(Struct):
    """Order without a region."""

    order: str
    tenant: str
    needed_from: dt.date
    until: dt.date | None
    reserved_in: str | None
    """Region that has reserved the nodes; None if there is none."""
    nodes: dict[str, int]
    """Ordered nodes by instance type."""


class CampaignReport(Struct):
    """Progress of a campaign, from its file."""

    campaign: str
    title: str
    regions: dict[str, str]
    """`RegionState` without evidence, by region in the order of the steps, as ``jacquard campaign`` reports it."""
    stopped: str | None
    """Region in which the campaign is stopped."""


class FleetReport(Struct):
    """Report of ``jacquard fleet``."""

    regions: tuple[FleetRegion, ...]
    orders: tuple[WaitingOrder, ...] = ()
    """Orders without a region, by the first day on which their nodes are needed."""
    campaigns: tuple[CampaignReport, ...] = ()
    """All campaigns, by name."""

    @property
    def totals(self) -> dict[str, FleetFigures]:
        """Return the sums over all regions, by instance type."""
        kinds = sorted({kind.instance_type for region in self.regions for kind in region.types})
        every = [kind for region in self.regions for kind in region.types]
        return {name: _sum(kind.nodes for kind in every if kind.instance_type == name) for name in kinds}

    @property
    def gpus(self) -> FleetFigures:
        """Return the sum over all regions and instance types, in GPUs."""
        return _sum(kind.nodes.gpus(kind.gpus_per_node) for region in self.regions for kind in region.types)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        totals = {name: asdict(figures) for name, figures in self.totals.items()}
        data = json.loads(json.dumps(asdict(self), default=methodcaller("isoformat")))
        return {"schema_version": 1, **data, "totals": totals, "gpus": asdict(self.gpus)}


def fleet_report(
    known: Fleet, environments: Sequence[Environment], today: dt.date, ending_days: int = ENDING_DAYS
) -> FleetReport:
    """Return the report on the regions of the fleet, by name; on all ``environments`` if there is no ``fleet.yaml``.

    Args:
        known: the fleet.
        environments: all regions, in any order.
        today: day of the figures.
        ending_days: days before its end from which a contract is listed.
    """
    ordered = sorted(environments, key=lambda environment: environment.name)
    members = [item for item in ordered if known.spec is None or item.name in known.regions]
    waiting = sorted(
        (order for order in known.orders if order.placed_in is None), key=lambda order: (order.from_, order.order)
    )
    return FleetReport(
        regions=tuple(_region(known, environment, today, ending_days) for environment in members),
        orders=tuple(
            WaitingOrder(
                order=order.order,
                tenant=order.tenant,
                needed_from=order.from_,
                until=order.until,
                reserved_in=order.reserved_in,
                nodes={item.instance_type: item.nodes for item in order.items},
            )
            for order in waiting
        ),
        campaigns=tuple(_campaign(campaign) for campaign in known.campaigns),
    )


def _campaign(campaign: CampaignSpec) -> CampaignReport:
    states = {name: state.value for name, state in recorded_states(campaign).items()}
    stopped = campaign.stopped.region if campaign.stopped else None
    return CampaignReport(campaign=campaign.campaign, title=campaign.title, regions=states, stopped=stopped)


def _region(known: Fleet, environment: Environment, today: dt.date, ending_days: int) -> FleetRegion:
    entry, reservations = known.regions.get(environment.name), known.reservations(environment.name)
    room = rooms(environment, Period(today=today, first=today), reservations)
    behind, dates = all_behind(environment), _dates(environment, reservations, today, room)
    types = tuple(
        FleetType(
            instance_type=kind.instance_type,
            gpus_per_node=kind.gpus_per_node,
            nodes=_figures(kind.total, room[kind.instance_type].nodes if kind.instance_type in room else 0),
            dates=tuple(dates.get(kind.instance_type, ())),
        )
        for kind in capacity(environment, today).types
    )
    return FleetRegion(
        region=environment.name,
        status=entry.status.value if entry else None,
        jurisdictions=entry.jurisdictions if entry else (),
        latency_group=entry.latency_group if entry else None,
        backbone=environment.region.networks.backbone,
        capabilities=capabilities(environment, entry),
        types=types,
        images={state.version: state.nodes for state in image_report(environment, today).images if state.nodes},
        out_of_date=tuple(item.pool for item in behind if item.differences),
        rollouts=tuple(
            OpenRollout(pool=item.pool, images=item.images, to=item.open_to) for item in behind if item.open_to
        ),
        ending_contracts=tuple(ending_contracts(environment, today, ending_days)),
    )


def _dates(
    environment: Environment, reservations: Sequence[OrderSpec], today: dt.date, now: Mapping[str, Room]
) -> dict[str, list[DatedFigures]]:
    """Return the figures of the later days on which they change, by instance type; ``now`` is the room ``today``."""
    found: dict[str, list[DatedFigures]] = defaultdict(list)
    last: dict[str, tuple[int, int, int]] = {}
    for day in Period(today=today, first=today).days(environment, reservations):
        room = now if day == today else rooms(environment, Period(today=today, first=day), reservations)
        contracted = by_instance_type(promised_nodes(environment, day))
        reserved = reserved_nodes(environment, reservations, day)
        for kind, free in room.items():
            figures = (contracted[kind], reserved[kind], free.nodes)
            if figures != last.setdefault(kind, figures):
                found[kind].append(
                    DatedFigures(day=day, contracted=figures[0], reserved=figures[1], orderable=figures[2])
                )
                last[kind] = figures
    return found


def _figures(figures: Figures, orderable: int) -> FleetFigures:
    return FleetFigures(
        **{name: getattr(figures, name) or 0 for name in COLUMNS if name != "orderable"}, orderable=orderable
    )


def _sum(figures: Iterable[FleetFigures]) -> FleetFigures:
    rows = list(figures)
    return FleetFigures(**{name: sum(getattr(row, name) for row in rows) for name in COLUMNS})
