"""Checks the prerequisites of a stack before resources are registered; missing prerequisites are not failures.

Operators install CRDs, and control planes start, asynchronously. Without these prerequisites a stack would hang or
leave a partially applied region, so all prerequisites are checked first and reported together.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pulumi

from components.lookups.references.needs import OPERATORS
from components.render.concept import Concept, Made
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import MANAGEMENT, Manifest, Rendered, objects
from components.render.region.region import RegionInput
from components.specs.base import Stage
from components.specs.region.region import RegionSpec
from jacquard.providers.kube import ApiServer, KindNotFound, KubeconfigError, ObjectRef, Unreachable
from stacks import kubeconfig
from stacks.errors import StackError
from stacks.markers import WAITING
from stacks.prerequisites import PrerequisiteCheck, look
from stacks.probes import not_ready, unreadable
from stacks.validation import Names, object_errors

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
    recorded: Names | None = None,
) -> None:
    """Check the prerequisites of ``made``, and refresh the kubeconfigs of their tenant clusters.

    A preview continues without tenant clusters, and reports unchecked objects and objects that are not ready. External
    prerequisites are only checked when a region with real hardware is applied.

    Args:
        stack: name of the stack.
        region: region of the stack.
        made: rendered concepts of the stack.
        kubeconfigs: folder of the kubeconfigs.
        preview: whether the run is a preview.
        others: function that renders all objects of the region; only called if a prerequisite seems to be missing.
        recorded: recorded objects of the stack, to query API servers for errors that plug-ins do not report; or None.

    Raises:
        StackError: a wait condition is invalid, or an object has an unknown field.
        RunError: a prerequisite is missing; the text starts with ``waiting: `` and ends with the command to resume. Or
            the management cluster does not answer.
        ApiError: the management cluster rejects a request.
    """
    made_here = {item.concept.name for item in made if isinstance(item.concept, HostedControlPlaneInput)}
    shown = [(item.concept, item.rendered) for item in made]
    rendered = [(concept, tuple(objects(items))) for concept, items in shown]
    everything = [item for _, items in rendered for item in items]
    _refuse(stack, "with an invalid wait condition", unreadable(everything))
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
    present = {name: kubeconfig.path(kubeconfigs, name) for name in clusters if name not in absent}
    inner = {name: ApiServer.from_kubeconfig(file, timeout_seconds=_TIMEOUT_SECONDS) for name, file in present.items()}
    apis = {MANAGEMENT: management, **inner}
    lacking = () if preview or region.stage is Stage.REHEARSAL else _missing_prerequisites(apis, everything, others)
    require(stack, unmet if preview else [*unmet, *waiting, *lacking])
    for text in unchecked(everything, absent) if preview else ():
        pulumi.log.warn(text)
    for name, api in apis.items():
        inside = [(concept.name, [item for item in items if item.cluster == name]) for concept, items in shown]
        try:
            _look(stack, api, inside, recorded, preview=preview)
        except Unreachable as error:
            pulumi.log.warn(f"cluster {name}: its objects were not checked: {error}")


def _missing_prerequisites(
    apis: Mapping[str, ApiServer], everything: Sequence[Manifest], others: Callable[[], Iterable[Manifest]]
) -> tuple[str, ...]:
    """Return the missing external prerequisites; log a warning for prerequisites that could not be checked."""
    result = PrerequisiteCheck()
    for name, api in apis.items():
        try:
            checked = look({name: api}, everything, others)
        except Unreachable as error:
            checked = PrerequisiteCheck(unchecked=(f"cluster {name}: its prerequisites could not be checked: {error}",))
        result = PrerequisiteCheck(
            missing=(*result.missing, *checked.missing), unchecked=(*result.unchecked, *checked.unchecked)
        )
    for text in result.unchecked:
        pulumi.log.warn(text)
    return result.missing


def _look(
    stack: str,
    api: ApiServer,
    inside: Sequence[tuple[str, Sequence[Rendered]]],
    recorded: Names | None,
    *,
    preview: bool,
) -> None:
    """Report errors and warnings about the objects of one cluster before they are applied."""
    if recorded is not None:
        report = object_errors(api, inside, recorded)
        _refuse(stack, "with an unknown field, which the vendor's provider would drop", report.unknown)
        for text in report.foreign if preview else ():
            pulumi.log.warn(text)
    single = [item for _, items in inside for item in items if isinstance(item, Manifest)]
    for text in not_ready(api, single) if preview else ():
        pulumi.log.warn(text)


def _refuse(stack: str, what: str, errors: Sequence[str]) -> None:
    if errors:
        lines = [f"stack {stack}: {_objects(len(errors))} {what}", *(f"  {text}" for text in errors)]
        raise StackError("\n".join(lines))


def gated(rendered: Iterable[tuple[Concept, Iterable[Manifest]]]) -> Iterator[Manifest]:
    """Yield the objects whose kinds must be served before resources are registered.

    Objects after a region's first awaited object are omitted, because the run itself installs their operators and waits
    for them. Operators are always included.
    """
    after_wait = False
    for concept, items in rendered:
        for item in items:
            if not after_wait or item.kind in OPERATORS:
                yield item
            after_wait = after_wait or (isinstance(concept, RegionInput) and item.readiness is not None)


def missing_kinds(management: ApiServer, wanted: Iterable[Manifest]) -> list[str]:
    """Return a message for each kind of ``wanted`` whose CRD is missing in the management cluster.

    Raises:
        ApiError: the management cluster does not answer, or rejects the request.
    """
    kinds = sorted({(item.kind, item.api_version) for item in wanted if item.cluster == MANAGEMENT})
    return [
        f"kind {kind} ({api_version}) is not served by the management cluster: its operator has not installed the CRD"
        for kind, api_version in kinds
        if not _served(management, api_version, kind)
    ]


def missing_control_planes(management: ApiServer, clusters: Iterable[str]) -> list[str]:
    """Return a message for each of the ``clusters`` whose control plane is not initialized.

    Raises:
        ApiError: the management cluster does not answer, or rejects the request.
    """
    return [
        f"control plane of cluster {cluster} is not initialized: the stack of its tenant creates it"
        for cluster in sorted(clusters)
        if not _initialized(management, cluster)
    ]


def require(stack: str, unmet: Sequence[str]) -> None:
    """Check that there are no unmet prerequisites.

    Raises:
        RunError: a prerequisite is unmet.
    """
    if not unmet:
        return
    count = "1 missing prerequisite" if len(unmet) == 1 else f"{len(unmet)} missing prerequisites"
    lines = [f"{WAITING}stack {stack} has {count}", *(f"  {need}" for need in unmet)]
    raise pulumi.RunError("\n".join([*lines, f"resume with: pulumi up -s {stack}"]))


def unchecked(items: Iterable[Manifest], clusters: Iterable[str]) -> list[str]:
    """Return a message for each of ``clusters``: its objects were not checked, because it does not exist yet."""
    counts = Counter(item.cluster for item in items)
    return [f"cluster {cluster} does not exist yet: {_objects(counts[cluster])} not checked" for cluster in clusters]


def _objects(count: int) -> str:
    return "1 object" if count == 1 else f"{count} objects"


def _remedy(region: RegionSpec, kubeconfigs: Path) -> str:
    if region.stage is Stage.REHEARSAL:
        return f"create the clusters with: pulumi up -s {region.region}.bootstrap, or jacquard up {region.region}"
    return f"check that {kubeconfig.path(kubeconfigs, MANAGEMENT)} reaches context {region.context} from this machine"


def _served(api: ApiServer, api_version: str, kind: str) -> bool:
    try:
        api.resource(api_version, kind)
    except KindNotFound:
        return False
    return True


def _initialized(management: ApiServer, cluster: str) -> bool:
    try:
        body = management.get(ObjectRef(_CLUSTER_API, "Cluster", cluster, cluster)) or {}
    except KindNotFound:
        return False
    return body.get("status", {}).get("initialization", {}).get("controlPlaneInitialized") is True
