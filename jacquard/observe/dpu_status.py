"""Status of the DPUs of a region: the images from which they were flashed, read from the objects of DPF.

Source: ``internal/provisioning/controllers/dpuset/dpuset_controller.go`` and
``internal/dpuservice/controllers/dpudeployment_controller.go`` of NVIDIA/doca-platform:

- A DPUDeployment labels its DPUSets with ``svc.dpu.nvidia.com/owned-by-dpudeployment: <namespace>_<name>``, and a
  DPUSet copies its labels to each DPU that it creates.
- ``spec.bfb`` and ``spec.dpuFlavor`` of a DPU are set at its creation. Under ``OnDelete`` they never change: the DPU
  is deleted and created again. They therefore identify the images of a DPU with ``status.phase: Ready``.
- ``Ready`` has been observed without running services. ``OperationalReady``, one of ``status.operationalConditions``,
  includes them.
- ``Ready`` of a DPUDeployment covers its services, chains and interfaces.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import islice

from components.intents.dpus import ordered_dpus
from components.render.network.dpu_services import deployment_selector
from components.render.network.dpu_templates import DpuTemplates, templates
from components.render.network.dpus import NAMESPACE
from components.specs.environment import Environment
from components.specs.struct import Struct
from jacquard.observe.objects import UNKNOWN, Object, condition, holds
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig


class DpuDeploymentStatus(Struct):
    """Status of the DPUs of a DPUDeployment; the field names are the keys of the JSON, and of evidence."""

    deployment: str
    total: int
    """Number of DPUs that the data assigns to the DPUDeployment."""
    images: dict[str, int]
    """Number of DPUs by the BFB with which they were created."""
    flavors: dict[str, int]
    """Number of DPUs by the DPUFlavor with which they were created."""
    settled: bool
    why: list[str]
    """Reason why the DPUs are not settled, the nearest cause only; empty if they are settled."""


def dpu_deployments(environment: Environment, seen: Observation) -> list[DpuDeploymentStatus]:
    """Return the DPUDeployments of ``environment``, in the order of its lock file."""
    pins, total = environment.image_pins, ordered_dpus(environment)
    owned: dict[str, list[Object]] = defaultdict(list)
    for body in seen.of("DPU"):
        for key, value in (dig(body, "metadata", "labels") or {}).items():
            owned[f"{key}={value}"].append(body)
    statuses = []
    for key, intent in pins.dpus.items():
        name, made = key.partition("/")[2], templates(pins.dpu_intents[intent])
        [(label, value)] = deployment_selector(name)["matchLabels"].items()
        dpus = [body for body in owned[f"{label}={value}"] if not dig(body, "metadata", "deletionTimestamp")]
        causes = _causes(seen.management_object("DPUDeployment", NAMESPACE, name), dpus, total[key], made)
        why = list(islice(causes, 1))
        statuses.append(
            DpuDeploymentStatus(
                deployment=name,
                total=total[key],
                images=_count(dpus, "bfb"),
                flavors=_count(dpus, "dpuFlavor"),
                settled=not why,
                why=why,
            )
        )
    return statuses


def _causes(deployment: Object | None, dpus: list[Object], total: int, made: DpuTemplates) -> Iterator[str]:
    """Yield the reasons why the DPUs of a DPUDeployment are not settled, the nearest cause first."""
    if deployment is None:
        yield "its DPUDeployment does not exist"
        return
    if dig(deployment, "status", "observedGeneration") != dig(deployment, "metadata", "generation"):
        yield "DPF has not observed the last change yet"
    if len(dpus) != total:
        yield f"{len(dpus)} DPUs exist, the data declares {total}"
    flashed = (made.bfb_name, made.flavor_name)
    outdated = sum((dig(body, "spec", "bfb"), dig(body, "spec", "dpuFlavor")) != flashed for body in dpus)
    if outdated:
        yield f"{outdated} of {total} DPUs do not run {' with '.join(flashed)}; delete a DPU to reflash it"
    phases = Counter(str(dig(body, "status", "phase") or UNKNOWN) for body in dpus)
    for phase in sorted(phases.keys() - {"Ready"}):
        yield f"{phases[phase]} of {total} DPUs are in phase {phase}"
    down = sum(not _operational(body) for body in dpus)
    if down:
        yield f"{down} of {total} DPUs are not OperationalReady"
    if not holds(deployment, "Ready"):
        ready = condition(deployment, "Ready")
        yield f"condition Ready is {ready.get('status', 'not set')}: {ready.get('message') or 'no reason reported'}"


def _operational(body: Object) -> bool:
    conditions = dig(body, "status", "operationalConditions") or []
    return any(item.get("type") == "OperationalReady" and item.get("status") == "True" for item in conditions)


def _count(dpus: list[Object], field: str) -> dict[str, int]:
    return dict(sorted(Counter(str(dig(body, "spec", field) or UNKNOWN) for body in dpus).items()))
