"""What External Secrets Operator does across objects: stores get ready, Secrets are copied, and pushed into clusters.

No store is asked and every value is the same text. What it refuses (external-secrets 2.9.0, ``pkg/controllers``): a
store whose login is not there, a namespace that a store does not serve, a store that is not ready, a Secret or a
namespace that a push does not find. Where a release brings the operator, nothing happens before it is installed;
otherwise the operator counts as the platform's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from jacquard.lab.rehearsal.operators.releases.installed import HELM, chart_of
from jacquard.lab.rehearsal.operators.view import (
    PULL_LOGIN,
    PULL_LOGIN_KEY,
    Object,
    View,
    conditions,
    deleting,
    reported,
    simulated_secret,
)
from jacquard.providers.kube.objects import dig

API = "external-secrets.io/v1"
PUSH_API = "external-secrets.io/v1alpha1"
CHART = "external-secrets"
_CLUSTER_STORE = "ClusterSecretStore"

Hosted = Callable[[str], View | None]


def reconcile(view: View, hosted: Hosted) -> None:
    """Move every store, every copied Secret and every pushed one a step on.

    ``hosted`` returns the objects of a tenant's cluster by its name, or None where nobody answers.
    """
    releases = [one for one in view.all(HELM, "HelmRelease") if chart_of(view, one) == CHART]
    if releases and not any(reported(one, "Ready") for one in releases):
        return
    for kind in (_CLUSTER_STORE, "SecretStore"):
        for store in _alive(view, API, kind):
            _report(view, store, ("Valid", "InvalidProviderConfig"), _unreached(view, store))
    for item in _alive(view, API, "ExternalSecret"):
        lacking = _refused(view, item)
        if not lacking:
            target = dig(item, "spec", "target", "name") or item["metadata"]["name"]
            _write(view, target, item["metadata"]["namespace"], [one["secretKey"] for one in item["spec"]["data"]])
        _report(view, item, ("SecretSynced", "SecretSyncedError"), lacking)
    for item in _alive(view, PUSH_API, "PushSecret"):
        _report(view, item, ("Synced", "Errored"), _pushed(view, item, hosted))


def _alive(view: View, api_version: str, kind: str) -> Iterator[Object]:
    return (item for item in view.all(api_version, kind) if not deleting(item))


def _report(view: View, obj: Object, reasons: tuple[str, str], lacking: str) -> None:
    """Write the one condition, which does not say for which generation it holds: its schema has no field for that."""
    synced, failed = reasons
    status, reason = ("False", failed) if lacking else ("True", synced)
    said = {"type": "Ready", "status": status, "reason": reason, "message": lacking}
    if any(said.items() <= one.items() for one in dig(obj, "status", "conditions") or ()):
        return
    [ready] = conditions(obj, Ready=(status, reason, lacking))["conditions"]
    del ready["observedGeneration"]
    view.status(obj, {"conditions": [ready]})


def _unreached(view: View, store: Object) -> str:
    """Return in words what the operator lacks to log in to a store: an account, a certificate, a kubeconfig."""
    provider, own = store["spec"]["provider"], store["metadata"].get("namespace")
    authority = dig(provider, "vault", "caProvider") or {}
    named = (
        ("ServiceAccount", dig(provider, "vault", "auth", "kubernetes", "serviceAccountRef")),
        (authority.get("type", ""), authority),
        ("Secret", dig(provider, "kubernetes", "authRef")),
    )
    return "; ".join(filter(None, (_missing(view, kind, one, own) for kind, one in named if one)))


def _missing(view: View, kind: str, named: Object, namespace: str | None) -> str:
    found = view.find("v1", kind, named["name"], named.get("namespace") or namespace)
    if found is None:
        return f"{kind} '{named['name']}' not found"
    key = named.get("key")
    return f"{kind} '{named['name']}' has no key '{key}'" if key and not dig(found, "data", key) else ""


def _refused(view: View, item: Object) -> str:
    """Return in words why a store gives an ExternalSecret nothing."""
    named, place = item["spec"]["secretStoreRef"], item["metadata"]["namespace"]
    kind, name = named.get("kind", "SecretStore"), named["name"]
    store = view.find(API, kind, name, place)
    if store is None:
        return f"{kind} '{name}' not found"
    if kind == _CLUSTER_STORE and not _serves(view, store, place):
        return f"using cluster store '{name}' is not allowed from namespace '{place}': denied by spec.condition"
    return "" if reported(store, "Ready") else f"{kind} '{name}' is not ready"


def _serves(view: View, store: Object, place: str) -> bool:
    """Return whether a store serves a namespace; of what selects one, names and labels are known here."""
    wanted = dig(store, "spec", "conditions") or ()
    labels = dig(view.find("v1", "Namespace", place), "metadata", "labels") or {}
    selectors = [dig(one, "namespaceSelector", "matchLabels") for one in wanted]
    named = any(place in one.get("namespaces", ()) for one in wanted)
    return not wanted or named or any(one.items() <= labels.items() for one in selectors if one)


def _pushed(view: View, item: Object, hosted: Hosted) -> str:
    """Push a Secret wherever it goes, or return in words why that cannot be."""
    place, source = item["metadata"]["namespace"], dig(item, "spec", "selector", "secret", "name")
    lacking = _missing(view, "Secret", {"name": source}, place)
    for named in item["spec"]["secretStoreRefs"]:
        store = view.find(API, "SecretStore", named["name"], place)
        if lacking or store is None or not reported(store, "Ready"):
            return lacking or f"SecretStore '{named['name']}' is not ready"
        provider = store["spec"]["provider"]["kubernetes"]
        cluster, inside = provider["authRef"]["name"].removesuffix("-kubeconfig"), provider["remoteNamespace"]
        there = hosted(cluster)
        if there is None or there.find("v1", "Namespace", inside) is None:
            return f"namespace '{inside}' of cluster '{cluster}' not found"
        keys: dict[str, list[str]] = {}
        for remote in (one["match"]["remoteRef"] for one in item["spec"]["data"]):
            keys.setdefault(remote["remoteKey"], []).append(remote["property"])
        for name, properties in keys.items():
            _write(there, name, inside, properties)
    return ""


def _write(view: View, name: str, namespace: str, keys: list[str]) -> None:
    """Write a Secret, unless it has these keys."""
    found = view.find("v1", "Secret", name, namespace)
    if found is not None and {*keys} <= (found.get("data") or {}).keys():
        return
    view.apply(simulated_secret(name, namespace, keys, PULL_LOGIN if keys == [PULL_LOGIN_KEY] else None))
