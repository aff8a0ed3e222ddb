"""What a stack needs before anything is registered; an unmet need is something to wait for, not a failure.

Operators bring their CRDs and control planes come up in their own time. A stack that ran into them half-way would
hang or leave a half-applied region, so all needs are looked at first and told together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pulumi

from components.render.concept import Concept
from components.render.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import MANAGEMENT, Manifest, objects
from components.render.region import RegionInput
from components.specs.base import Stage
from components.specs.region import RegionSpec
from providers.kube import ApiServer, KindNotFound, KubeconfigError, ObjectRef, Unreachable
from stacks import kubeconfig

_TIMEOUT_SECONDS = 5.0
_CLUSTER_API = "cluster.x-k8s.io/v1beta2"


def pass_gates(
    stack: str, region: RegionSpec, concepts: Sequence[Concept], kubeconfigs: Path, *, preview: bool
) -> None:
    """Pass when everything is there that ``concepts`` need, and refresh the kubeconfigs of their tenant clusters.

    A preview goes on without tenant clusters and says what it could not check.

    Raises:
        RunError: something is not there yet, the text begins with ``waiting: `` and ends with the command that
            resumes; or the management cluster does not answer.
        ApiError: the management cluster refuses.
    """
    made_here = {concept.name for concept in concepts if isinstance(concept, HostedControlPlaneInput)}
    rendered = [(concept, tuple(objects(concept.render()))) for concept in concepts]
    everything = [item for _, items in rendered for item in items]
    clusters = sorted({item.cluster for item in everything} - {MANAGEMENT})
    try:
        path = kubeconfig.path(kubeconfigs, MANAGEMENT)
        management = ApiServer.from_kubeconfig(path, region.context, timeout_seconds=_TIMEOUT_SECONDS)
        unmet = missing_kinds(management, gated(rendered))
        absent = [name for name in clusters if not kubeconfig.refresh(management, kubeconfigs, name)]
        waiting = missing_control_planes(management, set(clusters) - made_here)
    except (KubeconfigError, Unreachable) as error:
        msg = f"{error}; {_remedy(region, kubeconfigs)}"
        raise pulumi.RunError(msg) from None
    require(stack, unmet if preview else [*unmet, *waiting])
    for text in unchecked(everything, absent) if preview else ():
        pulumi.log.warn(text)


def gated(rendered: Iterable[tuple[Concept, Iterable[Manifest]]]) -> Iterator[Manifest]:
    """Yield those of the objects of concepts whose kinds must be served before anything is registered.

    What follows a region's first awaited object is left out: its operators come in the same run, and are waited for.
    """
    for concept, items in rendered:
        for item in items:
            yield item
            if isinstance(concept, RegionInput) and item.readiness is not None:
                return


def missing_kinds(management: ApiServer, wanted: Iterable[Manifest]) -> list[str]:
    """Return, in words, the kinds of ``wanted`` that the management cluster does not serve (their CRD is not there).

    Raises:
        ApiError: the management cluster does not answer, or refuses.
    """
    kinds = sorted({(item.kind, item.api_version) for item in wanted if item.cluster == MANAGEMENT})
    return [
        f"kind {kind} ({api_version}) is not served by the management cluster: its operator has not brought the CRD"
        for kind, api_version in kinds
        if not _served(management, api_version, kind)
    ]


def missing_control_planes(management: ApiServer, clusters: Iterable[str]) -> list[str]:
    """Return, in words, the ``clusters`` whose control plane is not initialized.

    Raises:
        ApiError: the management cluster does not answer, or refuses.
    """
    return [
        f"control plane of cluster {cluster} is not initialized: the stack of its tenant makes it"
        for cluster in sorted(clusters)
        if not _initialized(management, cluster)
    ]


def require(stack: str, unmet: Sequence[str]) -> None:
    """Pass when nothing is awaited.

    Raises:
        RunError: something is.
    """
    if not unmet:
        return
    things = "1 thing that is" if len(unmet) == 1 else f"{len(unmet)} things that are"
    lines = [f"waiting: stack {stack} needs {things} not there yet", *(f"  {need}" for need in unmet)]
    raise pulumi.RunError("\n".join([*lines, f"resume with: pulumi up -s {stack}"]))


def unchecked(items: Iterable[Manifest], clusters: Iterable[str]) -> list[str]:
    """Return a line for each of ``clusters``, which are not there yet: no API server has seen their objects."""
    counts = Counter(item.cluster for item in items)
    return [
        f"cluster {cluster} is not there yet: {counts[cluster]} object{'' if counts[cluster] == 1 else 's'} not checked"
        for cluster in clusters
    ]


def _remedy(region: RegionSpec, kubeconfigs: Path) -> str:
    if region.stage is Stage.REHEARSAL:
        return f"bring the clusters up with: pulumi up -s {region.region}.bootstrap, or jacquard up {region.region}"
    return f"see that {kubeconfig.path(kubeconfigs, MANAGEMENT)} reaches context {region.context} from this machine"


def _served(api: ApiServer, api_version: str, kind: str) -> bool:
    try:
        api.resource(api_version, kind)
    except KindNotFound:
        return False
    return True


def _initialized(management: ApiServer, cluster: str) -> bool:
    try:
        found = management.get(ObjectRef(_CLUSTER_API, "Cluster", cluster, cluster)) or {}
    except KindNotFound:
        return False
    return found.get("status", {}).get("initialization", {}).get("controlPlaneInitialized") is True
