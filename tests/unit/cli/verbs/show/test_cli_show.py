"""``jacquard show``: values with their origins as text and data, and capacity as table, data and map."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from rich.console import Console
from typer.testing import Result

from components.reports.capacity import Capacity, Figures, TypeCapacity, capacity
from components.reports.resolved import DEFAULT, Branch, Origin, Source, Value
from components.specs.environment import Environment
from jacquard.cli.errors import ExitCode
from jacquard.cli.views.region import capacity as capacity_view
from jacquard.cli.views.region import resolved as show_view
from tests.support.checks.places import resolved
from tests.support.data.environment_data import LAPTOP

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
POOL = "tenants.acme.clusters.acme-train.pools.train"
SECTIONS = (
    "region, tenants, hosts, policy, waivers, images, instance_types, firmware, health, versions, add_ons, vm_offerings"
)
FIRST_HOSTS = ", ".join(
    f"{rack}-u{slot:02}" for rack, slots in (("a01", 8), ("a02", 4)) for slot in range(1, slots + 1)
)
WRITTEN = Origin(Source.WRITTEN, "a.yaml", 3)


def test_text_has_the_origins_in_a_column() -> None:
    node = Branch(
        {
            "name": Value("a", WRITTEN),
            "empty": Branch(),
            "inner": Branch({"flags": Value(["x", "y"], DEFAULT), "on": Value(value=True, origin=DEFAULT)}),
            "address": Value(None, Origin(Source.ALLOCATED, "a.lock.yaml", 7)),
        }
    )

    assert list(show_view.text_lines(node, "lab", "")) == [
        "name: a        a.yaml:3",
        "empty: none",
        "inner:",
        "  flags: x, y  default",
        "  on: true     default",
        "address: none  allocated, a.lock.yaml:7",
    ]


def test_yaml_is_read_back_as_the_values_that_were_shown() -> None:
    values = {
        "text": "a", "trap": "no", "number text": "1.30", "mac": "02:00:00:01:01:01", "colon": "a: b", "hash": "a #b",
        "star": "*x", "empty": "", "size": "/24", "list": ["a", 1, "yes"], "none": None, "yes": True, "map": {},
        "percent": "5%", "quote": 'say "x"', "brace": "{a}", "dash": "-", "url": "https://a/b?c=d",
    }  # fmt: skip
    node = Branch({"outer": Branch({key: Value(value, WRITTEN) for key, value in values.items()})})

    text = "\n".join(show_view.yaml_lines(node))

    assert yaml.safe_load(text) == {"outer": values}
    assert text.count("  # a.yaml:3") == len(values)


def test_a_pool_is_shown_with_defaults_and_allocations(invoke: Invoke) -> None:
    result = invoke("show", "laptop", POOL)

    assert result.exit_code == ExitCode.OK
    lines = [line.split("  ") for line in result.stdout.splitlines()]
    origins = {line[0]: line[-1].strip() for line in lines if line[0]}
    assert origins["nodes: 10"].startswith("tenants/acme.yaml:")
    assert origins["scale_down: prefer-idle"] == "default"
    assert "    image: gpu-2026.10.2  " in result.stdout


def test_one_value_is_one_line(invoke: Invoke, data_folder: Path) -> None:
    lines = (data_folder / "laptop" / "tenants" / "acme.yaml").read_text().splitlines()
    line = lines.index("        nodes: 10") + 1

    assert invoke("show", "laptop", f"{POOL}.nodes").stdout == f"10  tenants/acme.yaml:{line}\n"
    assert invoke("show", "laptop", f"{POOL}.nodes", "--format", "yaml").stdout == f"10  # tenants/acme.yaml:{line}\n"
    assert json.loads(invoke("show", "laptop", f"{POOL}.nodes", "--format", "json").stdout) == {
        "environment": "laptop",
        "path": f"{POOL}.nodes",
        "values": [
            {"path": f"{POOL}.nodes", "value": 10, "source": "written", "file": "tenants/acme.yaml", "line": line}
        ],
    }


def test_long_values_of_a_region_are_counted_with_the_command_to_show_them(invoke: Invoke) -> None:
    large = Branch({"hosts": Branch({f"h{number}": Branch() for number in range(60)})})

    assert list(show_view.text_lines(large, "lab", "")) == ["hosts: 60 entries  jacquard show lab hosts"]
    result = invoke("show", "laptop")
    assert result.exit_code == ExitCode.OK
    assert "  a01-u01:\n" in result.stdout


def test_yaml_of_a_whole_region_is_yaml(invoke: Invoke, laptop: Environment) -> None:
    region = yaml.safe_load(invoke("show", "laptop", "--format", "yaml").stdout)

    assert list(region["hosts"]) == [host.host for host in laptop.hosts]
    assert region["tenants"]["acme"]["vpcs"]["acme"]["pods"] == "/16"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "tenants.acm",
            "'acm' is unknown in tenants (known: acme, globex); did you mean 'acme'?",
        ),
        (
            "regions.networks",
            f"'regions.networks' is unknown in a region (known: {SECTIONS}); did you mean 'region'?",
        ),
        (
            "networks",
            (
                f"'networks' is unknown in a region (known: {SECTIONS}; reports: capacity, enrolment, health,"
                " host-states, images, map, network, observability, offerings, policies, prerequisites, uniformity,"
                " upgrades);"
                " did you mean 'network'?"
            ),
        ),
        (
            "hosts.a01-u99",
            f"'a01-u99' is unknown in hosts (known: {FIRST_HOSTS} and 18 more); did you mean 'a01-u08'?",
        ),
        (f"{POOL}.nodes.x", f"'x' is unknown in {POOL}.nodes (known: none)"),
    ],
)  # fmt: skip
def test_an_unknown_path_is_reported_with_the_nearest_one(invoke: Invoke, path: str, message: str) -> None:
    result = invoke("show", "laptop", path)

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == f"error: {message}\n"


def test_capacity_is_a_table(invoke: Invoke) -> None:
    result = invoke("show", "laptop", "capacity")

    assert result.exit_code == ExitCode.OK
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[1] == ["h100-ib-8", "3", "racks", "24", "18", "18", "6", "0", "0", "0"]
    assert rows[2] == ["a01", "8", "-", "6", "2", "0", "0", "0"]
    assert rows[-5:] == [
        ["nodes", "30", "20", "20", "7", "0", "3", "0"],
        ["GPUs", "192", "144", "144", "48", "0", "0", "0"],
        [],
        ["bare-metal", "controller", "boot", "clusters", "assigned", "free", "hosts", "limit"],
        ["metal3", "2", "27", "3", "30", "500"],
    ]


def test_capacity_is_data(invoke: Invoke, laptop: Environment) -> None:
    answer = json.loads(invoke("show", "laptop", "capacity", "--format", "json").stdout)

    assert answer == capacity(laptop).to_json() | {"ending_contracts": []}


def test_capacity_is_a_map(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "map.svg"

    first = invoke("show", "laptop", "capacity", "--svg", str(file))
    before = file.read_bytes()
    second = invoke("show", "laptop", "capacity", "--svg", str(file))

    assert (first.exit_code, second.exit_code) == (ExitCode.OK, ExitCode.OK)
    assert first.stdout.splitlines()[-1] == f"map of 30 hosts in {file}"
    assert before.startswith(b"<svg ")
    assert file.read_bytes() == before


def test_many_failure_domains_with_the_same_figures_are_one_row() -> None:
    full = Figures(installed=18, planned=18)
    domains = {**{f"c{number:03}": full for number in range(50)}, "d001": Figures(installed=18, free=18)}
    kind = TypeCapacity(
        instance_type="gb200",
        gpus_per_node=4,
        hardware={},
        failure_domain="rack",
        domains=domains,
        total=Figures(installed=918),
    )
    console = Console(width=120, record=True)

    with console.capture() as shown:
        console.print(capacity_view.table(Capacity(environment="lab", types=(kind,))))

    rows = [line.split("  ")[0] or line.strip().split("  ")[0] for line in shown.get().splitlines()]
    assert rows == ["instance type", "gb200", "c000 to c049, each of 50", "d001", "nodes", "GPUs"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("show", "laptop", "tenants", "--svg", "x.svg"),
            "--svg requires capacity, map or network; use: jacquard show laptop capacity --svg x.svg",
        ),
        (
            ("show", "laptop", "capacity", "--format", "yaml"),
            "--format yaml: capacity has no YAML output; write text or json",
        ),
        (
            ("show", "laptop", "images", "--live"),
            "--live requires one of enrolment, health, uniformity; use: jacquard show laptop uniformity --live",
        ),
        (
            ("show", "laptop", "capacity", "--history", "v1..v2"),
            "--history requires health; use: jacquard show laptop health --history v1..v2",
        ),
    ],
)
def test_incompatible_options_are_reported(invoke: Invoke, arguments: tuple[str, ...], message: str) -> None:
    result = invoke(*arguments)

    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, f"error: {message}\n")


def test_wrong_data_is_reported_as_by_check(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "laptop" / "region.yaml", "image_channel: stable", "image_channels: stable")

    result = invoke("show", "laptop")

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr.startswith("environments/laptop: ")


UPGRADE = (
    "  write version: v1.36.1 in tenants/globex.yaml:<clusters.globex-lab.version>, then jacquard promote laptop"
    " globex-lab --to v1.36.1"
)


def test_upgrades_are_a_table_with_next_steps(invoke: Invoke) -> None:
    lines = invoke("show", "laptop", "upgrades").stdout.splitlines()

    assert [line.split() for line in lines[:2]] == [
        ["cluster", "runs", "next", "images", "blocked"],
        ["acme-train", "v1.35.2", "v1.36.1", "ready", "no"],
    ]
    assert lines[-2:] == [
        "globex-lab to v1.36.1",
        resolved(UPGRADE, LAPTOP),
    ]


POOLS = ("system,", "train,", "infer")


def test_blocked_upgrades_name_the_cause(invoke: Invoke, data_folder: Path) -> None:
    images = data_folder / "catalog" / "images.yaml"
    images.write_text(images.read_text().replace("kubelet: v1.36.1", "kubelet: v1.35.2"))
    lines = invoke("show", "laptop", "upgrades").stdout.splitlines()

    assert lines[1].split() == ["acme-train", "v1.35.2", "v1.36.1", "none", "for", *POOLS, "3", "reasons"]
    blocked = "  tenants/acme.yaml:LINE clusters[0].pools[0].image: no image of channel stable for cpu-gen4 has kubelet"
    assert lines[5].startswith(resolved(blocked, data_folder / "laptop"))
    [acme, _] = json.loads(invoke("show", "laptop", "upgrades", "--format", "json").stdout)["clusters"]
    assert (acme["next"], len(acme["blocks"])) == ("v1.36.1", 3)
    assert invoke("show", "laptop", "upgrades", "--format", "yaml").exit_code == ExitCode.BAD_DATA


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("capacity", "laptop"),
            "capacity is a report, which follows the environment; use: jacquard show laptop capacity",
        ),
        (("upgrades",), "upgrades is a report, which follows the environment; use: jacquard show ENV upgrades"),
        (("fleet",), "fleet is a report on all environments; use: jacquard fleet"),
    ],
)
def test_a_report_in_place_of_the_environment_is_named(
    invoke: Invoke, arguments: tuple[str, ...], message: str
) -> None:
    result = invoke("show", *arguments)

    assert (result.stderr, result.exit_code) == (f"error: {message}\n", ExitCode.BAD_DATA)
