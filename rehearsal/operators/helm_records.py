"""Helm's records of releases: a Secret of the cluster, which ``helm list`` reads, and what Flux tells of it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from dataclasses import dataclass
from typing import Any

import yaml

from rehearsal import crds
from rehearsal.operators.installed import Chart
from rehearsal.operators.view import Object, View, now

TYPE = "helm.sh/release.v1"
"""Type of the Secret."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a release goes in its cluster; what it does not say is as in Flux."""

    name: str
    namespace: str
    """Where its objects go that name no namespace."""
    storage: str
    """Where Helm keeps its record."""

    @classmethod
    def of(cls, release: Object) -> Place:
        """Return the place of a HelmRelease."""
        spec, own = release["spec"], release["metadata"]
        target = spec.get("targetNamespace")
        name = spec.get("releaseName") or "-".join(filter(None, (target, own["name"])))
        return cls(name, target or own["namespace"], spec.get("storageNamespace") or own["namespace"])

    @property
    def secret(self) -> str:
        """Return the name of the Secret with that record, of its one revision."""
        return f"sh.helm.release.v1.{self.name}.v1"


def record(place: Place, chart: str, version: str, values: Object, bodies: list[Object]) -> Object:
    """Return Helm's own record of a release, of its one revision, which ``helm list`` reads."""
    manifest = "---\n".join(yaml.dump(body, Dumper=yaml.CSafeDumper) for body in bodies)
    content = {
        "name": place.name,
        "namespace": place.namespace,
        "version": 1,
        "info": {"status": "deployed", "last_deployed": now()},
        "chart": {"metadata": {"name": chart, "version": version}},
        "config": values,
        "manifest": manifest,
    }
    packed = base64.b64encode(gzip.compress(json.dumps(content).encode(), mtime=0))
    labels = {"name": place.name, "owner": "helm", "status": "deployed", "version": "1"}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": TYPE,
        "metadata": {"name": place.secret, "namespace": place.storage, "labels": labels},
        # Helm packs in text what Kubernetes packs again.
        "data": {"release": base64.b64encode(packed).decode()},
    }


def stored(there: View, place: Place) -> list[Object]:
    """Return the objects that a release installed last, but for kinds; none when it never was."""
    secret = there.find("v1", "Secret", place.secret, place.storage)
    if secret is None:
        return []
    packed = base64.b64decode(base64.b64decode(secret["data"]["release"]))
    manifest = json.loads(gzip.decompress(packed))["manifest"]
    return [body for body in yaml.load_all(manifest, crds.Loader) if body]


def snapshot(place: Place, chart: Chart, *, config: Object, content: Any, before: Object | None = None) -> Object:
    """Return the entry of a release's ``status.history``.

    Args:
        place: Where the release goes.
        chart: What is installed there.
        config: Its values.
        content: What its digest is of.
        before: The entry that it follows, if it follows any.
    """
    return {
        "name": place.name,
        "namespace": place.namespace,
        "version": before["version"] + 1 if before else 1,
        "status": "deployed",
        "chartName": chart.name,
        "chartVersion": chart.revision,
        "ociDigest": chart.digest,
        "configDigest": _digest(config),
        "digest": _digest(content),
        "firstDeployed": before["firstDeployed"] if before else now(),
        "lastDeployed": now(),
    }


def _digest(content: Any) -> str:
    return f"sha256:{hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()}"
