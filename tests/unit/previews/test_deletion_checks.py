"""Cluster queries before the deletion of a release: its own cluster, for add-ons of clusters that are kept."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.engine.plan import Plan
from jacquard.observe.add_on_users import Uninstalled
from jacquard.observe.users import UnreadableError
from jacquard.previews import removals
from tests.support.changes.planned_steps import deleted

FLUX = "helm.toolkit.fluxcd.io/v2"
SPEC = {
    "chartRef": {"kind": "OCIRepository", "name": "metallb"},
    "targetNamespace": "metallb-system",
    "kubeConfig": {"secretRef": {"name": "acme-train-kubeconfig"}},
}


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[Uninstalled]:
    """Return the list of queries to clusters, which all get the same response."""
    found: list[Uninstalled] = []

    def answer(_: Any, used: Uninstalled, known: Any) -> tuple[str, ...]:
        found.append(used)
        assert known(("Service", "virtual-machines", "bastion"))
        assert not known(("Service", "shop", "web"))
        return ("Service shop/web",)

    monkeypatch.setattr(removals, "add_on_users", answer)
    return found


def plan(namespace: str = "acme-train", **spec: Any) -> Plan:
    found = Plan()
    found.see(deleted("Service", "bastion", api_version="v1", namespace="virtual-machines", cluster="acme-train"))
    step = deleted("HelmRelease", "metallb", api_version=FLUX, namespace=namespace)
    step["old"]["inputs"]["spec"] = {**SPEC, **spec}
    found.see(step)
    return found


def test_deletion_of_an_add_on_in_use_is_blocked_with_its_users_named(laptop: Any, queries: list[Uninstalled]) -> None:
    [found] = removals.held(plan(), laptop.load())

    assert str(found) == "delete HelmRelease acme-train/metallb: it is in use by 1: Service shop/web"
    [used] = queries
    assert (used.chart, used.cluster) == ("metallb", "acme-train")
    assert {"metallb-system", "kube-system", "gpu-operator"} <= used.platform


@pytest.mark.parametrize(
    "gone",
    [plan(suspend=True), plan("operators"), plan("gone"), plan(kubeConfig=None)],
    ids=["at rest", "ours", "ended", "here"],
)
def test_no_cluster_is_queried_for_releases_that_uninstall_nothing_or_are_deleted_with_it(
    gone: Plan, laptop: Any, queries: list[Uninstalled]
) -> None:
    assert removals.held(gone, laptop.load()) == []
    assert queries == []


def test_an_unreachable_cluster_blocks_the_deletion(laptop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(*_: Any) -> tuple[str, ...]:
        raise UnreadableError

    monkeypatch.setattr(removals, "add_on_users", silent)

    [found] = removals.held(plan(), laptop.load())
    assert str(found) == "delete HelmRelease acme-train/metallb: its users could not be determined"
