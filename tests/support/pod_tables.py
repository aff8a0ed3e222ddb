"""Pods of charts and objects in tenant clusters: placement and host paths, by the tables next to this module."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from components.render.manifest import MANAGEMENT, Manifest

Json = dict[str, Any]
TABLES = ("pods_of_charts.yaml", "pods_of_objects.yaml")
RELEASES = {"HelmRelease": "chartRef", "Kustomization": "sourceRef"}
"""Kinds that install charts and manifests, and the field with the source."""
CONTROL_PLANES = {"KamajiControlPlane": "kubeadm", "K0smotronControlPlane": "k0s"}
"""Distribution of a cluster, by kind of its control plane."""
_AFFINITY = "requiredDuringSchedulingIgnoredDuringExecution"
_KIND_OF = {"nodes": "DaemonSet", "gpus": "DaemonSet", "nvlink": "DaemonSet", "volume groups": "DaemonSet"}


@dataclass(frozen=True, kw_only=True)
class Pod:
    """A pod that something in a tenant cluster runs."""

    of: str
    name: str
    serves: str
    spec: Json
    paths: tuple[str, ...] = ()


@cache
def rows() -> Mapping[str, tuple[Json, ...]]:
    """Return the pods of both tables, by chart, artefact or kind."""
    entries = [entry for table in TABLES for entry in yaml.safe_load((Path(__file__).parent / table).read_text())]
    assert len({entry["of"] for entry in entries}) == len(entries), "an entry twice"
    return {entry["of"]: tuple(entry["pods"]) for entry in entries}


def dig(value: Any, path: str) -> Any:
    """Return the value at a dotted path; None where it is missing."""
    for step in path.split(".") if path else ():
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def cluster_of(item: Manifest) -> str | None:
    """Return the tenant cluster whose pods an object is about; None for the management cluster."""
    if item.kind in RELEASES:
        secret = dig(item.body, "spec.kubeConfig.secretRef.name")
        return secret.removesuffix("-kubeconfig") if secret else None
    if item.kind in CONTROL_PLANES:
        return item.name
    return None if item.cluster == MANAGEMENT else item.cluster


def pods_of(item: Manifest) -> Iterator[Pod]:
    """Yield the pods of a release, a Kustomization or another object; nothing for kinds that place no pod."""
    of, settings = item.kind, item.body
    if item.kind in RELEASES:
        of = item.body["spec"][RELEASES[item.kind]]["name"]
        settings = item.body["spec"].get("values", {})
    for row in rows().get(of, ()):
        if "if" not in row or dig(settings, row["if"]):
            spec = placement(row, settings)
            for patch in _patches(item, row):
                spec = merged(spec, patch)
            paths = tuple(_path(path, settings) for path in row.get("paths", ()))
            yield Pod(of=of, name=row["pod"], serves=row["serves"], spec=spec, paths=paths)


def placement(row: Mapping[str, Any], settings: Mapping[str, Any]) -> Json:
    """Return nodeSelector, tolerations and affinity of a pod with ``settings``."""
    spec = {"nodeSelector": {}, "tolerations": [], "affinity": {}} | row.get("default", {})
    found = [part for path in row.get("at", ()) if isinstance(part := dig(settings, path), Mapping)]
    found += [{key: dig(settings, row[key])} for key in ("nodeSelector", "tolerations", "affinity") if key in row]
    if "labels" in row and (text := dig(settings, row["labels"])):
        found.append({"nodeSelector": dict(pair.split("=") for pair in text.split(","))})
    if "nodeAffinity" in row:
        found.append({"affinity": {"nodeAffinity": dig(settings, row["nodeAffinity"]) or {}}})
    if "required" in row and (terms := dig(settings, row["required"])):
        found.append({"affinity": {"nodeAffinity": {_AFFINITY: terms}}})
    for part in found:
        spec = merged(spec, {key: value for key in spec if isinstance(value := part.get(key), dict | list)})
    always = row.get("always", {})
    tolerations = [*spec["tolerations"], *always.get("tolerations", ())]
    return merged(merged(spec, always), {"tolerations": tolerations})


def merged(spec: Mapping[str, Any], patch: Mapping[str, Any]) -> Json:
    """Return ``spec`` with a merge patch: maps merge, None deletes, all else replaces."""
    result = dict(spec)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            result[key] = merged(result.get(key) or {}, value)
        else:
            result[key] = value
    return result


def _patches(item: Manifest, row: Mapping[str, Any]) -> Iterator[Json]:
    """Yield the parts of kustomize patches that a pod gets."""
    spec = item.body.get("spec") or {}
    renderers = spec.get("postRenderers", ()) if isinstance(spec, Mapping) else ()
    every = [patch for renderer in renderers for patch in renderer["kustomize"]["patches"]]
    every += spec.get("patches", ()) if item.kind == "Kustomization" else ()
    for entry in every:
        target, patch = entry.get("target", {}), json.loads(entry["patch"])
        kind = _KIND_OF.get(row["serves"], "Deployment")
        if target.get("kind") == kind and isinstance(patch, dict) and target.get("name", row["pod"]) == row["pod"]:
            yield dig(patch, "spec.template.spec") or {}


def _path(text: str, settings: Mapping[str, Any]) -> str:
    def chosen(match: re.Match[str]) -> str:
        name, _, default = match[1].partition("|")
        parent, env, variable = name.rpartition(".env.")
        if env:
            listed = {entry["name"]: entry["value"] for entry in dig(settings, f"{parent}.env") or ()}
            return str(listed.get(variable, default))
        return str(dig(settings, name) or default)

    return re.sub(r"\{([^}]+)\}", chosen, text)
