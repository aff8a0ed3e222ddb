"""What Flux' helm-controller does with releases in tenants' clusters whose charts are here: the real helm renders them.

Such a release has the controller's finalizer, which tells everybody else to leave it alone. All other releases are
simulated: a stage says that they are installed, and `agents` plays what acts on nodes. Not applied are webhooks, which
nothing would answer, and hooks; kinds stay when a release goes, since the region had them before.
"""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from providers.kube.objects import dig
from rehearsal import crds
from rehearsal.charts import KIND, Charts, HelmError
from rehearsal.operators.view import LOG, Object, View, conditions, deleting, reported

RELEASE = ("helm.toolkit.fluxcd.io/v2", "HelmRelease")
FLUX_NAME, FLUX_NAMESPACE = "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"
"""Labels that Flux puts on what it installs."""
FINALIZER = "finalizers.fluxcd.io"
FIELD_MANAGER = "helm-controller"
_HELM_NAME, _HELM_NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
_WEBHOOKS = {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}
_STORED = "helm.sh/release.v1"
_AGAIN_SECONDS = 10.0
"""After what length of time a release that failed is tried again."""


def is_real(release: Object) -> bool:
    """Tell whether what the release installs is rendered by helm."""
    return FINALIZER in (release["metadata"].get("finalizers") or ())


def is_from_helm(obj: Object) -> bool:
    """Tell whether an object in a tenant's cluster is part of a chart."""
    return _HELM_NAME in (obj["metadata"].get("annotations") or {})


class Releases:
    """The helm-controller of a region."""

    def __init__(self, charts: Charts | None) -> None:
        """Work with ``charts``, or leave all releases to simulation where helm is not built."""
        self._charts = charts
        self._not_before: dict[str, float] = {}
        self._told: set[str] = set()

    def reconcile(self, management: View, hosted: Callable[[str], View | None]) -> None:
        """Bring all releases in tenants' clusters one step on.

        Args:
            management: The cluster with the releases.
            hosted: Returns a tenant's cluster by its name, None where nobody answers.
        """
        for release in management.all(*RELEASE):
            spec, metadata = release["spec"], release["metadata"]
            secret = dig(spec, "kubeConfig", "secretRef", "name")
            if not secret:
                continue
            there = hosted(secret.removesuffix("-kubeconfig"))
            chart, version = self._chart(management, release)
            if is_real(release) and (deleting(release) or chart == ""):
                known = management.find("v1", "Secret", secret, metadata["namespace"]) is not None
                if there is not None or not known:
                    _uninstall(there, spec)
                    _finalizer(management, release, on=False)
            elif chart and not deleting(release) and not is_real(release):
                _finalizer(management, release, on=True)
            elif chart and there is not None and spec.get("suspend") is not True and _due(release, version):
                self._install(management, release, there, chart, version)

    def _chart(self, management: View, release: Object) -> tuple[str | None, str]:
        """Return chart and version of a release; ``""`` for one that is not here, None before its source is known."""
        spec, metadata = release["spec"], release["metadata"]
        ref = spec.get("chartRef") or {}
        space = ref.get("namespace") or metadata["namespace"]
        source = management.find("source.toolkit.fluxcd.io/v1", "OCIRepository", ref.get("name"), space)
        if source is None:
            return None, ""
        name, version = source["spec"]["url"].rpartition("/")[2], dig(source, "spec", "ref", "tag") or ""
        # Nothing here patches what helm has rendered.
        here = self._charts is not None and not spec.get("postRenderers") and self._charts.has(name, version)
        told = f"{metadata['namespace']}/{metadata['name']}: chart {name} {version}"
        if told not in self._told:
            self._told.add(told)
            LOG.info("%s is %s", told, "rendered by helm" if here else "simulated")
        return name if here else "", version

    def _install(self, management: View, release: Object, there: View, chart: str, version: str) -> None:
        metadata, spec = release["metadata"], release["spec"]
        attempt = f"{metadata['uid']} {metadata['generation']} {version}"
        if self._charts is None or self._not_before.get(attempt, 0.0) > time.monotonic():
            return
        before = _stored(there, spec)
        action = "Upgrade" if before else "Install"
        try:
            values = spec.get("values") or {}
            objects = self._charts.template(
                chart, spec["releaseName"], spec["targetNamespace"], values, there.kubernetes()
            )
        except HelmError as error:
            refused = [str(error)]
        else:
            bodies = [_marked(body, metadata, spec) for body in objects if body["kind"] not in _WEBHOOKS]
            refused = [why for body in bodies if (why := there.install(body, spec["targetNamespace"], FIELD_MANAGER))]
        if refused:
            self._not_before[attempt] = time.monotonic() + _AGAIN_SECONDS
            failed = conditions(release, Ready=("False", f"{action}Failed", "; ".join(refused)))
            if failed:
                management.status(release, failed)
            return
        kept = {_key(body) for body in bodies}
        for body in before:
            if _key(body) not in kept:
                _delete(there, body)
        bodies = [body for body in bodies if body["kind"] != KIND]
        there.install(_secret(spec, bodies, version), spec["storageNamespace"], FIELD_MANAGER)
        management.status(release, _status(release, chart, version, bodies, action))


def _due(release: Object, version: str) -> bool:
    """Tell whether a release waits for helm: its prerequisites hold, or its chart has another version by now."""
    installed = reported(release, "Ready") and dig(release, "status", "lastAttemptedRevision") == version
    return not installed and (reported(release, "Reconciling") or reported(release, "Ready"))


def _uninstall(there: View | None, spec: Object) -> None:
    """Delete what a release installed; where its cluster is gone with the kubeconfig, nothing, as Flux does."""
    if there is None:
        return
    for body in reversed(_stored(there, spec)):
        _delete(there, body)
    state = there.find("v1", "Secret", _state(spec), spec["storageNamespace"])
    if state:
        there.delete(state)


def _delete(there: View, body: Object) -> None:
    live = there.find(body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"].get("namespace"))
    if live and not deleting(live):
        there.delete(live)


def _marked(body: Object, metadata: Object, spec: Object) -> Object:
    """Return an object of a chart as Flux applies it: labelled with the release, kinds as a cluster can hold them."""
    whole = crds.prepared(body, every_version=True) if body["kind"] == KIND else body
    own = whole["metadata"]
    labels = {FLUX_NAME: metadata["name"], FLUX_NAMESPACE: metadata["namespace"]}
    annotations = {_HELM_NAME: spec["releaseName"], _HELM_NAMESPACE: spec["targetNamespace"]}
    return {
        **whole,
        "metadata": {
            **own,
            "labels": {**(own.get("labels") or {}), "app.kubernetes.io/managed-by": "Helm", **labels},
            "annotations": {**(own.get("annotations") or {}), **annotations},
        },
    }


def _finalizer(management: View, release: Object, *, on: bool) -> None:
    others = [name for name in release["metadata"].get("finalizers") or () if name != FINALIZER]
    management.patch(release, {"metadata": {"finalizers": [*others, *([FINALIZER] if on else [])]}})


def _secret(spec: Object, bodies: list[Object], version: str) -> Object:
    """Return Helm's own record of a release, of its one revision, which ``helm list`` reads."""
    manifest = "---\n".join(yaml.dump(body, Dumper=yaml.CSafeDumper) for body in bodies)
    record = {
        "name": spec["releaseName"],
        "namespace": spec["targetNamespace"],
        "version": 1,
        "info": {"status": "deployed", "last_deployed": _now()},
        "chart": {"metadata": {"name": spec["releaseName"], "version": version}},
        "config": spec.get("values") or {},
        "manifest": manifest,
    }
    packed = base64.b64encode(gzip.compress(json.dumps(record).encode(), mtime=0))
    labels = {"name": spec["releaseName"], "owner": "helm", "status": "deployed", "version": "1"}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": _STORED,
        "metadata": {"name": _state(spec), "namespace": spec["storageNamespace"], "labels": labels},
        # Helm packs in text what Kubernetes packs again.
        "data": {"release": base64.b64encode(packed).decode()},
    }


def _stored(there: View, spec: Object) -> list[Object]:
    """Return the objects that a release installed last, but for kinds; none when it never was."""
    secret = there.find("v1", "Secret", _state(spec), spec["storageNamespace"])
    if secret is None:
        return []
    packed = base64.b64decode(base64.b64decode(secret["data"]["release"]))
    return list(_objects(json.loads(gzip.decompress(packed))["manifest"]))


def _objects(manifest: str) -> Iterator[Object]:
    yield from (body for body in yaml.load_all(manifest, crds.Loader) if body)


def _status(release: Object, chart: str, version: str, bodies: list[Object], action: str) -> Object:
    spec, generation = release["spec"], release["metadata"]["generation"]
    place = f"{spec['targetNamespace']}/{spec['releaseName']}.v1 with chart {chart}@{version}"
    done = ("True", f"{action}Succeeded", f"Helm {action.lower()} succeeded for release {place}")
    snapshot = {
        "name": spec["releaseName"],
        "namespace": spec["targetNamespace"],
        "version": 1,
        "status": "deployed",
        "chartName": chart,
        "chartVersion": version,
        "configDigest": _digest(spec.get("values") or {}),
        "digest": _digest(bodies),
        "firstDeployed": _now(),
        "lastDeployed": _now(),
    }
    return {
        "observedGeneration": generation,
        "lastAttemptedGeneration": generation,
        "lastAttemptedRevision": version,
        "lastAttemptedReleaseAction": action.lower(),
        "storageNamespace": spec["storageNamespace"],
        "history": [snapshot],
        **conditions({**release, "status": {}}, Ready=done, Released=done),
    }


def _state(spec: Object) -> str:
    return f"sh.helm.release.v1.{spec['releaseName']}.v1"


def _key(body: Object) -> tuple[str, str, str]:
    return body["kind"], body["metadata"].get("namespace") or "", body["metadata"]["name"]


def _digest(content: Any) -> str:
    return f"sha256:{hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}"


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
