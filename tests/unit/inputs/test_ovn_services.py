"""Shared services of a region for VPCs on OVN: created with the first VPC, and kept until the region disables them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import Manifest
from components.specs.reading.loader import load_environment
from tests.support.data.environment_data import ENVIRONMENTS, copy_data
from tests.support.data.workbench import Workbench

HOSTS_OF_DATABASES = "  ovn_central: 10.0.0.30\n"


@pytest.mark.parametrize("stays", [True, False])
def test_the_services_are_kept_after_the_last_vpc_until_the_region_disables_them(
    tmp_path: Path, *, stays: bool
) -> None:
    bench = Workbench(copy_data(tmp_path / "environments", "laptop"))
    bench.edit("tenants/globex.yaml", "isolation: dpf-ovn", "isolation: dpf-hbn")
    if not stays:
        bench.edit("region.yaml", HOSTS_OF_DATABASES, "")

    names = {item.name for item in everything(bench.load()) if item.kind == "HelmRelease"}

    assert names & {"ovn-central", "vpc-ovn-controller"} == ({"ovn-central", "vpc-ovn-controller"} if stays else set())


def test_the_class_names_both_databases_so_that_entries_of_deleted_dpus_are_removed() -> None:
    [isolation] = [item for item in _laptop() if item.kind == "IsolationClass"]

    assert isolation.body["spec"]["parameters"] == {
        "ovn-nb-endpoint": "tcp:10.0.0.30:30641",
        "ovn-sb-endpoint": "tcp:10.0.0.30:30642",
        "ovn-nb-reconnect-time": "5",
    }


def test_three_pods_have_copies_of_the_databases_on_hosts_of_the_control_plane() -> None:
    central = _databases(_laptop())

    [term] = central["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert central["enableHA"] is True
    assert term == {"matchExpressions": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]}


def test_a_region_of_release_0_1_0_keeps_the_values_of_its_single_pod(tmp_path: Path) -> None:
    bench = Workbench(copy_data(tmp_path / "environments", "laptop"))
    bench.edit("region.yaml", "  ovn_replicated: true\n", "")

    assert _databases(everything(bench.load())) == {"enabled": True}


def _laptop() -> list[Manifest]:
    return list(everything(load_environment("laptop", ENVIRONMENTS)))


def _databases(items: Iterable[Manifest]) -> dict[str, Any]:
    [release] = [item for item in items if item.kind == "HelmRelease" and item.name == "ovn-central"]
    central: dict[str, Any] = release.body["spec"]["values"]["management"]["ovnCentral"]
    return central
