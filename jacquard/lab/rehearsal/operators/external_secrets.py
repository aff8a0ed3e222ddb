"""Simulated External Secrets Operator: stores become ready, Secrets are copied, and pushed into clusters.

No store is contacted, and all values are the same text. The simulation reports the errors of the real operator
(external-secrets 2.9.0, ``pkg/controllers``) for a store without its login, a namespace that a store does not serve, a
store that is not ready, and a missing Secret or namespace of a push. If a release contains the operator, the simulation
starts after the installation of the release; otherwise, the operator is part of the platform.
"""

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
    """Update all stores, copied Secrets and pushed Secrets.

    ``hosted`` returns the objects of a tenant's cluster by name, or None if it does not respond.
    """
    releases = [release for release in view.all(HELM, "HelmRelease") if chart_of(view, release) == CHART]
    if releases and not any(reported(release, "Ready") for release in releases):
        return
    for kind in (_CLUSTER_STORE, "SecretStore"):
        for store in _alive(view, API, kind):
            _report(view, store, ("Valid", "InvalidProviderConfig"), _unreached(view, store))
    for item in _alive(view, API, "ExternalSecret"):
        lacking = _refused(view, item)
        if not lacking:
            target = dig(item, "spec", "target", "name") or item["metadata"]["name"]
            _write(view, target, item["metadata"]["namespace"], [entry["secretKey"] for entry in item["spec"]["data"]])
        _report(view, item, ("SecretSynced", "SecretSyncedError"), lacking)
    for item in _alive(view, PUSH_API, "PushSecret"):
        _report(view, item, ("Synced", "Errored"), _pushed(view, item, hosted))


def _alive(view: View, api_version: str, kind: str) -> Iterator[Object]:
    return (item for item in view.all(api_version, kind) if not deleting(item))


def _report(view: View, obj: Object, reasons: tuple[str, str], lacking: str) -> None:
    """Write the condition Ready, without ``observedGeneration``, which is not in the schema."""
    synced, failed = reasons
    status, reason = ("False", failed) if lacking else ("True", synced)
    wanted = {"type": "Ready", "status": status, "reason": reason, "message": lacking}
    if any(wanted.items() <= condition.items() for condition in dig(obj, "status", "conditions") or ()):
        return
    [ready] = conditions(obj, Ready=(status, reason, lacking))["conditions"]
    del ready["observedGeneration"]
    view.status(obj, {"conditions": [ready]})


def _unreached(view: View, store: Object) -> str:
    """Return a message for the missing login of a store: account, certificate or kubeconfig."""
    provider, namespace = store["spec"]["provider"], store["metadata"].get("namespace")
    authority = dig(provider, "vault", "caProvider") or {}
    references = (
        ("ServiceAccount", dig(provider, "vault", "auth", "kubernetes", "serviceAccountRef")),
        (authority.get("type", ""), authority),
        ("Secret", dig(provider, "kubernetes", "authRef")),
    )
    return "; ".join(
        filter(None, (_missing(view, kind, reference, namespace) for kind, reference in references if reference))
    )


def _missing(view: View, kind: str, reference: Object, namespace: str | None) -> str:
    target = view.find("v1", kind, reference["name"], reference.get("namespace") or namespace)
    if target is None:
        return f"{kind} '{reference['name']}' not found"
    key = reference.get("key")
    return f"{kind} '{reference['name']}' has no key '{key}'" if key and not dig(target, "data", key) else ""


def _refused(view: View, item: Object) -> str:
    """Return a message if a store rejects an ExternalSecret."""
    reference, place = item["spec"]["secretStoreRef"], item["metadata"]["namespace"]
    kind, name = reference.get("kind", "SecretStore"), reference["name"]
    store = view.find(API, kind, name, place)
    if store is None:
        return f"{kind} '{name}' not found"
    if kind == _CLUSTER_STORE and not _serves(view, store, place):
        return f"using cluster store '{name}' is not allowed from namespace '{place}': denied by spec.condition"
    return "" if reported(store, "Ready") else f"{kind} '{name}' is not ready"


def _serves(view: View, store: Object, place: str) -> bool:
    """Return whether a store serves a namespace; only conditions by name and by label are supported."""
    rules = dig(store, "spec", "conditions") or ()
    labels = dig(view.find("v1", "Namespace", place), "metadata", "labels") or {}
    selectors = [dig(rule, "namespaceSelector", "matchLabels") for rule in rules]
    by_name = any(place in rule.get("namespaces", ()) for rule in rules)
    return not rules or by_name or any(selector.items() <= labels.items() for selector in selectors if selector)


def _pushed(view: View, item: Object, hosted: Hosted) -> str:
    """Push a Secret to all its stores, or return a message if that is not possible."""
    place, source = item["metadata"]["namespace"], dig(item, "spec", "selector", "secret", "name")
    lacking = _missing(view, "Secret", {"name": source}, place)
    for reference in item["spec"]["secretStoreRefs"]:
        store = view.find(API, "SecretStore", reference["name"], place)
        if lacking or store is None or not reported(store, "Ready"):
            return lacking or f"SecretStore '{reference['name']}' is not ready"
        provider = store["spec"]["provider"]["kubernetes"]
        cluster, inside = provider["authRef"]["name"].removesuffix("-kubeconfig"), provider["remoteNamespace"]
        target = hosted(cluster)
        if target is None or target.find("v1", "Namespace", inside) is None:
            return f"namespace '{inside}' of cluster '{cluster}' not found"
        keys: dict[str, list[str]] = {}
        for remote in (entry["match"]["remoteRef"] for entry in item["spec"]["data"]):
            keys.setdefault(remote["remoteKey"], []).append(remote["property"])
        for name, properties in keys.items():
            _write(target, name, inside, properties)
    return ""


def _write(view: View, name: str, namespace: str, keys: list[str]) -> None:
    """Write a Secret, unless it already has these keys."""
    existing = view.find("v1", "Secret", name, namespace)
    if existing is not None and {*keys} <= (existing.get("data") or {}).keys():
        return
    view.apply(simulated_secret(name, namespace, keys, PULL_LOGIN if keys == [PULL_LOGIN_KEY] else None))
