"""Text and picture of ``jacquard show ENV network``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from tests.support.data.environment_data import REFERENCES, root_of_all

Invoke = Callable[..., Any]
SVG = "{http://www.w3.org/2000/svg}"
SWATCH = 8
NARROW = 6
"""Width of a regular character in a picture."""


@pytest.fixture
def everywhere(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``jacquard`` on the reference environments, which these tests only read."""
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(root_of_all()))
    return invoke


def answer(invoke: Invoke, name: str, *options: str) -> dict[str, Any]:
    return dict(json.loads(invoke("show", name, "network", *options, "--format", "json").stdout))


def test_a_vpc_is_shown_with_its_numbers_and_locations(everywhere: Invoke) -> None:
    text = everywhere("show", "us-east-04a", "network").stdout

    assert text.startswith("us-east-04a: 17 VPCs of 16 tenants\n")
    assert (
        "cobalt/cobalt   dpf-hbn   VNI 10002   route target 4200000002:10002   egress public   ingress public\n"
        "  hosts 10.72.24.0/21   pods 10.74.0.0/15   services 10.72.96.0/20   load balancers 10.72.18.0/24\n"
        "  cluster cobalt-one   API 10.3.0.3 cobalt-one.api.us-east-04a.cloud.example"
        "   DNS domain cobalt-one.us-east-04a.cloud.example"
        "   GUIDs on ib-east-1 0x0200000000020000-0x020000000002ffff   public 198.51.100.1\n"
        "  partitions   ib-east-1 0x11\n"
        "  DPUs of hosts   a2 21 on links 0-23   b1 306 on links 24-331   d2 5 on links 332-339\n"
    ) in text
    assert "fabrics.ib-east-1.pkeys      0x10-0x7f0 " in text
    assert (
        "networks are counted in addresses; reserved: 8,192 of networks.asn, 4 of networks.control_plane_vips,"
        " 2 of networks.public\n"
    ) in text


def test_hosts_of_a_vpc_are_shown_with_their_addresses(everywhere: Invoke) -> None:
    shown = everywhere("show", "lab", "network")
    [vpc] = json.loads(everywhere("show", "lab", "network", "--format", "json").stdout)["vpcs"]
    lock = load_environment("lab", paths.ROOT / "environments").allocations

    assert vpc["addresses"] == {host: str(address) for host, address in lock.addresses.items()}
    assert f"  host addresses   a01-u01 {vpc['addresses']['a01-u01']}" in shown.stdout


def test_a_vpc_without_evpn_has_no_vni(everywhere: Invoke) -> None:
    [acme, globex] = answer(everywhere, "laptop")["vpcs"]

    assert (acme["vni"], acme["route_target"]) == (10000, "4200000000:10000")
    assert (globex["vni"], globex["route_target"], globex["isolation"]) == (None, None, "dpf-ovn")
    assert all(vpc["dpus"] == [] for vpc in answer(everywhere, "eu-south-03a")["vpcs"])


@pytest.mark.parametrize("name", REFERENCES)
def test_its_json_keeps_its_schema(everywhere: Invoke, name: str) -> None:
    schema = json.loads((paths.ROOT / "schemas" / "network.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(answer(everywhere, name), schema)


@pytest.mark.parametrize("name", REFERENCES)
def test_the_picture_has_a_swatch_a_vpc_and_a_cell_for_each_dpu_cluster(
    everywhere: Invoke, name: str, tmp_path: Path
) -> None:
    found, file = answer(everywhere, name), tmp_path / "network.svg"

    output = everywhere("show", name, "network", "--svg", str(file)).stdout
    texts = [text.text for text in ET.parse(file).iter(f"{SVG}text")]  # noqa: S314 - our own output
    shapes = list(ET.parse(file).iter(f"{SVG}rect"))  # noqa: S314 - our own output

    shares = [share for vpc in found["vpcs"] for share in vpc["dpus"] if share["hosts"]]
    assert output.endswith(f" in {file}\n")
    assert len(shapes) == len(found["vpcs"]) * (1 + len(found["dpu_clusters"]))
    assert sum(shape.get("fill-opacity") == ".3" for shape in shapes) == len(shares)
    assert {f"{share['hosts']:,}" for share in shares} <= {*texts}


@pytest.mark.parametrize("name", REFERENCES)
def test_nothing_in_the_picture_reaches_out_of_it_or_into_something_else(
    everywhere: Invoke, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "network.svg"
    everywhere("show", name, "network", "--svg", str(file))
    root = ET.parse(file).getroot()  # noqa: S314 - our own output
    width, height = map(int, root.attrib["viewBox"].split()[2:])
    texts = [text for text in root.iter(f"{SVG}text") if text.get("class") != "c"]
    boxes = [tuple(int(box.attrib[key]) for key in ("x", "y", "width", "height")) for box in root.iter(f"{SVG}rect")]

    matrix = min(x for x, _, wide, _ in boxes if wide > SWATCH)
    assert max(int(text.attrib["x"]) + NARROW * len(text.text or "") for text in texts) < matrix
    assert all(x + wide <= width and y + high <= height for x, y, wide, high in boxes)
    assert len({(x, y) for x, y, _, _ in boxes}) == len(boxes)
    assert all(int(text.attrib["y"]) < height for text in texts)


def test_a_region_without_tenants_has_ranges_and_a_picture(invoke: Invoke, data_folder: Path, tmp_path: Path) -> None:
    for file in (data_folder / "laptop" / "tenants").iterdir():
        file.unlink()
    for lock in ("allocations", "images"):
        (data_folder / "laptop" / f"{lock}.lock.yaml").unlink()
    assert invoke("allocate", "laptop").exit_code == 0

    result = invoke("show", "laptop", "network", "--svg", str(tmp_path / "network.svg"))

    assert result.stdout.startswith("laptop: 0 VPCs of 0 tenants\n")
    assert "networks.tenants             10.64.0.0/10                  0            0  4,194,304  /10" in result.stdout


def test_it_is_no_yaml(invoke: Invoke) -> None:
    result = invoke("show", "laptop", "network", "--format", "yaml")

    message = "error: --format yaml: network has no YAML output; write text or json\n"
    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, message)
