"""Promotion of the DPUs of a region: first DPUs of free hosts, then one VPC at a time.

DPF flashes a DPU only after the platform releases the DPU's maintenance hold (``nodeEffect: hold``). A wave therefore
selects the DPUs to flash, not the time.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from components.intents.dpus import deployments, find_dpu_image, ordered_dpus, wanted_dpu_intent
from components.intents.nodes import unfit_for_doca
from components.lookups.pools import problem
from components.render.network.dpu_templates import DpuTemplates, newest, templates
from components.rollout.limits import Excess, RolloutLimits
from components.rollout.subject import DATA, DeclaredIntent
from components.rollout.waves import PlannedGroup
from components.specs.environment import Environment
from components.specs.keys import dpu_key
from components.specs.locks import Wave
from components.specs.pools.intents import DpuIntent, Intent, IntentName
from components.specs.reading.loader import IMAGES, REGION
from components.specs.reading.problems import SpecError, listed, suggestion
from components.specs.region.evidence import DpuEvidence, Evidence

_HOW = "DPUs flashed and hosts rebooted as each maintenance hold is released"


class DpuSubject:
    """All DPUs of a region that DPF manages.

    Raises:
        SpecError: DPF manages no DPUs in this region.
    """

    section = "dpus"
    intent_section = "dpu_intents"
    canary = 0
    canary_rule = ""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._vpcs = {item.key: item.vpc for item in deployments(environment, environment.allocations.vpcs)}
        self._count = ordered_dpus(environment)
        self.place = (REGION, ("dpus", "image"))
        if not self._vpcs:
            text = "no VPC of this region is isolated by DPUs, so DPF manages no DPUs to promote"
            raise SpecError(environment.name, [problem(environment, *self.place, text)])

    @property
    def groups(self) -> Mapping[str, IntentName]:
        """Return the name of the intent of each DPUDeployment."""
        return self._environment.image_pins.dpus

    @property
    def intents(self) -> Mapping[IntentName, DpuIntent]:
        """Return the intents of DPUs in use, by name."""
        return self._environment.image_pins.dpu_intents

    def declared_intent(self, version: str, today: dt.date | None) -> DeclaredIntent:  # noqa: ARG002 - DPU images have no dates
        """Return the intent for DPU image ``version``, with all other values from the data.

        Raises:
            SpecError: The image is unknown, is not the region's, or is incompatible with images in use.
        """
        declared = self._environment.region.dpus.image
        name = declared if version == DATA else version
        image = find_dpu_image(self._environment, name)
        if image is None:
            known = [item.version for item in self._environment.images.dpu_images]
            text = f"DPU image '{name}' is not declared (declared: {listed(known)}); add it there"
            problems = [problem(self._environment, IMAGES, ("dpu_images",), text + suggestion(name, known))]
            raise SpecError(self._environment.name, problems)
        reasons = [f"the region declares DPU image {declared}; write {name} here first"] if name != declared else []
        reasons += self._violations(image.doca)
        if reasons:
            file, path = self.place
            raise SpecError(
                self._environment.name, [problem(self._environment, file, path, reason) for reason in reasons]
            )
        return DeclaredIntent(at=partial(wanted_dpu_intent, self._environment, image), newest=newest())

    def unfit(self, intent: Intent, today: dt.date | None) -> Iterable[str]:  # noqa: ARG002 - DPU images have no dates
        """Return why DPUs may not be flashed with ``intent``."""
        return self._violations(intent.doca) if isinstance(intent, DpuIntent) else []

    def planned(self, groups: Iterable[str]) -> Mapping[str, PlannedGroup]:
        """Return the planned change of each of ``groups``: number of DPUs, and how DPUs are flashed."""
        return {key: PlannedGroup(key=key, nodes=self._count[key], spares=0, replacement=_HOW) for key in groups}

    def waves(self, limits: RolloutLimits, groups: Sequence[str], canary: int) -> list[list[str]]:  # noqa: ARG002
        """Return ``groups`` in waves: DPUs of free hosts, then one VPC per wave, the smallest first.

        No limit counts DPUs. The DPUs of free hosts are the canary.
        """
        by_vpc: dict[str, list[str]] = defaultdict(list)
        for key in groups:
            by_vpc[self._vpcs.get(key) or ""].append(key)
        free = by_vpc.pop("", [])
        ordered = sorted(by_vpc, key=lambda vpc: (sum(self._count[key] for key in by_vpc[vpc]), vpc))
        return [wave for wave in (free, *(by_vpc[vpc] for vpc in ordered)) if wave]

    def excess(self, limits: RolloutLimits, groups: Sequence[str]) -> tuple[Excess, ...]:  # noqa: ARG002
        """Return an empty tuple: no limit counts DPUs."""
        return ()

    def backwards(self, limits: RolloutLimits, groups: Sequence[str], moved: Sequence[str]) -> list[list[str]]:
        """Return ``groups`` in the waves of a rollback: in reverse order of ``moved``, then the others."""
        order = {key: index for index, key in enumerate(reversed(moved))}
        steps = self.waves(limits, groups, 0)
        return sorted(steps, key=lambda wave: min(order.get(key, len(order)) for key in wave))

    def shortcomings(self, wave: Wave, target: Intent, evidence: Evidence, *, back: bool) -> Iterator[str]:  # noqa: ARG002
        """Yield why ``evidence`` does not prove that the DPUs of ``wave`` were flashed with ``target``."""
        seen = evidence.seen
        if seen.environment != self._environment.name:
            yield f"is from environment {seen.environment}, not from {self._environment.name}"
            return
        by_name = {group.deployment: group for group in seen.dpu_deployments}
        for name in wave.groups:
            if name not in by_name:
                yield f"has no entry for the DPUs of {name}"
            elif not by_name[name].settled:
                why = by_name[name].why
                yield f"{dpu_key(name)} is not settled{f': {why[0]}' if why else ''}"
            elif isinstance(target, DpuIntent):
                yield from _outdated_dpus(by_name[name], templates(target))

    def _violations(self, doca: str) -> list[str]:
        unfit = [f"{image.version} ({image.contents.doca})" for _, image in unfit_for_doca(self._environment, doca)]
        return [f"DOCA {doca} is incompatible with images in use: {listed(unfit)}"] if unfit else []


def _outdated_dpus(seen: DpuEvidence, target: DpuTemplates) -> Iterator[str]:
    for kind, counts, name in (("BFB", seen.images, target.bfb_name), ("flavor", seen.flavors, target.flavor_name)):
        if counts.get(name, 0) < seen.total:
            yield f"{dpu_key(seen.deployment)} has {counts.get(name, 0)} of {seen.total} DPUs with {kind} {name}"
