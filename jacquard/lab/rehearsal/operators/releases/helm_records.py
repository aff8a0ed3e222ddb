"""Records of releases: Helm's Secret for each revision, as read by ``helm history``, and Flux' history."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from dataclasses import dataclass
from typing import Any

import yaml

from jacquard.lab.rehearsal import crds
from jacquard.lab.rehearsal.operators.releases.installed import Chart
from jacquard.lab.rehearsal.operators.view import Object, View, now
from jacquard.providers.kube.objects import dig

TYPE = "helm.sh/release.v1"
"""Type of the Secret."""
KEPT = 5
"""Number of revisions that Flux keeps, as records in the cluster and as entries of its history."""
_SUPERSEDED = {"status": "superseded"}


@dataclass(frozen=True, slots=True)
class Place:
    """Release name and namespaces in the target cluster, with the defaults of Flux."""

    name: str
    namespace: str
    """Default namespace of the release's objects."""
    storage: str
    """Namespace of Helm's records."""

    @classmethod
    def of(cls, release: Object) -> Place:
        """Return the name and namespaces of a HelmRelease's release."""
        spec, metadata = release["spec"], release["metadata"]
        target = spec.get("targetNamespace")
        name = spec.get("releaseName") or "-".join(filter(None, (target, metadata["name"])))
        return cls(name, target or metadata["namespace"], spec.get("storageNamespace") or metadata["namespace"])


@dataclass(frozen=True, slots=True)
class Record:
    """Helm's record of one revision of a release, a Secret of the cluster."""

    revision: int
    secret: Object

    @property
    def objects(self) -> list[Object]:
        """Return the objects of the revision, without CRDs."""
        return [body for body in yaml.load_all(_unpacked(self.secret)["manifest"], crds.Loader) if body]

    def superseded(self) -> Object:
        """Return the Secret with the status of a superseded revision."""
        content = _unpacked(self.secret)
        return _secret(self.secret["metadata"]["namespace"], {**content, "info": {**content["info"], **_SUPERSEDED}})


def records(target: View, place: Place) -> list[Record]:
    """Return the records of a release, the newest first; none for a release that was never installed."""
    result = []
    for secret in target.all("v1", "Secret"):
        labels = secret["metadata"].get("labels") or {}
        is_of = secret.get("type") == TYPE and secret["metadata"]["namespace"] == place.storage
        if is_of and labels.get("name") == place.name:
            result.append(Record(int(labels["version"]), secret))
    return sorted(result, key=lambda entry: entry.revision, reverse=True)


def record(place: Place, chart: Chart, revision: int, values: Object, bodies: list[Object]) -> Object:
    """Return the Secret with Helm's record of a revision, as read by ``helm list``."""
    content = {
        "name": place.name,
        "namespace": place.namespace,
        "version": revision,
        "info": {"status": "deployed", "last_deployed": now()},
        "chart": {"metadata": {"name": chart.name, "version": chart.revision}},
        "config": values,
        "manifest": "---\n".join(yaml.dump(body, Dumper=yaml.CSafeDumper) for body in bodies),
    }
    return _secret(place.storage, content)


def _secret(namespace: str, content: Object) -> Object:
    packed = base64.b64encode(gzip.compress(json.dumps(content).encode(), mtime=0))
    name, revision, status = content["name"], content["version"], content["info"]["status"]
    labels = {"name": name, "owner": "helm", "status": status, "version": str(revision)}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": TYPE,
        "metadata": {"name": f"sh.helm.release.v1.{name}.v{revision}", "namespace": namespace, "labels": labels},
        # Helm encodes the value in base64, and Kubernetes encodes it again.
        "data": {"release": base64.b64encode(packed).decode()},
    }


def _unpacked(secret: Object) -> Object:
    packed = base64.b64decode(base64.b64decode(secret["data"]["release"]))
    return dict(json.loads(gzip.decompress(packed)))


def history(release: Object, chart: Chart, content: Any, revision: int | None = None) -> list[Object]:
    """Return ``status.history`` of a release with an entry for the installed chart before the existing entries.

    Args:
        release: The HelmRelease.
        chart: The installed chart.
        content: The content to digest.
        revision: Helm's revision number, or None for the successor of the newest entry.
    """
    former = dig(release, "status", "history") or []
    before = former[0] if former else None
    entry = _snapshot(release, chart, content, before)
    if revision is not None:
        entry["version"] = revision
    return [entry, *({**previous, **_SUPERSEDED} for previous in former)][:KEPT]


def _snapshot(release: Object, chart: Chart, content: Any, before: Object | None) -> Object:
    place = Place.of(release)
    return {
        "name": place.name,
        "namespace": place.namespace,
        "version": before["version"] + 1 if before else 1,
        "status": "deployed",
        "chartName": chart.name,
        "chartVersion": chart.revision,
        "ociDigest": chart.digest,
        "configDigest": _digest(release["spec"].get("values") or {}),
        "digest": _digest(content),
        "firstDeployed": before["firstDeployed"] if before else now(),
        "lastDeployed": now(),
    }


def _digest(content: Any) -> str:
    return f"sha256:{hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}"
