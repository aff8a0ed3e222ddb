"""Campaigns over small regions, and evidence for them."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from components.campaigns.deciding import Advance, advance
from components.campaigns.decision import Reason, RegionState
from components.campaigns.targets import targets
from components.specs.environment import Environment
from components.specs.fleet.campaign import CampaignSpec
from components.specs.fleet.fleet import FleetSpec
from components.specs.keys import domain_of, pool_of
from components.specs.reading.fleet import Fleet
from components.specs.reading.positions import Positions
from components.specs.region.evidence import Evidence, read_evidence
from tests.support.changes.rollouts import NEW, rollable
from tests.support.data.fleets import OPEN
from tests.support.data.small_region import changed

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
STEPS: tuple[dict[str, Any], ...] = (
    {"regions": ["canary"], "soak_hours": 24},
    {"regions": ["desk", "bench"], "soak_hours": 48},
    {"regions": ["plant"], "soak_hours": 48, "stop": {"failed_nodes": 1, "settle_hours": 10}},
)
NAMES = ("canary", "desk", "bench", "plant")


def hours(count: float) -> dt.timedelta:
    """Return a duration of ``count`` hours."""
    return dt.timedelta(hours=count)


def region(name: str, racks: int = 1, limits: dict[str, Any] | None = None) -> Environment:
    """Return a region whose tenant runs whole racks on the old image."""
    made = rollable({"one": racks}, limits=limits)
    return changed(made, name=name, region=changed(made.region, region=name))


def regions(*names: str) -> dict[str, Environment]:
    """Return regions by name; by default those of `STEPS`."""
    return {name: region(name) for name in names or NAMES}


def campaign(**fields: Any) -> CampaignSpec:
    """Return a campaign with the new image."""
    values = {"schema_version": 1, "campaign": "driver", "title": "Driver", "images": [NEW], "steps": list(STEPS)}
    return CampaignSpec.model_validate_json(json.dumps(values | fields))


def fleet(*campaigns: CampaignSpec, **entries: dict[str, Any]) -> Fleet:
    """Return a fleet with the regions of `STEPS`, ``entries`` and ``campaigns``."""
    every = {**dict.fromkeys(NAMES, OPEN), **entries}
    spec = FleetSpec.model_validate_json(json.dumps({"schema_version": 1, "regions": every}))
    return Fleet(spec=spec, campaigns=campaigns, folders=tuple(every), positions=Positions())


def proof(
    environment: Environment, at: dt.datetime = NOW, *, since: dt.datetime | None = None, **changes: Any
) -> Evidence:
    """Return evidence that all nodes of ``environment`` run their pinned intents, and are settled since ``since``.

    Args:
        environment: region whose pins are applied.
        at: time of the observation.
        since: time since which the nodes are settled; an hour before the observation by default.
        changes: other values of each rollout group.
    """
    pins = environment.image_pins
    pools: dict[str, list[dict[str, Any]]] = {}
    for key, name in pins.groups.items():
        nodes = environment.allocations.groups[key].nodes
        group = {
            "failure_domain": domain_of(key),
            "fingerprint": pins.intents[name].fingerprint,
            "total": nodes,
            "ready": nodes,
            "images": {pins.intents[name].image: nodes},
            "settled": True,
            "settled_since": (since or at - hours(1)).isoformat(),
        }
        pools.setdefault(pool_of(key), []).append(group | changes)
    body = {
        "environment": environment.name,
        "observed_at": at.isoformat(),
        "pools": [
            {"cluster": key.partition("/")[0], "name": key.partition("/")[2], "groups": groups}
            for key, groups in pools.items()
        ],
    }
    return read_evidence(f"{environment.name}.json", json.dumps(body).encode())


def promoted(environment: Environment, spec: CampaignSpec) -> tuple[int, int]:
    """Return the number of groups of ``environment`` at the version of the campaign, and the number of all groups."""
    step = next(step for step in spec.steps if environment.name in step.regions)
    found = targets(environment, spec, step)
    return sum(item.promoted for item in found), sum(item.groups for item in found)


class Walk:
    """A campaign that a test advances run by run."""

    def __init__(self, spec: CampaignSpec, state: dict[str, Environment] | None = None, **entries: Any) -> None:
        self.spec, self.state, self.entries = spec, state or regions(), entries
        self.now = NOW

    def run(self, *proofs: Evidence) -> Advance:
        """Decide the next step, and apply its edits."""
        evidence = {item.seen.environment: item for item in proofs}
        found = advance(self.spec, fleet(self.spec, **self.entries), self.state, evidence, self.now)
        self.spec = found.campaign
        for name, pins in found.pins.items():
            self.state[name] = changed(self.state[name], image_pins=pins)
        return found

    def seen(self, name: str, **changes: Any) -> Evidence:
        """Return evidence of a region at the current time."""
        return proof(self.state[name], self.now, **changes)


def reasons(found: Advance) -> list[tuple[str, Reason]]:
    """Return the reasons of all regions."""
    return [(name, item.reason) for name, item in found.decision.reasons]


def states(found: Advance) -> list[RegionState]:
    """Return the states of all regions."""
    return [item.state for item in found.decision.regions]
