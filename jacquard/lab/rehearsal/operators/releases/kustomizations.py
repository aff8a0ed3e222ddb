"""What kustomize-controller does across objects, and the Cluster API operator with the manifests that come by it.

No artefact is fetched, so nobody here knows what is in one. A folder that is called as clusterctl calls a provider is
taken to hold what that provider selects: a ConfigMap, as the operator's plug-in makes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from jacquard.lab.rehearsal.operators.releases.installed import source_of
from jacquard.lab.rehearsal.operators.view import Object, View, conditions, deleting, reported
from jacquard.providers.kube.objects import dig

KUSTOMIZE = "kustomize.toolkit.fluxcd.io/v1"
OPERATOR = "operator.cluster.x-k8s.io/v1alpha2"
CORE = "CoreProvider"
PROVIDERS = (CORE, "BootstrapProvider", "ControlPlaneProvider", "InfrastructureProvider", "IPAMProvider")
_ABOUT = "provider.cluster.x-k8s.io/"
APPLIED_BY = ("kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace")
"""Labels that Flux puts on what it applies: name and namespace of the Kustomization."""


def reconcile(view: View) -> None:
    """Move every Kustomization and every provider of Cluster API one step on."""
    attempt(view)
    asking = [
        one
        for kind in PROVIDERS
        for one in view.all(OPERATOR, kind)
        if not deleting(one) and not reported(one, "Ready")
    ]
    if asking:
        _apply(view, asking)
    core = any(reported(one, "Ready") for one in view.all(OPERATOR, CORE))
    for one in asking:
        _check(view, one, core=core)


def attempt(view: View) -> None:
    """Begin anew wherever the source has another revision than the one that was applied, or is being applied."""
    for one in view.all(KUSTOMIZE, "Kustomization"):
        if not deleting(one) and dig(one, "spec", "suspend") is not True:
            _attempt(view, one)


def _attempt(view: View, one: Object) -> None:
    revision = dig(source_of(view, one, "sourceRef"), "status", "artifact", "revision")
    if revision and revision != dig(one, "status", "lastAttemptedRevision"):
        progressing = conditions(one, Ready=("Unknown", "Progressing", "Reconciliation in progress"))
        view.status(one, {"lastAttemptedRevision": revision, **progressing})


def _apply(view: View, providers: list[Object]) -> None:
    """Apply what the artefacts of ``providers`` hold, and take away what they held of these before."""
    applied = {
        (one["spec"].get("targetNamespace"), one["spec"].get("path", "").rpartition("/")[2]): one["metadata"]
        for one in view.all(KUSTOMIZE, "Kustomization")
        if reported(one, "Ready")
    }
    there = list(view.all("v1", "ConfigMap"))
    for one in providers:
        namespace, wanted = one["metadata"]["namespace"], _selected(one)
        applier = applied.get((namespace, _folder(wanted)))
        if applier is not None:
            by = dict(zip(APPLIED_BY, (applier["name"], applier["namespace"]), strict=True))
            for former in there:
                labels = former["metadata"].get("labels") or {}
                here = former["metadata"].get("namespace") == namespace
                if here and by.items() <= labels.items() and not wanted.items() <= labels.items():
                    view.delete(former)
            view.create(_config_map(namespace, wanted, by))


def _folder(selected: dict[str, str]) -> str:
    kind, name = (selected.get(f"{_ABOUT}{key}", "") for key in ("type", "name"))
    return name if kind == "core" else f"{kind}-{name}"


def _config_map(namespace: str, selected: dict[str, str], by: dict[str, str]) -> Object:
    name = "-".join(selected.get(f"{_ABOUT}{key}", "") for key in ("type", "name", "version"))
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {**selected, **by}},
        "data": dict.fromkeys(("metadata", "components"), "simulated"),
    }


def _check(view: View, one: Object, *, core: bool) -> None:
    """Write what keeps a provider from being installed: no core, or other than one ConfigMap that it selects."""
    if one["kind"] != CORE and not core:
        waiting = ("False", "WaitingForCoreProviderReady", "Waiting for the CoreProvider to be installed.")
        patch = conditions(one, PreflightCheckPassed=waiting)
    elif lacking := "; ".join(_lacking(view, one)):
        patch = conditions(one, ProviderInstalled=("False", "ComponentsFetchError", lacking))
    else:
        patch = conditions(one, PreflightCheckPassed=("True", "PreflightChecksPassed", ""))
    if patch:
        view.status(one, patch)


def _lacking(view: View, one: Object) -> Iterator[str]:
    wanted, namespace = _selected(one), one["metadata"]["namespace"]
    if not wanted:
        return
    found = [
        each
        for each in view.all("v1", "ConfigMap")
        if each["metadata"].get("namespace") == namespace
        and wanted.items() <= (each["metadata"].get("labels") or {}).items()
    ]
    selector = ",".join(f"{key}={value}" for key, value in sorted(wanted.items()))
    if len(found) != 1:
        yield f"{len(found)} ConfigMaps found with selector {selector}, one is needed"
    for each in found:
        yield from (f"ConfigMap {namespace}/{each['metadata']['name']} has no {key}" for key in _missing_keys(each))


def _missing_keys(config_map: Object) -> Iterator[str]:
    have = {*(config_map.get("data") or {}), *(config_map.get("binaryData") or {})}
    yield from (key for key in ("metadata", "components") if key not in have)


def _selected(provider: Object) -> dict[str, str]:
    return dict(dig(provider, "spec", "fetchConfig", "selector", "matchLabels") or {})
