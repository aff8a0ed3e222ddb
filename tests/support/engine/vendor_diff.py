"""The plan of the vendor's provider for a state: its documented comparison, in a few lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jacquard.lab.standins.kubernetes.objects.normal import normal, with_dashes
from jacquard.providers.rpc.diff import changes
from jacquard.providers.rpc.paths import render


def vendor_diff(outputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, str]:
    """Return the planned changes between a state and the program's inputs, by path; None for no step.

    It compares the new inputs with those fields of the recorded live object that the recorded inputs have; a missing
    namespace counts as ``default``.
    """
    before = normal(outputs.get("__inputs", {}))
    pruned = _pruned(with_dashes(outputs), before)
    after = normal(inputs)
    if "namespace" in outputs["metadata"]:
        pruned = _in_namespace(pruned)
    pruned = {"apiVersion": after["apiVersion"], "kind": after["kind"], **pruned}
    pruned["metadata"] = {**pruned.get("metadata", {}), "name": outputs["metadata"]["name"]}
    return {render(change.path): str(change.kind) for change in changes(pruned, after)}


def _in_namespace(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "metadata": {"namespace": "default", **body.get("metadata", {})}}


def _pruned(live: Any, shape: Any) -> Any:
    if isinstance(live, dict) and isinstance(shape, dict):
        return {key: _pruned(item, shape[key]) for key, item in live.items() if key in shape}
    if isinstance(live, list) and isinstance(shape, list):
        return [_pruned(item, wanted) for item, wanted in zip(live, shape, strict=False)]
    return live
