"""Output of ``jacquard show ENV offerings --example NAME --helm``: values of the chart of virtual machines."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.lookups.pools import clusters, public_addresses
from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode

Invoke = Callable[..., Any]
Edit = Callable[[Path, str, str], None]


def test_an_example_is_printed_as_values_too(invoke: Invoke) -> None:
    text = invoke("show", "laptop", "offerings", "--example", "cpu-4", "--helm").stdout
    values = yaml.safe_load(text)

    release = f"--version {version('jacquard')} --values order.yaml"
    assert text.splitlines()[:5] == [
        "# A VM of size cpu-4 for cluster acme-train of tenant acme (laptop).",
        "# These are values of chart virtual-machine. Save them as order.yaml, edit the values above catalog, replace",
        "# REGISTRY with the chart registry of your platform, and run with a kubeconfig of that cluster:",
        "#   kubectl create secret generic workstation-keys --from-file=me=$HOME/.ssh/id_ed25519.pub",
        f"#   helm install workstation oci://REGISTRY/virtual-machine {release}",
    ]
    assert list(values) == ["name", "size", "image", "root", "keys_secret", "catalog"]
    answer = invoke("show", "laptop", "offerings", "--example", "cpu-4", "--helm", "--format", "json").stdout
    assert json.loads(answer) == values


def test_an_address_that_is_handed_out_is_among_the_values(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    file = data_folder / "laptop" / "tenants" / "acme.yaml"
    edit(file, "  public_ips: 4\n", "  public_ips: 4\n  public_ips_for: [studio]\n")
    assert invoke("allocate", "laptop").exit_code == ExitCode.OK
    assert invoke("check", "laptop").exit_code == ExitCode.OK

    text = invoke("show", "laptop", "offerings", "--example", "cpu-4", "--helm", "--format", "json").stdout
    environment = load_environment("laptop", data_folder)
    address = environment.allocations.public_ips["acme-train/studio"]
    [placed] = [one for one in clusters(environment) if one.cluster.name == "acme-train"]
    path = invoke("show", "laptop", "network", "--path", "internet", "vm:acme-train/studio", "--format", "json")

    assert json.loads(text)["catalog"]["public_addresses"]["studio"]["address"] == str(address)
    assert address in public_addresses(environment, placed)
    assert str(address) in path.stdout
    edit(file, "  public_ips_for: [studio]\n", "")
    assert invoke("allocate", "laptop").exit_code == ExitCode.OK
    assert "acme-train/studio" not in load_environment("laptop", data_folder).allocations.public_ips


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("offerings", "--example", "cpu4", "--helm"),
            "--example: 'cpu4' is not offered (known: cpu-4, cpu-16); did you mean 'cpu-4'?",
        ),
        (
            ("offerings", "--example", "shared-nfs", "--helm"),
            ("--helm: the chart creates VMs, and 'shared-nfs' is not a VM size (sizes: cpu-4, cpu-16); omit --helm"),
        ),
        (
            ("offerings", "--helm"),
            "--helm requires --example; use: jacquard show laptop offerings --example SIZE --helm",
        ),
    ],
)
def test_offerings_without_values_are_reported(invoke: Invoke, arguments: tuple[str, ...], message: str) -> None:
    result = invoke("show", "laptop", *arguments)

    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, f"error: {message}\n")
