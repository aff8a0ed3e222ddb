"""Pods of charts and objects in tenant clusters: placement and host paths, from the simulation and from tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from components.render.manifest import MANAGEMENT, Manifest
from jacquard.lab.rehearsal.operators.releases import chart_pods
from jacquard.lab.rehearsal.operators.releases.chart_pods import at as dig

Json = dict[str, Any]
TABLES = (chart_pods.TABLE, Path(__file__).parent / "pods_of_objects.yaml")
RELEASES = {"HelmRelease": "chartRef", "Kustomization": "sourceRef"}
"""Kinds that install charts and manifests, and the field with the source."""
CONTROL_PLANES = {"KamajiControlPlane": "kubeadm", "K0smotronControlPlane": "k0s"}
"""Distribution of a cluster, by kind of its control plane."""


@dataclass(frozen=True, kw_only=True)
class Pod:
    """A pod that a chart or object runs in a tenant cluster."""

    of: str
    name: str
    serves: str
    spec: Json
    paths: tuple[str, ...] = ()


@cache
def rows() -> Mapping[str, tuple[Json, ...]]:
    """Return the pods of both tables, by chart, artefact or kind."""
    entries = [entry for table in TABLES for entry in yaml.safe_load(table.read_text())]
    assert len({entry["of"] for entry in entries}) == len(entries), "an entry twice"
    return {entry["of"]: tuple(entry["pods"]) for entry in entries}


def cluster_of(item: Manifest) -> str | None:
    """Return the tenant cluster of the pods of an object; None for the management cluster."""
    if item.kind in RELEASES:
        secret = dig(item.body, "spec.kubeConfig.secretRef.name")
        return secret.removesuffix("-kubeconfig") if secret else None
    if item.kind in CONTROL_PLANES:
        return item.name
    return None if item.cluster == MANAGEMENT else item.cluster


def pods_of(item: Manifest) -> Iterator[Pod]:
    """Yield the pods of a release, a Kustomization or another object; nothing for kinds without pods."""
    of, settings = item.kind, item.body
    if item.kind in RELEASES:
        of = item.body["spec"][RELEASES[item.kind]]["name"]
        settings = item.body["spec"].get("values", {})
    for row in rows().get(of, ()):
        if chart_pods.exists(row, settings):
            spec = chart_pods.pod_spec(row, {"kind": item.kind, **item.body}, settings)
            paths = tuple(_path(path, settings) for path in row.get("paths", ()))
            yield Pod(of=of, name=row["pod"], serves=row["serves"], spec=spec, paths=paths)


def _path(text: str, settings: Mapping[str, Any]) -> str:
    def chosen(match: re.Match[str]) -> str:
        name, _, default = match[1].partition("|")
        parent, env, variable = name.rpartition(".env.")
        if env:
            listed = {entry["name"]: entry["value"] for entry in dig(settings, f"{parent}.env") or ()}
            return str(listed.get(variable, default))
        return str(dig(settings, name) or default)

    return re.sub(r"\{([^}]+)\}", chosen, text)
