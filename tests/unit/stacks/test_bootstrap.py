"""The stack that makes the clusters of a rehearsal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from components.specs.loader import load_environment
from stacks.bootstrap import deploy_clusters
from toolchain import paths


def test_a_rehearsal_makes_every_cluster_by_a_command_of_its_own(run: Callable[..., list[Any]]) -> None:
    environment = load_environment("laptop", paths.ROOT / "environments")

    registered = run(lambda: deploy_clusters(environment), stack="laptop.bootstrap")

    assert {item.name: (item.inputs["create"], item.inputs["delete"]) for item in registered} == {
        f"laptop-{cluster}": (
            f".venv/bin/python -P -m rehearsal up laptop --cluster {cluster}",
            f".venv/bin/python -P -m rehearsal down laptop --cluster {cluster}",
        )
        for cluster in ("management", "acme-train", "globex-lab")
    }
    assert {item.dependencies for item in registered} == {frozenset()}
