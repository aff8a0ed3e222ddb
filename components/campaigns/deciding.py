"""Next step of a campaign: a pure function of its file, the regions, evidence about them, and the time."""

import datetime as dt
from collections.abc import Mapping

from components.campaigns.decision import (
    STOPPING,
    CampaignDecision,
    CampaignState,
    Reason,
    RegionDecision,
    RegionState,
    Waiting,
)
from components.campaigns.promoting import next_waves, other_rollouts
from components.campaigns.targets import Target, targets
from components.rollout.subjects import failures, settled_since, subject_of, unsettled
from components.specs.environment import Environment
from components.specs.fleet.campaign import CampaignProgressSpec, CampaignSpec, CampaignStepSpec, CampaignStopSpec
from components.specs.fleet.fleet import RegionStatus
from components.specs.locks import ImagesLock
from components.specs.reading.fleet import Fleet
from components.specs.region.evidence import Evidence
from components.specs.struct import Struct, replace
from components.specs.times import CLOCK_SKEW

FRESH = dt.timedelta(hours=1)
"""Largest age of evidence. Older evidence does not show whether nodes failed since."""
_CLOSED = frozenset({RegionStatus.DRAINING, RegionStatus.RETIRED})
_SHOWN = 3
"""Number of unsettled groups in a reason."""


class Advance(Struct):
    """Decision about a campaign, and the data after it."""

    decision: CampaignDecision
    campaign: CampaignSpec
    """Campaign with its new progress."""
    pins: Mapping[str, ImagesLock]
    """New pins, by region; only regions with promotions."""


class _Outcome(Struct):
    decision: RegionDecision
    progress: CampaignProgressSpec
    pins: ImagesLock | None = None
    is_soaked: bool = False

    @property
    def stops(self) -> Waiting | None:
        return next((item for item in self.decision.reasons if item.reason in STOPPING), None)


def advance(
    campaign: CampaignSpec,
    fleet: Fleet,
    environments: Mapping[str, Environment],
    evidence: Mapping[str, Evidence],
    now: dt.datetime,
) -> Advance:
    """Return the next step of ``campaign``.

    The first step with a region that has not soaked is the current step. Its regions are promoted wave by wave. Later
    steps do not change before all regions of the current step have soaked. A stop in one region stops the promotions
    of all regions.

    Args:
        campaign: the campaign; `components.rules.fleet.campaigns` reports no problem of it.
        fleet: the fleet.
        environments: the regions of the campaign, by name.
        evidence: observations of regions, by name; regions may be omitted.
        now: current time with a time zone.
    """
    decisions: list[RegionDecision] = []
    progress, pins = dict(campaign.progress), dict[str, ImagesLock]()
    stop, current = campaign.stopped, True
    for number, step in enumerate(campaign.steps, 1):
        soaked = True
        for name in step.regions:
            if campaign.has_soaked(name):
                decisions.append(RegionDecision(region=name, step=number, state=RegionState.SOAKED))
                continue
            if not current or campaign.stopped:
                decisions.append(_unchanged(name, number, campaign))
                soaked = False
                continue
            closed = fleet.regions[name].status if name in fleet.regions else None
            outcome = _Region(environments[name], campaign, step, number, evidence.get(name), now).run(closed)
            decisions.append(outcome.decision)
            soaked = soaked and outcome.is_soaked
            if outcome.progress != CampaignProgressSpec():
                progress[name] = outcome.progress
            if outcome.pins is not None:
                pins[name] = outcome.pins
            if stop is None and (failed := outcome.stops):
                digest = evidence[name].digest if name in evidence else None
                stop = CampaignStopSpec(region=name, at=now, reason=_short(failed.text), evidence=digest)
        current = current and soaked
    if stop:
        return _stopped(campaign, stop, decisions)
    after = campaign.model_copy(update={"progress": progress})
    state = CampaignState.READY if pins else CampaignState.COMPLETE if after.is_complete else CampaignState.WAITING
    decision = CampaignDecision(campaign=campaign.campaign, title=campaign.title, state=state, regions=tuple(decisions))
    return Advance(decision=decision, campaign=after, pins=pins)


class _Region:
    """Decision about one region of the current step."""

    def __init__(
        self,
        environment: Environment,
        campaign: CampaignSpec,
        step: CampaignStepSpec,
        number: int,
        evidence: Evidence | None,
        now: dt.datetime,
    ) -> None:
        self._environment, self._step, self._evidence, self._now = environment, step, evidence, now
        self._targets = targets(environment, campaign, step)
        self._before = campaign.progress.get(environment.name, CampaignProgressSpec())
        self._decision = RegionDecision(
            region=environment.name, step=number, state=RegionState.PROMOTING, targets=self._targets
        )

    def run(self, status: RegionStatus | None) -> _Outcome:
        """Return the state of the region, its next promotions and its progress."""
        pending = [target for target in self._targets if not target.is_done]
        if back := self._rolled_back():
            return self._waits(Reason.ROLLED_BACK, back)
        if pending and status in _CLOSED:
            text = f"{self._environment.name} is {status}; remove it from the steps, or write open in fleet.yaml"
            return self._waits(Reason.STATUS, text)
        if others := tuple(other_rollouts(self._environment, pending)):
            return _Outcome(decision=replace(self._decision, reasons=others), progress=self._before)
        if any(target.promoted for target in self._targets):
            if fault := self._evidence_fault():
                return self._waits(Reason.EVIDENCE, fault)
            if outcome := self._unsettled():
                return outcome
        return self._promote(pending) if pending else self._soak()

    def _promote(self, pending: list[Target]) -> _Outcome:
        found = next_waves(self._environment, pending, self._evidence, self._now)
        decision = replace(self._decision, reasons=found.reasons, promoted=found.promoted)
        if not found.promoted:
            return _Outcome(decision=decision, progress=self._before)
        keys = dict.fromkeys((*self._before.promoted, *(item.key for item in found.promoted)))
        update = {"started": self._before.started or self._now, "promoted": tuple(keys)}
        return _Outcome(decision=decision, progress=self._before.model_copy(update=update), pins=found.pins)

    def _soak(self) -> _Outcome:
        """Return whether the soak of the region is over; all its targets are settled."""
        if self._evidence is None:  # No target of the region has nodes.
            return self._soaked(self._now, None)
        seen = self._evidence.seen.observed_at
        times = [settled_since(target.key, self._evidence) for target in self._targets]
        since = max((time for time in times if time), default=None)
        if since is None:
            return self._soaked(seen, self._evidence.digest)
        until = since + dt.timedelta(hours=self._step.soak_hours)
        settled = self._before.settled or since
        if seen >= until:
            return self._soaked(seen, self._evidence.digest, settled)
        hours = int((seen - since).total_seconds() // 3600)
        text = f"was settled for {hours} of {self._step.soak_hours} hours; observe it again at {until.isoformat()}"
        waiting = Waiting(reason=Reason.SOAK, text=text)
        decision = replace(self._decision, state=RegionState.SOAKING, until=until, reasons=(waiting,))
        return _Outcome(decision=decision, progress=self._before.model_copy(update={"settled": settled}))

    def _soaked(self, at: dt.datetime, digest: str | None, settled: dt.datetime | None = None) -> _Outcome:
        update = {"settled": settled, "soaked": at, "evidence": digest}
        decision = replace(self._decision, state=RegionState.SOAKED)
        return _Outcome(decision=decision, progress=self._before.model_copy(update=update), is_soaked=True)

    def _rolled_back(self) -> str:
        """Return which targets the campaign promoted that have neither the version nor an open rollout to it."""
        lost = [
            target.key
            for target in self._targets
            if target.key in self._before.promoted and not (target.is_done or target.is_open)
        ]
        return f"{', '.join(lost)} was rolled back, or promoted to another version" if lost else ""

    def _evidence_fault(self) -> str:
        """Return why there is no usable evidence about the region; empty if there is."""
        name = self._environment.name
        observe = f"jacquard status {name} --format json > {name}.json"
        if self._evidence is None:
            return f"there is no evidence that promoted nodes are settled; write it with {observe}"
        seen = self._evidence.seen.observed_at
        if seen > self._now + CLOCK_SKEW:
            return f"{self._evidence.name} is from {seen.isoformat()}, later than now ({self._now.isoformat()})"
        if seen < self._now - FRESH:
            hours = FRESH.total_seconds() / 3600
            return f"{self._evidence.name} is from {seen.isoformat()}, older than {hours:.0f} hour; write {observe}"
        return ""

    def _unsettled(self) -> _Outcome | None:
        """Return the outcome for promoted groups that are not settled; None if all are settled."""
        proof = self._evidence
        if proof is None:
            return None
        texts = [
            text
            for target in self._targets
            if target.promoted
            for text in unsettled(subject_of(self._environment, target.key), target.version, proof)
        ]
        if not texts:
            return None
        rest = len(texts) - _SHOWN
        text = "; ".join(texts[:_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
        failed = sum(failures(target.key, proof) for target in self._targets if target.promoted)
        allowed, hours = self._step.stop.failed_nodes, self._step.stop.settle_hours
        if self._before.settled and failed > allowed:
            why = f"{failed} failed after all were settled, failed_nodes allows {allowed}: {text}"
            return self._waits(Reason.FAILED_SOAK, why)
        started = self._before.started
        if started and not self._before.settled and self._now > started + dt.timedelta(hours=hours):
            why = f"not settled {hours} hours after {started.isoformat()} (settle_hours): {text}"
            return self._waits(Reason.NOT_SETTLED, why)
        return self._waits(Reason.SETTLING, text)

    def _waits(self, reason: Reason, text: str) -> _Outcome:
        state = RegionState.STOPPED if reason in STOPPING else self._decision.state
        decision = replace(self._decision, state=state, reasons=(Waiting(reason=reason, text=text),))
        return _Outcome(decision=decision, progress=self._before)


def recorded_states(campaign: CampaignSpec) -> dict[str, RegionState]:
    """Return the state of each region without evidence, in the order of the steps.

    The regions of the first step with a region that has not soaked are promoted, unless the campaign is stopped.
    """
    states: dict[str, RegionState] = {}
    is_current = campaign.stopped is None
    for step in campaign.steps:
        for name in step.regions:
            if campaign.has_soaked(name):
                states[name] = RegionState.SOAKED
            elif campaign.stopped and campaign.stopped.region == name:
                states[name] = RegionState.STOPPED
            else:
                is_promoted = is_current or name in campaign.progress
                states[name] = RegionState.PROMOTING if is_promoted else RegionState.PENDING
        is_current = is_current and all(map(campaign.has_soaked, step.regions))
    return states


def _unchanged(name: str, number: int, campaign: CampaignSpec) -> RegionDecision:
    """Return the state of a region of a later step, or of a stopped campaign."""
    if campaign.stopped and campaign.stopped.region == name:
        text = f"stopped at {campaign.stopped.at.isoformat()}: {campaign.stopped.reason}"
        reasons = (Waiting(reason=Reason.STOPPED, text=text),)
        return RegionDecision(region=name, step=number, state=RegionState.STOPPED, reasons=reasons)
    return RegionDecision(region=name, step=number, state=recorded_states(campaign)[name])


def _stopped(campaign: CampaignSpec, stop: CampaignStopSpec, decisions: list[RegionDecision]) -> Advance:
    """Return the decision to stop: no region is promoted, and only the stop is recorded."""
    regions = tuple(replace(item, promoted=()) for item in decisions)
    decision = CampaignDecision(
        campaign=campaign.campaign, title=campaign.title, state=CampaignState.STOPPED, regions=regions
    )
    return Advance(decision=decision, campaign=campaign.model_copy(update={"stopped": stop}), pins={})


def _short(text: str) -> str:
    """Return ``text`` within the length of a reason in the file."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


_LONGEST = 253
