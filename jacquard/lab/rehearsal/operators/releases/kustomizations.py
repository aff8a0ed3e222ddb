"""Simulated kustomize-controller, and the simulated Cluster API operator for the applied manifests.

Artifacts are not downloaded, so their content is unknown. A folder with the clusterctl name of a provider is assumed to
contain the ConfigMap that this provider selects, as created by the operator's plug-in. The Deployments of IronCore's
operators are created, because Services of the region wait for their pods.
"""

from collections.abc import Iterator

from jacquard.lab.rehearsal.images import PAUSE
from jacquard.lab.rehearsal.operators import references
from jacquard.lab.rehearsal.operators.releases.installed import is_of, source_of
from jacquard.lab.rehearsal.operators.releases.provider_manifests import refusals
from jacquard.lab.rehearsal.operators.view import Object, View, conditions, deleting, reported
from jacquard.providers.kube.objects import dig

KUSTOMIZE = "kustomize.toolkit.fluxcd.io/v1"
OPERATOR = "operator.cluster.x-k8s.io/v1alpha2"
CORE = "CoreProvider"
PROVIDERS = (CORE, "BootstrapProvider", "ControlPlaneProvider", "InfrastructureProvider", "IPAMProvider")
_ROLES = dict(zip(PROVIDERS[1:], ("bootstrap", "control-plane", "infrastructure", "ipam"), strict=True))
_ABOUT = "provider.cluster.x-k8s.io/"
APPLIED_BY = ("kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace")
"""Labels that Flux sets on applied objects: name and namespace of the Kustomization."""
_DEPLOYMENTS = {"ironcore-metal": ("metal-operator", "boot-operator")}
"""Operators in the management cluster by the last part of the URL of their manifests. The labels are those of
``config/manager/manager.yaml`` in the repository of each operator."""
_FLUX = "flux"
"""Last part of the URL of the manifests of Flux."""


def reconcile(view: View) -> None:
    """Update all Kustomizations, their operators and all providers of Cluster API."""
    attempt(view)
    _deploy(view)
    pending = [
        item
        for kind in PROVIDERS
        for item in view.all(OPERATOR, kind)
        if not deleting(item) and not reported(item, "Ready")
    ]
    if pending:
        _apply(view, pending)
    core = any(reported(item, "Ready") for item in view.all(OPERATOR, CORE))
    for item in pending:
        _check(view, item, core=core)


def attempt(view: View) -> None:
    """Start a reconciliation of each Kustomization whose source has a new revision."""
    for item in view.all(KUSTOMIZE, "Kustomization"):
        if not deleting(item) and dig(item, "spec", "suspend") is not True:
            _attempt(view, item)


def _attempt(view: View, item: Object) -> None:
    revision = dig(source_of(view, item, "sourceRef"), "status", "artifact", "revision")
    if revision and revision != dig(item, "status", "lastAttemptedRevision"):
        progressing = conditions(item, Ready=("Unknown", "Progressing", "Reconciliation in progress"))
        view.status(item, {"lastAttemptedRevision": revision, **progressing})


def _deploy(view: View) -> None:
    """Create the Deployments of the operators whose manifests are applied."""
    for item in view.all(KUSTOMIZE, "Kustomization"):
        if reported(item, "Ready") and not deleting(item) and not dig(item, "spec", "kubeConfig"):
            for operator in _DEPLOYMENTS.get(_artefact(view, item), ()):
                body = _deployment(operator, item)
                metadata = body["metadata"]
                if view.find("apps/v1", "Deployment", metadata["name"], metadata["namespace"]) is None:
                    view.create(body)


def _artefact(view: View, item: Object) -> str:
    """Return the last part of the URL of the manifests that a Kustomization applies; empty without its source."""
    return str(dig(source_of(view, item, "sourceRef"), "spec", "url") or "").rpartition("/")[2]


def _deployment(operator: str, applier: Object) -> Object:
    labels = {"control-plane": "controller-manager", "app.kubernetes.io/name": operator}
    namespace = dig(applier, "spec", "targetNamespace")
    name = f"{operator}-controller-manager"
    containers = [{"name": "manager", "image": PAUSE}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels | _applied_by(applier)},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }


def _apply(view: View, providers: list[Object]) -> None:
    """Create the ConfigMaps of ``providers``, and delete previous ConfigMaps."""
    applied = {
        (item["spec"].get("targetNamespace"), item["spec"].get("path", "").rpartition("/")[2]): item
        for item in view.all(KUSTOMIZE, "Kustomization")
        if reported(item, "Ready")
    }
    config_maps = list(view.all("v1", "ConfigMap"))
    for item in providers:
        namespace, wanted = item["metadata"]["namespace"], _selected(item)
        applier = applied.get((namespace, _folder(wanted)))
        if applier is not None:
            by = _applied_by(applier)
            for former in config_maps:
                labels = former["metadata"].get("labels") or {}
                same_namespace = former["metadata"].get("namespace") == namespace
                if same_namespace and by.items() <= labels.items() and not wanted.items() <= labels.items():
                    view.delete(former)
            view.create(_config_map(namespace, wanted, by))


def _applied_by(applier: Object) -> dict[str, str]:
    """Return the labels of objects that a Kustomization applies."""
    return dict(zip(APPLIED_BY, (applier["metadata"]["name"], applier["metadata"]["namespace"]), strict=True))


def _folder(selected: dict[str, str]) -> str:
    kind, name = (selected.get(f"{_ABOUT}{key}", "") for key in ("type", "name"))
    return name if kind == "core" else f"{kind}-{name}"


def _label(provider: Object) -> str:
    name = provider["metadata"]["name"]
    return name if provider["kind"] == CORE else f"{_ROLES[provider['kind']]}-{name}"


def _config_map(namespace: str, selected: dict[str, str], by: dict[str, str]) -> Object:
    name = "-".join(selected.get(f"{_ABOUT}{key}", "") for key in ("type", "name", "version"))
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {**selected, **by}},
        "data": dict.fromkeys(("metadata", "components"), "simulated"),
    }


def _check(view: View, item: Object, *, core: bool) -> None:
    """Write the condition of a provider: a missing core, not exactly one selected ConfigMap, or wrong arguments."""
    if item["kind"] != CORE and not core:
        waiting = ("False", "WaitingForCoreProviderReady", "Waiting for the CoreProvider to be installed.")
        patch = conditions(item, PreflightCheckPassed=waiting)
    elif lacking := "; ".join(_lacking(view, item)):
        patch = conditions(item, ProviderInstalled=("False", "ComponentsFetchError", lacking))
    elif refused := "; ".join(refusals(_label(item), item["spec"])):
        patch = conditions(item, ProviderInstalled=("False", "ComponentsCustomizationError", refused))
    else:
        patch = conditions(item, PreflightCheckPassed=("True", "PreflightChecksPassed", ""))
    if patch:
        view.status(item, patch)


def _lacking(view: View, item: Object) -> Iterator[str]:
    wanted, namespace = _selected(item), item["metadata"]["namespace"]
    if not wanted:
        return
    selected = [
        each
        for each in view.all("v1", "ConfigMap")
        if each["metadata"].get("namespace") == namespace
        and wanted.items() <= (each["metadata"].get("labels") or {}).items()
    ]
    selector = ",".join(f"{key}={value}" for key, value in sorted(wanted.items()))
    if len(selected) != 1:
        yield f"{len(selected)} ConfigMaps found with selector {selector}, one is needed"
    for each in selected:
        yield from (f"ConfigMap {namespace}/{each['metadata']['name']} has no {key}" for key in _missing_keys(each))


def _missing_keys(config_map: Object) -> Iterator[str]:
    have = {*(config_map.get("data") or {}), *(config_map.get("binaryData") or {})}
    yield from (key for key in ("metadata", "components") if key not in have)


def _selected(provider: Object) -> dict[str, str]:
    return dict(dig(provider, "spec", "fetchConfig", "selector", "matchLabels") or {})


def in_tenant(management: View, cluster: str, view: View) -> None:
    """Update repositories and Kustomizations of a tenant's ``cluster``, if Flux is installed there."""
    if _has_flux(management, cluster):
        attempt(view)
        references.report(view, lambda _: None, references.FLUX)


def _has_flux(management: View, cluster: str) -> bool:
    for kustomization in management.all(KUSTOMIZE, "Kustomization"):
        is_there = is_of(cluster, kustomization) and reported(kustomization, "Ready") and not deleting(kustomization)
        if is_there and _artefact(management, kustomization) == _FLUX:
            return True
    return False
