"""The documented example of a model server: its patch, applied to the base of a LeaderWorkerSet."""

from __future__ import annotations

import copy
import re
from typing import Any

import yaml

from jacquard.machine import paths

PAGE = paths.ROOT / "docs/workloads/serving.md"


def blocks() -> list[Any]:
    """Return the YAML blocks of the page: data of a cluster, and a kustomization."""
    page = PAGE.read_text(encoding="utf-8")
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]


def completed(base: dict[str, Any]) -> dict[str, Any]:
    """Return ``base`` with the fields that the kustomization of the page adds.

    Raises:
        ValueError: a step replaces a field of the base, or is not an addition.
    """
    [patch] = blocks()[1]["patches"]
    body = copy.deepcopy(base)
    for step in yaml.safe_load(patch["patch"]):
        *parents, key = step["path"].strip("/").split("/")
        at: Any = body
        for parent in parents:
            at = at[int(parent)] if isinstance(at, list) else at[parent]
        if step["op"] != "add" or key in at:
            raise ValueError(step["path"])
        at[key] = step["value"]
    return body
