"""What runs once a region for VPCs on OVN: it comes with the first of them, and stays until the region gives it up."""

from __future__ import annotations

from pathlib import Path

import pytest
from environment_data import copy_data
from workbench import Workbench

from components.inputs.manifests import everything

HOSTS_OF_DATABASES = "  ovn_central: 10.0.0.30\n"


@pytest.mark.parametrize("stays", [True, False])
def test_it_stays_after_the_last_vpc_as_long_as_the_region_has_a_place_for_it(tmp_path: Path, *, stays: bool) -> None:
    bench = Workbench(copy_data(tmp_path / "environments", "laptop"))
    bench.edit("tenants/globex.yaml", "isolation: dpf-ovn", "isolation: dpf-hbn")
    if not stays:
        bench.edit("region.yaml", HOSTS_OF_DATABASES, "")

    names = {item.name for item in everything(bench.load()) if item.kind == "HelmRelease"}

    assert names & {"ovn-central", "vpc-ovn-controller"} == ({"ovn-central", "vpc-ovn-controller"} if stays else set())
