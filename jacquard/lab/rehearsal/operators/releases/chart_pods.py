"""Placement of the pods of charts: the table next to this module, with the values and patches of a release."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]
TABLE = Path(__file__).parent / "pods_of_charts.yaml"
_AFFINITY = "requiredDuringSchedulingIgnoredDuringExecution"
_KIND_OF = {"nodes": "DaemonSet", "gpus": "DaemonSet", "nvlink": "DaemonSet", "volume groups": "DaemonSet"}
"""Kind of the workload by what it serves; a Deployment otherwise."""


@cache
def rows() -> Mapping[str, tuple[Json, ...]]:
    """Return the pods of the table, by chart or artefact."""
    entries = yaml.load(TABLE.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return {entry["of"]: tuple(entry["pods"]) for entry in entries}


def at(value: Any, path: str) -> Any:
    """Return the value at a dotted path; None where it is missing."""
    for step in path.split(".") if path else ():
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def exists(row: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """Return whether the chart has the pod of ``row`` with ``settings``."""
    wanted = "if" not in row or bool(at(settings, row["if"]))
    return wanted and not ("unless" in row and at(settings, row["unless"]))


def pod_spec(row: Mapping[str, Any], body: Mapping[str, Any], settings: Mapping[str, Any]) -> Json:
    """Return nodeSelector, tolerations and affinity of a pod, with the values and kustomize patches of a release.

    Args:
        row: A row of a table.
        body: The HelmRelease, Kustomization or other object that places the pod.
        settings: The mapping with the paths of the row: values of a chart, or the object.
    """
    spec = placement(row, settings)
    for patch in _patches(body, row):
        spec = merged(spec, patch)
    return spec


def placement(row: Mapping[str, Any], settings: Mapping[str, Any]) -> Json:
    """Return nodeSelector, tolerations and affinity of a pod with ``settings``."""
    spec = {"nodeSelector": {}, "tolerations": [], "affinity": {}} | row.get("default", {})
    found = [part for path in row.get("at", ()) if isinstance(part := at(settings, path), Mapping)]
    found += [{key: at(settings, row[key])} for key in ("nodeSelector", "tolerations", "affinity") if key in row]
    if "labels" in row and (text := at(settings, row["labels"])):
        found.append({"nodeSelector": dict(pair.split("=") for pair in text.split(","))})
    if "nodeAffinity" in row:
        found.append({"affinity": {"nodeAffinity": at(settings, row["nodeAffinity"]) or {}}})
    if "required" in row and (terms := at(settings, row["required"])):
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


def _patches(body: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[Json]:
    """Yield the parts of kustomize patches that a pod gets."""
    spec = body.get("spec") or {}
    renderers = spec.get("postRenderers") or () if isinstance(spec, Mapping) else ()
    every = [patch for renderer in renderers for patch in renderer["kustomize"]["patches"]]
    every += spec.get("patches") or () if body.get("kind") == "Kustomization" else ()
    for entry in every:
        target, patch = entry.get("target") or {}, yaml.load(entry["patch"], yaml.CSafeLoader)
        kind = _KIND_OF.get(row["serves"], "Deployment")
        if target.get("kind") == kind and isinstance(patch, dict) and target.get("name", row["pod"]) == row["pod"]:
            yield at(patch, "spec.template.spec") or {}
