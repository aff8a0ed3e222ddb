"""What each kind refers to: a simulated object gets ready only when that is there in the same API server.

A table and one loop. Real controllers report in a condition whether the prerequisites of an object hold; the loop
writes that condition, and the kind's stage waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from jacquard.lab.rehearsal.operators.releases.installed import HELM, SOURCE
from jacquard.lab.rehearsal.operators.view import Object, View, conditions, deleting, reported
from jacquard.providers.kube.objects import dig

_DPF = "provisioning.dpu.nvidia.com/v1alpha1"
_SERVICES = "svc.dpu.nvidia.com/v1alpha1"
_VPC = "vpc.dpu.nvidia.com/v1alpha1"
_IRONIC = "ironic.metal3.io/v1alpha1"
_KUSTOMIZE = "kustomize.toolkit.fluxcd.io/v1"


@dataclass(frozen=True, slots=True)
class Reference:
    """A field that names another object: a name, or a mapping with name and perhaps kind and namespace."""

    path: str
    """Keys with dots; ``[]`` after a key goes through its list or the values of its mapping."""
    api_version: str
    kind: str = ""
    """Kind referred to when the mapping does not say."""
    ready: str = ""
    """Condition that must be True there; empty: being there is enough."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind with references, and how its controller reports on them."""

    api_version: str
    kind: str
    references: tuple[Reference, ...]
    met: tuple[str, str] = ("PrerequisitesReady", "Success")
    """Condition and reason when all are there."""
    unmet: tuple[str, str] = ("PrerequisitesReady", "Pending")
    """Condition (then False) and reason when one is missing."""
    ready: str = "Ready"
    """Condition after which the object is left alone until it changes."""
    initial: dict[str, Any] = field(default_factory=dict)
    """Status to begin with, where the schema requires more than conditions."""


_KUBECONFIG = Reference("spec.kubeConfig.secretRef", "v1", "Secret")

_NAMESPACES = {"HelmRelease": ("storageNamespace", "targetNamespace"), "Kustomization": ("targetNamespace",)}
"""Fields with the namespaces that Flux' objects need in the cluster they install into, by kind."""
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
    """Write for every object of ``subjects`` whether what it refers to is there.

    ``hosted`` returns the objects of a tenant's cluster by its name, or None where nobody answers.
    """
    for subject in subjects:
        for obj in view.all(subject.api_version, subject.kind):
            if deleting(obj) or dig(obj, "spec", "suspend") is True or reported(obj, subject.ready):
                continue
            lacking = missing(view, obj, subject.references) or _missing_there(obj, hosted)
            name, reason = subject.unmet if lacking else subject.met
            patch = conditions(obj, **{name: ("False" if lacking else "True", reason, "; ".join(lacking))})
            if patch:
                view.status(obj, {**({} if "status" in obj else subject.initial), **patch})


def missing(view: View, obj: Object, references: tuple[Reference, ...]) -> list[str]:
    """Return in words which of the ``references`` of ``obj`` lead nowhere, or to something that is not ready."""
    found = []
    for reference in references:
        for value in values(obj, reference.path):
            named = value if isinstance(value, dict) else {"name": value}
            if not named.get("name"):
                continue
            kind = named.get("kind") or reference.kind
            namespace = named.get("namespace") or obj["metadata"].get("namespace")
            target = view.find(reference.api_version, kind, named["name"], namespace)
            place = f"{kind} '{named['name']}'"
            if target is None:
                found.append(f"{place} not found")
            elif reference.ready and not reported(target, reference.ready):
                found.append(f"{place} is not ready")
    return found


def _missing_there(obj: Object, hosted: Callable[[str], View | None]) -> list[str]:
    """Return in words what a release or Kustomization in another cluster lacks there: Flux makes no namespace for it.

    Upstream's: fluxcd/helm-controller docs/spec/v2/helmreleases.md, KubeConfig reference;
    fluxcd/kustomize-controller docs/spec/v1/kustomizations.md, Target namespace.
    """
    secret = dig(obj, "spec", "kubeConfig", "secretRef", "name")
    if obj["kind"] not in _NAMESPACES or not secret:
        return []
    cluster = secret.removesuffix("-kubeconfig")
    there = hosted(cluster)
    if there is None:
        return [f"cluster '{cluster}' does not answer"]
    own = obj["metadata"]["namespace"]
    spaces = dict.fromkeys(obj["spec"].get(field, own) for field in _NAMESPACES[obj["kind"]])
    return [
        f"Namespace '{space}' not found in cluster '{cluster}'"
        for space in spaces
        if there.find("v1", "Namespace", space) is None
    ]


def values(obj: Any, path: str) -> Iterator[Any]:
    """Yield what is at a path of the form described at `Reference`."""
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
