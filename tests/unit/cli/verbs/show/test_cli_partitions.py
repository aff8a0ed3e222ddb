"""Output of ``jacquard show ENV network --partitions``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from components.reports.network.partitions import PartitionsContract
from jacquard.cli.errors import ExitCode
from jacquard.cli.views.region.network import partition_lines
from jacquard.machine import paths

Invoke = Callable[..., Any]
GUID = "946dae0300000100"
FUNCTIONS = {"cluster": "acme-train", "guids": "0x0200000000000000-0x0200000000000fff"}


def contract(**more: Any) -> PartitionsContract:
    acme = {
        "vpc": "acme",
        "tenant": "acme",
        "clusters": ("acme-train",),
        "request": {"pkey": "0x11", "guids": (GUID,)},
        "hosts": {"a01-u01": (GUID,)},
        "functions": (),
        "unknown": (),
        **more,
    }
    fabric = {
        "fabric": "ib-desk",
        "halls": ("a",),
        "pkeys": "0x10-0x1f",
        "partitions": (acme,),
        "nobody": {"a01-u02": ("946dae0300000110", "946dae0300000111")},
        "freed": ("0x10",),
    }
    return PartitionsContract.model_validate({"environment": "laptop", "fabrics": (fabric,)})


def test_each_port_is_shown_with_its_partition() -> None:
    assert [line.plain for line in partition_lines(contract())] == [
        "laptop: partition members on 1 InfiniBand fabric",
        "",
        "ib-desk   in halls a, PKeys 0x10-0x1f",
        "  0x11       acme/acme, of acme-train",
        "             1 port of a01-u01, full members, at index 0, with IP",
        "             no other GUIDs",
        "  unused     2 ports of a01-u02, limited members of 0x7fff only",
        "  freed      0x10, no members",
    ]


def test_virtual_functions_and_unknown_ports_are_shown() -> None:
    without = {"request": {"pkey": "0x11", "guids": ()}, "hosts": {}}
    text = [
        line.plain
        for line in partition_lines(contract(**without, functions=(FUNCTIONS,), unknown=("a01-u01", "a01-u03")))
    ]

    assert text[4:7] == [
        "             0x0200000000000000-0x0200000000000fff: virtual functions of acme-train, by ib-kubernetes",
        "             ports of 2 hosts without port_guids in the inventory, such as a01-u01",
        "             no other GUIDs",
    ]


@pytest.mark.parametrize("name", ["laptop", "us-east-04a"])
def test_its_json_keeps_its_schema(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(paths.ROOT / "environments"))
    found = json.loads(invoke("show", name, "network", "--partitions", "--format", "json").stdout)
    schema = json.loads((paths.ROOT / "schemas" / "network-partitions.schema.json").read_text(encoding="utf-8"))

    jsonschema.validate(found, schema)
    assert [one["fabric"] for one in found["fabrics"]] == (["ib-east-1", "ib-east-2"] if name == "us-east-04a" else [])


@pytest.mark.parametrize("options", [("capacity",), ("network", "--border")])
def test_the_option_applies_to_the_network_only(invoke: Invoke, options: tuple[str, ...]) -> None:
    result = invoke("show", "laptop", *options, "--partitions")

    message = (
        "error: --partitions requires network without --svg, --path and --border; use: jacquard show laptop network"
        " --partitions\n"
    )
    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, message)
