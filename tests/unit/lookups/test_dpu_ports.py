"""The port that announces a cluster's load balancers: from its images, its region, or old data."""

from __future__ import annotations

from typing import Any

import pytest

from components.lookups.network.dpu_ports import load_balancer_port
from components.rules.checks import check

DECLARED = "dpu_interface: enp1s0f0np0, "


def without_names(laptop: Any) -> None:
    images = laptop.root / "catalog" / "images.yaml"
    images.write_text(images.read_text(encoding="utf-8").replace(DECLARED, ""), encoding="utf-8")


def test_the_images_of_a_cluster_name_the_port(laptop: Any) -> None:
    assert load_balancer_port(laptop.load(), "acme-train") == "enp1s0f0np0"


@pytest.mark.parametrize(("more", "name"), [("", "eth0"), ("\n  host_interface: mlx0", "mlx0")])
def test_data_of_the_first_release_keep_their_port(laptop: Any, more: str, name: str) -> None:
    without_names(laptop)
    laptop.edit("region.yaml", "vip_interface: br-mgmt", f"vip_interface: br-mgmt{more}")
    region = laptop.load()

    assert load_balancer_port(region, "acme-train") == name
    assert check(region) == []
