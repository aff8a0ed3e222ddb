"""References of each kind: a simulated object becomes ready only if its references exist in the same API server.

As with real controllers, a condition reports whether the prerequisites of an object are met. A loop over a table of
references writes this condition, and the stage of the kind waits for it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from jacquard.lab.rehearsal.operators.releases.installed import HELM, SOURCE, cluster_of
from jacquard.lab.rehearsal.operators.releases.services import unplaced
from jacquard.lab.rehearsal.operators.view import Object, View, conditions, deleting, reported
from jacquard.providers.kube.objects import dig

_DPF = "provisioning.dpu.nvidia.com/v1alpha1"
_SERVICES = "svc.dpu.nvidia.com/v1alpha1"
_VPC = "vpc.dpu.nvidia.com/v1alpha1"
_IRONIC = "ironic.metal3.io/v1alpha1"
_KUSTOMIZE = "kustomize.toolkit.fluxcd.io/v1"


@dataclass(frozen=True, slots=True)
class Reference:
    """A field that refers to another object: a name, or a mapping with a name and an optional kind and namespace."""

    path: str
    """Keys separated by dots; ``[]`` after a key iterates over its list or the values of its mapping."""
    api_version: str
    kind: str = ""
    """Kind of the object if the mapping contains no kind."""
    ready: str = ""
    """Condition of the object that must be True; empty: the object only has to exist."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind with references, and the conditions in which its controller reports the references."""

    api_version: str
    kind: str
    references: tuple[Reference, ...]
    met: tuple[str, str] = ("PrerequisitesReady", "Success")
    """Condition and reason if all references are met."""
    unmet: tuple[str, str] = ("PrerequisitesReady", "Pending")
    """Condition (with status False) and reason if a reference is not met."""
    ready: str = "Ready"
    """Condition that ends the checks until the object changes."""
    initial: dict[str, Any] = field(default_factory=dict)
    """Initial status, if the schema requires more than conditions."""


_KUBECONFIG = Reference("spec.kubeConfig.secretRef", "v1", "Secret")

_NAMESPACES = {"HelmRelease": ("storageNamespace", "targetNamespace"), "Kustomization": ("targetNamespace",)}
"""Fields with namespaces that Flux' objects require in their target cluster, by kind."""
FLUX = (
    Subject(
        SOURCE,
        "GitRepository",
        (Reference("spec.secretRef", "v1", "Secret"),),
        met=("Reconciling", "Progressing"),
        unmet=("Ready", "AuthenticationFailed"),
    ),
    Subject(
        HELM,
        "HelmRelease",
        (
            Reference("spec.chartRef", SOURCE, "OCIRepository", ready="Ready"),
            Reference("spec.chart.spec.sourceRef", SOURCE, "HelmRepository", ready="Ready"),
            Reference("spec.dependsOn[]", HELM, "HelmRelease", ready="Ready"),
            Reference("spec.valuesFrom[]", "v1", "ConfigMap"),
            _KUBECONFIG,
        ),
        met=("Reconciling", "Progressing"),
        unmet=("Ready", "SourceNotReady"),
    ),
    Subject(
        _KUSTOMIZE,
        "Kustomization",
        (
            Reference("spec.sourceRef", SOURCE, "OCIRepository", ready="Ready"),
            Reference("spec.dependsOn[]", _KUSTOMIZE, "Kustomization", ready="Ready"),
            _KUBECONFIG,
        ),
        met=("Reconciling", "Progressing"),
        unmet=("Ready", "ArtifactFailed"),
    ),
)
SUBJECTS = (
    *FLUX,
    Subject(
        _IRONIC,
        "Ironic",
        (Reference("spec.tls.certificateName", "v1", "Secret"), Reference("spec.tls.bmcCA", "v1", "Secret")),
        met=("Ready", "DeploymentAvailable"),
        unmet=("Ready", "DeploymentFailed"),
    ),
    Subject(
        _SERVICES,
        "DPUDeployment",
        (
            Reference("spec.dpus.bfb", _DPF, "BFB"),
            Reference("spec.dpus.flavor", _DPF, "DPUFlavor"),
            Reference("spec.services[].serviceTemplate", _SERVICES, "DPUServiceTemplate", ready="Ready"),
            Reference("spec.services[].serviceConfiguration", _SERVICES, "DPUServiceConfiguration"),
        ),
    ),
    Subject(
        _DPF,
        "DPU",
        (
            Reference("spec.bfb", _DPF, "BFB", ready="Ready"),
            Reference("spec.dpuFlavor", _DPF, "DPUFlavor"),
            Reference("spec.dpuNodeName", _DPF, "DPUNode"),
            Reference("spec.dpuDeviceName", _DPF, "DPUDevice"),
            Reference("spec.cluster", _DPF, "DPUCluster", ready="Ready"),
        ),
        initial={"phase": "Initializing"},
    ),
    Subject(_VPC, "DPUVPC", (Reference("spec.isolationClassName", _VPC, "IsolationClass"),)),
    Subject(_VPC, "DPUVirtualNetwork", (Reference("spec.vpcName", _VPC, "DPUVPC", ready="Ready"),)),
)


def report(view: View, hosted: Callable[[str], View | None], subjects: tuple[Subject, ...] = SUBJECTS) -> None:
    """Write the condition of each object of ``subjects`` that reports whether its references are met.

    ``hosted`` returns the objects of a tenant's cluster by name, or None if it does not respond.
    """
    for subject in subjects:
        for obj in view.all(subject.api_version, subject.kind):
            if deleting(obj) or dig(obj, "spec", "suspend") is True or reported(obj, subject.ready):
                continue
            lacking = missing(view, obj, subject.references) or _missing_namespaces(obj, hosted)
            name, reason = subject.unmet if lacking else subject.met
            changed = {name: ("False" if lacking else "True", reason, "; ".join(lacking))}
            if not lacking and (waits := unplaced(obj, _target(obj, hosted))):
                changed = {"Ready": ("Unknown", "Progressing", waits)}
            patch = conditions(obj, **changed)
            if patch:
                view.status(obj, {**({} if "status" in obj else subject.initial), **patch})


def missing(view: View, obj: Object, references: tuple[Reference, ...]) -> list[str]:
    """Return a message for each reference of ``obj`` whose object does not exist or is not ready."""
    messages = []
    for reference in references:
        for value in values(obj, reference.path):
            fields = value if isinstance(value, dict) else {"name": value}
            if not fields.get("name"):
                continue
            kind = fields.get("kind") or reference.kind
            namespace = fields.get("namespace") or obj["metadata"].get("namespace")
            target = view.find(reference.api_version, kind, fields["name"], namespace)
            identity = f"{kind} '{fields['name']}'"
            if target is None:
                messages.append(f"{identity} not found")
            elif reference.ready and not reported(target, reference.ready):
                messages.append(f"{identity} is not ready")
    return messages


def _missing_namespaces(obj: Object, hosted: Callable[[str], View | None]) -> list[str]:
    """Return a message for each missing namespace of a release or Kustomization in another cluster.

    Flux does not create namespaces there (upstream fluxcd/helm-controller docs/spec/v2/helmreleases.md, KubeConfig
    reference; fluxcd/kustomize-controller docs/spec/v1/kustomizations.md, Target namespace).
    """
    cluster, target = cluster_of(obj), _target(obj, hosted)
    if obj["kind"] not in _NAMESPACES or not cluster:
        return []
    if target is None:
        return [f"cluster '{cluster}' does not answer"]
    default = obj["metadata"]["namespace"]
    spaces = dict.fromkeys(obj["spec"].get(field, default) for field in _NAMESPACES[obj["kind"]])
    return [
        f"Namespace '{space}' not found in cluster '{cluster}'"
        for space in spaces
        if target.find("v1", "Namespace", space) is None
    ]


def _target(obj: Object, hosted: Callable[[str], View | None]) -> View | None:
    """Return the cluster to which Flux applies ``obj``; None for its own cluster, or if it does not respond."""
    return hosted(cluster_of(obj)) if cluster_of(obj) else None


def values(obj: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path with the syntax of `Reference`."""
    head, _, rest = path.partition(".")
    inner = obj.get(head.removesuffix("[]")) if isinstance(obj, dict) else None
    if inner is None:
        return
    items = [inner]
    if head.endswith("[]"):
        items = list(inner.values()) if isinstance(inner, dict) else inner
    for item in items:
        if rest:
            yield from values(item, rest)
        else:
            yield item
