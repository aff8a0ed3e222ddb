"""The DPUs of a region as something to promote: those of free hosts first, then one VPC after the other.

DPF holds each DPU back until somebody outside lets it go (``nodeEffect: hold``), so that a wave says which DPUs are to
be flashed anew, never when.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from components.intents.dpus import deployments, find_dpu_image, ordered_dpus, wanted_dpu_intent
from components.intents.nodes import unfit_for_doca
from components.lookups.pools import problem
from components.render.network.dpu_templates import NEWEST, DpuTemplates, templates
from components.rollout.limits import Excess, RolloutLimits
from components.rollout.subject import DATA, Wish
from components.rollout.waves import PlannedGroup
from components.specs.environment import Environment
from components.specs.keys import dpu_key
from components.specs.locks import Wave
from components.specs.pools.intents import DpuIntent, Intent, IntentName
from components.specs.reading.loader import IMAGES, REGION
from components.specs.reading.problems import SpecError, listed, suggestion
from components.specs.region.evidence import DpuEvidence, Evidence

_HOW = "flashed, and their hosts rebooted, as each is let go"


class DpuSubject:
    """All DPUs of a region that DPF runs.

    Raises:
        SpecError: DPF runs none.
    """

    section = "dpus"
    intent_section = "dpu_intents"
    canary = 0
    alone = ""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._vpcs = {one.key: one.vpc for one in deployments(environment, environment.allocations.vpcs)}
        self._count = ordered_dpus(environment)
        self.place = (REGION, ("dpus", "image"))
        if not self._vpcs:
            text = "no VPC of this region is isolated by its DPUs, so that DPF runs none that could be promoted"
            raise SpecError(environment.name, [problem(environment, *self.place, text)])

    @property
    def groups(self) -> Mapping[str, IntentName]:
        """Return the name of the intent of each DPUDeployment."""
        return self._environment.image_pins.dpus

    @property
    def intents(self) -> Mapping[IntentName, DpuIntent]:
        """Return the intents of DPUs in use, by name."""
        return self._environment.image_pins.dpu_intents

    def wish(self, version: str, today: dt.date | None) -> Wish:  # noqa: ARG002 - DPU images have no dates
        """Return what the data say for DPU image ``version``.

        Raises:
            SpecError: The image is unknown, is not the region's, or does not work with images in use.
        """
        wished = self._environment.region.dpus.image
        name = wished if version == DATA else version
        image = find_dpu_image(self._environment, name)
        if image is None:
            known = [item.version for item in self._environment.images.dpu_images]
            text = f"DPU image '{name}' is not declared (declared: {listed(known)}); add it there"
            found = [problem(self._environment, IMAGES, ("dpu_images",), text + suggestion(name, known))]
            raise SpecError(self._environment.name, found)
        reasons = [f"the region names DPU image {wished}; write {name} here first"] if name != wished else []
        reasons += self._misfits(image.doca)
        if reasons:
            file, path = self.place
            raise SpecError(
                self._environment.name, [problem(self._environment, file, path, reason) for reason in reasons]
            )
        return Wish(at=partial(wanted_dpu_intent, self._environment, image), first=1, newest=NEWEST)

    def unfit(self, intent: Intent, today: dt.date | None) -> Iterable[str]:  # noqa: ARG002 - DPU images have no dates
        """Return why DPUs may not be flashed as ``intent`` says."""
        return self._misfits(intent.doca) if isinstance(intent, DpuIntent) else []

    def planned(self, groups: Iterable[str]) -> Mapping[str, PlannedGroup]:
        """Return what is to be said of each of ``groups`` that are flashed anew."""
        return {key: PlannedGroup(key=key, nodes=self._count[key], spares=0, replacement=_HOW) for key in groups}

    def waves(self, limits: RolloutLimits, groups: Sequence[str], canary: int) -> list[list[str]]:  # noqa: ARG002
        """Return ``groups`` in waves: DPUs of free hosts, then VPC after VPC, the smallest first.

        No limit counts DPUs, and those of free hosts are the canary.
        """
        by_vpc: dict[str, list[str]] = defaultdict(list)
        for key in groups:
            by_vpc[self._vpcs.get(key) or ""].append(key)
        free = by_vpc.pop("", [])
        ordered = sorted(by_vpc, key=lambda vpc: (sum(self._count[key] for key in by_vpc[vpc]), vpc))
        return [wave for wave in (free, *(by_vpc[vpc] for vpc in ordered)) if wave]

    def excess(self, limits: RolloutLimits, groups: Sequence[str]) -> tuple[Excess, ...]:  # noqa: ARG002
        """Return nothing: no limit counts DPUs."""
        return ()

    def backwards(self, limits: RolloutLimits, groups: Sequence[str], moved: Sequence[str]) -> list[list[str]]:
        """Return ``groups`` in the waves of a way back: the last of those that ``moved`` goes first."""
        order = {key: index for index, key in enumerate(reversed(moved))}
        steps = self.waves(limits, groups, 0)
        return sorted(steps, key=lambda wave: min(order.get(key, len(order)) for key in wave))

    def shortcomings(self, wave: Wave, target: Intent, evidence: Evidence, *, back: bool) -> Iterator[str]:  # noqa: ARG002
        """Yield what ``evidence`` lacks to show that the DPUs of ``wave`` were flashed from ``target``."""
        seen = evidence.seen
        if seen.environment != self._environment.name:
            yield f"is of environment {seen.environment}, not of {self._environment.name}"
            return
        found = {group.deployment: group for group in seen.dpu_deployments}
        for name in wave.groups:
            if name not in found:
                yield f"says nothing of the DPUs of {name}"
            elif not found[name].settled:
                yield f"{dpu_key(name)} is not settled: {found[name].why[0] if found[name].why else 'nothing says why'}"
            elif isinstance(target, DpuIntent):
                yield from _flashed_otherwise(found[name], templates(target))

    def _misfits(self, doca: str) -> list[str]:
        wrong = [f"{image.version} ({image.contents.doca})" for _, image in unfit_for_doca(self._environment, doca)]
        return [f"DOCA {doca} does not work with images in use: {listed(wrong)}"] if wrong else []


def _flashed_otherwise(seen: DpuEvidence, made: DpuTemplates) -> Iterator[str]:
    for what, counted, name in (("BFB", seen.images, made.bfb_name), ("flavor", seen.flavors, made.flavor_name)):
        if counted.get(name, 0) < seen.total:
            yield f"{dpu_key(seen.deployment)} has {counted.get(name, 0)} of {seen.total} DPUs with {what} {name}"
