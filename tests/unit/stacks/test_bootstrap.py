"""The stack that creates the clusters of a local region."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from stacks import kubeconfig
from stacks.rehearsal import deploy_clusters


def registered_with(run: Callable[..., list[Any]], kubeconfigs: Path) -> list[Any]:
    environment = load_environment("laptop", paths.ROOT / "environments")
    return run(lambda: deploy_clusters(environment, kubeconfigs), stack="laptop.bootstrap")


def test_a_removed_cluster_is_kept_for_its_content(run: Callable[..., list[Any]], tmp_path: Path) -> None:
    for cluster in ("management", "acme-train", "former"):
        kubeconfig.path(tmp_path, cluster).touch()

    found = [item.name for item in registered_with(run, tmp_path)]

    assert found == ["laptop-management", "laptop-acme-train", "laptop-globex-lab", "laptop-former"]


def test_a_local_region_creates_every_cluster_by_a_separate_command(
    run: Callable[..., list[Any]], tmp_path: Path
) -> None:
    registered = registered_with(run, tmp_path / "none")

    assert {item.name: (item.inputs["create"], item.inputs["delete"]) for item in registered} == {
        f"laptop-{cluster}": (
            f".venv/bin/python -P -m jacquard.lab.rehearsal up laptop --cluster {cluster}",
            f".venv/bin/python -P -m jacquard.lab.rehearsal down laptop --cluster {cluster}",
        )
        for cluster in ("management", "acme-train", "globex-lab")
    }
    assert {item.dependencies for item in registered} == {frozenset()}
