"""What a stack needs before anything is registered; an unmet need is something to wait for, not a failure.

Operators bring their CRDs and control planes come up in their own time. A stack that ran into them half-way would
hang or leave a half-applied region, so all needs are looked at first and told together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pulumi

from components.render.concept import Concept, Made
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import MANAGEMENT, Manifest, Rendered, objects
from components.render.region.region import RegionInput
from components.resources import OPERATORS
from components.specs.base import Stage
from components.specs.region.region import RegionSpec
from jacquard.providers.kube import ApiServer, KindNotFound, KubeconfigError, ObjectRef, Unreachable
from stacks import kubeconfig
from stacks.errors import StackError
from stacks.markers import WAITING
from stacks.prerequisites import Looked, look
from stacks.probes import not_ready, unreadable
from stacks.validation import Names, ask

_TIMEOUT_SECONDS = 5.0
_CLUSTER_API = "cluster.x-k8s.io/v1beta2"


def pass_gates(
    stack: str,
    region: RegionSpec,
    made: Sequence[Made[Concept]],
    kubeconfigs: Path,
    *,
    preview: bool,
    others: Callable[[], Iterable[Manifest]],
    asking: Names | None = None,
) -> None:
    """Pass when everything is there that ``made`` needs, and refresh the kubeconfigs of their tenant clusters.

    A preview goes on without tenant clusters and says what it could not check, and what is there and not ready. Only a
    run that applies a region with real hardware looks for what somebody has to give.

    Args:
        stack: its name.
        region: what it is part of.
        made: what it applies.
        kubeconfigs: the folder of these.
        preview: whether nothing is applied.
        others: all objects of the region; asked for only when something seems to be missing.
        asking: what the stack has already, if API servers are to be asked what its plug-ins do not tell.

    Raises:
        StackError: what is awaited cannot be read, or a kind does not have a field.
        RunError: something is not there yet, the text begins with ``waiting: `` and ends with the command that
            resumes; or the management cluster does not answer.
        ApiError: the management cluster refuses.
    """
    made_here = {one.concept.name for one in made if isinstance(one.concept, HostedControlPlaneInput)}
    shown = [(one.concept, one.rendered) for one in made]
    rendered = [(concept, tuple(objects(items))) for concept, items in shown]
    everything = [item for _, items in rendered for item in items]
    _refuse(stack, "with a wait that cannot be read", unreadable(everything))
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
    there = {name: kubeconfig.path(kubeconfigs, name) for name in clusters if name not in absent}
    inner = {name: ApiServer.from_kubeconfig(file, timeout_seconds=_TIMEOUT_SECONDS) for name, file in there.items()}
    apis = {MANAGEMENT: management, **inner}
    lacking = () if preview or region.stage is Stage.REHEARSAL else _given(apis, everything, others)
    require(stack, unmet if preview else [*unmet, *waiting, *lacking])
    for text in unchecked(everything, absent) if preview else ():
        pulumi.log.warn(text)
    for name, api in apis.items():
        inside = [(concept.name, [item for item in items if item.cluster == name]) for concept, items in shown]
        try:
            _look(stack, api, inside, asking, preview=preview)
        except Unreachable as error:
            pulumi.log.warn(f"cluster {name}: what is in it was not looked at: {error}")


def _given(
    apis: Mapping[str, ApiServer], everything: Sequence[Manifest], others: Callable[[], Iterable[Manifest]]
) -> tuple[str, ...]:
    """Return what somebody has to give and has not; a warning says what could not be looked for."""
    found = Looked()
    for name, api in apis.items():
        try:
            one = look({name: api}, everything, others)
        except Unreachable as error:
            one = Looked(unseen=(f"cluster {name}: nobody could look for what it is given: {error}",))
        found = Looked(missing=(*found.missing, *one.missing), unseen=(*found.unseen, *one.unseen))
    for text in found.unseen:
        pulumi.log.warn(text)
    return found.missing


def _look(
    stack: str,
    api: ApiServer,
    inside: Sequence[tuple[str, Sequence[Rendered]]],
    asking: Names | None,
    *,
    preview: bool,
) -> None:
    """Say what of one cluster a person should know before its objects are applied."""
    if asking is not None:
        told = ask(api, inside, asking)
        _refuse(stack, "with a field that its kind lacks and the vendor's provider would drop", told.unknown)
        for text in told.foreign if preview else ():
            pulumi.log.warn(text)
    single = [item for _, items in inside for item in items if isinstance(item, Manifest)]
    for text in not_ready(api, single) if preview else ():
        pulumi.log.warn(text)


def _refuse(stack: str, what: str, found: Sequence[str]) -> None:
    if found:
        count = "1 object" if len(found) == 1 else f"{len(found)} objects"
        lines = [f"stack {stack}: {count} {what}", *(f"  {text}" for text in found)]
        raise StackError("\n".join(lines))


def gated(rendered: Iterable[tuple[Concept, Iterable[Manifest]]]) -> Iterator[Manifest]:
    """Yield those of the objects of concepts whose kinds must be served before anything is registered.

    What follows a region's first awaited object is left out, but for what brings operators: these come in the same run,
    and are waited for.
    """
    brought = False
    for concept, items in rendered:
        for item in items:
            if not brought or item.kind in OPERATORS:
                yield item
            brought = brought or (isinstance(concept, RegionInput) and item.readiness is not None)


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
    lines = [f"{WAITING}stack {stack} needs {things} not there yet", *(f"  {need}" for need in unmet)]
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
