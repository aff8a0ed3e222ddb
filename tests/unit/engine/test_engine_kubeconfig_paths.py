"""Paths of kubeconfigs that another machine recorded in a state."""

from __future__ import annotations

import copy
from typing import Any

from jacquard.engine.kubeconfig_paths import localize

PROVIDER = {
    "type": "pulumi:providers:kubernetes",
    "inputs": {"kubeconfig": "/kubeconfigs/management.yaml", "clusterIdentifier": "one/management"},
    "outputs": {"kubeconfig": "/kubeconfigs/management.yaml"},
}
OBJECT = {"type": "kubernetes:core/v1:ConfigMap", "inputs": {"data": {"kubeconfig": "/kubeconfigs/management.yaml"}}}


def state(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"deployment": {"resources": copy.deepcopy([*resources])}}


def test_providers_of_a_pod_get_the_files_of_this_machine() -> None:
    recorded = state(PROVIDER, OBJECT)

    assert localize(recorded, "/home/ada/kubeconfigs")

    provider, other = recorded["deployment"]["resources"]
    assert provider["inputs"] == {**PROVIDER["inputs"], "kubeconfig": "/home/ada/kubeconfigs/management.yaml"}
    assert provider["outputs"] == {"kubeconfig": "/home/ada/kubeconfigs/management.yaml"}
    assert other == OBJECT


def test_a_state_of_this_machine_is_unchanged() -> None:
    recorded = state(PROVIDER, OBJECT)

    assert not localize(recorded, "/kubeconfigs")
    assert recorded == state(PROVIDER, OBJECT)


def test_an_empty_state_and_a_machine_without_kubeconfigs_need_no_change() -> None:
    assert not localize({"version": 3, "deployment": {}}, "/kubeconfigs")
    assert not localize(state(PROVIDER), None)
