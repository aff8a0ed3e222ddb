"""How far the DPUs of a region are: what each was flashed from, as the objects of DPF say it.

Read in ``internal/provisioning/controllers/dpuset/dpuset_controller.go`` and
``internal/dpuservice/controllers/dpudeployment_controller.go`` of NVIDIA/doca-platform:

- A DPUDeployment labels its DPUSets with ``svc.dpu.nvidia.com/owned-by-dpudeployment: <namespace>_<name>``, and a
  DPUSet gives its labels to each DPU that it makes.
- A DPU has ``spec.bfb`` and ``spec.dpuFlavor`` from when it was made. Under ``OnDelete`` nothing moves them: it is
  deleted, and another one is made. So they say what a DPU with ``status.phase: Ready`` was flashed from.
- ``Ready`` alone was seen with services that do not run, which ``OperationalReady`` tells, one of
  ``status.operationalConditions``.
- ``Ready`` of a DPUDeployment covers its services, chains and interfaces.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from components.intents.dpus import ordered_dpus
from components.render.network.dpu_services import deployment_selector
from components.render.network.dpu_templates import DpuTemplates, templates
from components.render.network.dpus import NAMESPACE
from components.specs.environment import Environment
from jacquard.observe.objects import UNKNOWN, Object, condition, holds
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig


@dataclass(frozen=True, slots=True, kw_only=True)
class DpuDeploymentStatus:
    """The DPUs of one DPUDeployment; the field names are the keys of the JSON, and of evidence."""

    deployment: str
    total: int
    """DPUs that the data put into it."""
    images: dict[str, int]
    """BFB to the number of DPUs that were made with it."""
    flavors: dict[str, int]
    """DPUFlavor to the number of DPUs that were made with it."""
    settled: bool
    why: list[str]
    """What is missing, the nearest cause only; empty when settled."""


def dpu_deployments(environment: Environment, seen: Observation) -> list[DpuDeploymentStatus]:
    """Return the DPUDeployments of ``environment``, in the order of its lock file."""
    pins, total = environment.image_pins, ordered_dpus(environment)
    owned: dict[str, list[Object]] = defaultdict(list)
    for body in seen.of("DPU"):
        for key, value in (dig(body, "metadata", "labels") or {}).items():
            owned[f"{key}={value}"].append(body)
    found = []
    for key, intent in pins.dpus.items():
        name, made = key.partition("/")[2], templates(pins.dpu_intents[intent])
        [(label, value)] = deployment_selector(name)["matchLabels"].items()
        dpus = [body for body in owned[f"{label}={value}"] if not dig(body, "metadata", "deletionTimestamp")]
        causes = _causes(seen.one("DPUDeployment", NAMESPACE, name), dpus, total[key], made)
        why = list(islice(causes, 1))
        found.append(
            DpuDeploymentStatus(
                deployment=name,
                total=total[key],
                images=_count(dpus, "bfb"),
                flavors=_count(dpus, "dpuFlavor"),
                settled=not why,
                why=why,
            )
        )
    return found


def _causes(deployment: Object | None, dpus: list[Object], total: int, made: DpuTemplates) -> Iterator[str]:
    """Yield why the DPUs of a DPUDeployment are not settled, the nearest cause first."""
    if deployment is None:
        yield "its DPUDeployment does not exist"
        return
    if dig(deployment, "status", "observedGeneration") != dig(deployment, "metadata", "generation"):
        yield "DPF has not seen the last change yet"
    if len(dpus) != total:
        yield f"{len(dpus)} DPUs exist, the data order {total}"
    flashed = (made.bfb_name, made.flavor_name)
    behind = sum((dig(body, "spec", "bfb"), dig(body, "spec", "dpuFlavor")) != flashed for body in dpus)
    if behind:
        yield f"{behind} of {total} DPUs are not from {' with '.join(flashed)}; each will be once its DPU is deleted"
    phases = Counter(str(dig(body, "status", "phase") or UNKNOWN) for body in dpus)
    for phase in sorted(phases.keys() - {"Ready"}):
        yield f"{phases[phase]} of {total} DPUs are in phase {phase}"
    down = sum(not _operational(body) for body in dpus)
    if down:
        yield f"{down} of {total} DPUs are not OperationalReady"
    if not holds(deployment, "Ready"):
        said = condition(deployment, "Ready")
        yield f"condition Ready is {said.get('status', 'not set')}: {said.get('message') or 'nothing says why'}"


def _operational(body: Object) -> bool:
    said = dig(body, "status", "operationalConditions") or []
    return any(item.get("type") == "OperationalReady" and item.get("status") == "True" for item in said)


def _count(dpus: list[Object], field: str) -> dict[str, int]:
    return dict(sorted(Counter(str(dig(body, "spec", field) or UNKNOWN) for body in dpus).items()))
