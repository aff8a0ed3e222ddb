"""Output of ``jacquard show ENV network --path A B``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from components.inputs.manifests import everything
from components.reports.network.endpoints import named
from components.reports.network.paths import path
from components.rules.network import outward
from components.rules.rule import Rule
from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from tests.support.data.environment_data import REFERENCES, reference

Invoke = Callable[..., Any]
Edit = Callable[[Path, str, str], None]
BORDER = "networks:\n  border: {asn: 64496, services: 100, internet: 200, networks: [10.6.0.0/24]}\n"


@pytest.fixture
def everywhere(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``jacquard`` on the reference environments, which these tests only read."""
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(paths.ROOT / "environments"))
    return invoke


def ask(invoke: Invoke, name: str, source: str, target: str) -> dict[str, Any]:
    answer = invoke("show", name, "network", "--path", source, target, "--format", "json").stdout
    return dict(json.loads(answer))


def test_each_step_is_shown_with_its_rule_and_enforcing_component(everywhere: Invoke) -> None:
    assert everywhere("show", "laptop", "network", "--path", "pod:acme-train", "pod:globex-lab").stdout == (
        "pod:acme-train does not reach pod:globex-lab\n"
        "  pod:acme-train: 10.64.0.0/16, pods of VPC acme\n"
        "  pod:globex-lab: 10.65.64.0/18, pods of VPC globex\n"
        "there\n"
        "  no   DPU of the host in acme: denies 10.64.0.0/10: other tenants\n"
        "rules of acme are defined in DPUServiceConfiguration acme-hbn\n"
        "rules of globex are defined in DPUVirtualNetwork globex-2faff0c0c5\n"
    )
    assert everywhere("show", "laptop", "network", "--path", "pod:acme-train", "internet").stdout == (
        "pod:acme-train reaches internet\n"
        "  pod:acme-train: 10.64.0.0/16, pods of VPC acme\n"
        "  internet: 0.0.0.0/0, internet\n"
        "there\n"
        "  yes  DPU of the host in acme: permits 0.0.0.0/0: egress: public\n"
        "  yes  VRF acme: route 0.0.0.0/0 by route target 4200000000:10000: egress: public\n"
        "  yes  border: leads to 0.0.0.0/0   (border router contract)\n"
        "rules of acme are defined in DPUServiceConfiguration acme-hbn\n"
    )


def test_policies_of_namespaces_are_steps_too(everywhere: Invoke) -> None:
    ends = ("pod:globex-lab/nightly", "pod:globex-lab/notebooks")
    reported = ask(everywhere, "laptop", *ends)

    assert [(step["device"], step["rule"]) for step in reported["steps"]] == [
        ("policy of namespace nightly", "notebooks admits nightly"),
        ("VPC globex", "one network by dpf-ovn"),
        ("policy of namespace notebooks", "notebooks admits nightly"),
    ]
    back = ask(everywhere, "laptop", *reversed(ends))
    assert not back["reached"]
    assert back["decided_by"]["rule"] == "nightly does not admit it"


def test_the_policy_of_a_vpc_without_edge_routers_applies_to_namespace_default_only(everywhere: Invoke) -> None:
    default = ask(everywhere, "eu-south-03a", "storage", "pod:solstice-lab")
    team = ask(everywhere, "eu-south-03a", "storage", "pod:solstice-lab/courses")

    assert default["steps"][-1]["device"] == "nodes of solstice"
    assert team["decided_by"]["device"] == "policy of namespace courses"
    assert "nodes of solstice" not in {step["device"] for step in team["steps"]}


@pytest.mark.parametrize("region", REFERENCES)
def test_rules_are_in_objects_that_are_rendered(region: str) -> None:
    environment = reference(region)
    rendered = {f"{item.kind} {item.name}" for item in everything(environment)}

    for name in (one.name for one in named(environment) if one.name.startswith("pod:")):
        [objects] = path(environment, name, "storage").objects.values()
        assert objects
        assert {*objects} <= rendered


@pytest.mark.parametrize(
    ("region", "source", "target", "rule"),
    [
        ("laptop", "pod:acme-train", "api:acme-train", None),
        ("laptop", "host:acme-train/train", "storage", None),
        ("laptop", "pod:acme-train", "internet", None),
        ("laptop", "internet", "vm:acme-train/bastion", None),
        ("laptop", "internet", "203.0.113.1", None),
        ("laptop", "pod:acme-train", "host:acme-train/train", None),
        ("laptop", "api:acme-train", "host:acme-train/train", None),
        ("laptop", "pod:acme-train", "api:globex-lab", "denies 10.3.0.0/24: networks.control_plane_vips"),
        ("laptop", "pod:acme-train", "10.3.0.77", "denies 10.3.0.0/24: networks.control_plane_vips"),
        ("laptop", "pod:acme-train", "management", "denies 10.0.0.0/16: networks.management"),
        ("laptop", "management", "pod:acme-train", "denies 10.0.0.0/16: networks.management"),
        ("laptop", "internet", "pod:acme-train", "announces no route to 10.64.0.0/16 (pods) to the internet"),
        ("laptop", "pod:globex-lab", "internet", None),
        ("laptop", "host:globex-lab/lab", "bmc", "drops 10.1.0.0/16: networks.bmc"),
        ("laptop", "host:globex-lab/lab", "10.0.0.30", "drops 10.0.0.0/16: networks.management"),
        ("laptop", "host:globex-lab/lab", "api:acme-train", "drops 10.3.0.0/24: control planes of other VPCs"),
        ("laptop", "pod:globex-lab", "api:globex-lab", None),
        ("laptop", "internet", "host:globex-lab/lab", "no external network has a route into dpf-ovn"),
        ("lab", "host:research/h100", "storage", None),
        ("us-east-04a", "pod:delphi-fold", "internet", "denies 0.0.0.0/0: egress: none"),
        ("us-east-04a", "pod:aurelia-train", "boot", "denies 10.5.64.0/18: networks.boot"),
        ("eu-south-03a", "pod:tessera-render", "bmc", "denies 10.129.0.0/16: networks.bmc"),
        ("eu-south-03a", "internet", "pod:tessera-render", "no external network has a route into kube-ovn"),
        ("eu-south-03a", "pod:solstice-lab", "internet", "denies 0.0.0.0/0: egress: none"),
        ("eu-south-03a", "bmc", "pod:solstice-lab", "ingress: public, and 10.129.0.0/16 excepted"),
    ],
)
def test_the_first_rule_that_stops_decides(
    everywhere: Invoke, region: str, source: str, target: str, rule: str | None
) -> None:
    found = ask(everywhere, region, source, target)

    assert found["reached"] == (rule is None) == (found["decided_by"] is None)
    assert rule is None or rule in found["decided_by"]["rule"]
    schema = json.loads((paths.ROOT / "schemas" / "network-path.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)


def test_hosts_without_filters_are_shown_as_such(everywhere: Invoke) -> None:
    found = ask(everywhere, "eu-south-03a", "10.192.146.9", "bmc")

    assert (found["source"]["where"], found["source"]["vpc"]) == ("hosts", "tessera")
    assert found["reached"]
    assert {step["kept_by"] for step in found["steps"]} == {"nobody"}


def test_a_border_that_is_named_leads_to_no_other_tenant(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "laptop" / "region.yaml", "networks:\n", BORDER)

    refused, service = (ask(invoke, "laptop", "pod:acme-train", to) for to in ("pod:globex-lab", "10.6.0.53"))

    assert refused["decided_by"]["rule"] == "denies 10.64.0.0/10: other tenants"
    assert refused["decided_by"]["kept_by"] == "rendered"
    assert service["reached"]
    assert "route 10.6.0.0/24 by route target 64496:100" in service["steps"][1]["rule"]


@pytest.mark.parametrize(
    ("vpc", "source", "target", "rule"),
    [
        ("acme", "internet", "vm:acme-train/bastion", outward.answers),
        ("globex", "pod:globex-lab", "api:globex-lab", outward.control_planes),
    ],
)
def test_a_required_path_ends_at_a_denying_rule(
    vpc: str, source: str, target: str, rule: Rule, data_folder: Path, edit: Edit
) -> None:
    opened = load_environment("laptop", data_folder)
    edit(data_folder / "laptop" / "tenants" / f"{vpc}.yaml", "egress: public", "egress: none")
    closed = load_environment("laptop", data_folder)

    assert [path(one, source, target).reached for one in (opened, closed)] == [True, False]
    assert [len(list(rule(one))) for one in (opened, closed)] == [0, 1]


@pytest.mark.parametrize(
    ("target", "rule"),
    [
        ("192.0.2.9", "denies 192.0.2.0/24: deny of this VPC"),
        ("198.19.0.9", "denies 198.18.0.0/15: networks.deny, unreachable for VPCs"),
    ],
)
def test_a_denied_network_is_shown_with_the_list_that_denies_it(
    target: str, rule: str, data_folder: Path, edit: Edit
) -> None:
    edit(data_folder / "laptop" / "region.yaml", "networks:\n", "networks:\n  deny: [198.18.0.0/15]\n")
    edit(data_folder / "laptop/tenants/acme.yaml", "egress: public\n", "egress: public\n    deny: [192.0.2.0/24]\n")

    found = path(load_environment("laptop", data_folder), "pod:acme-train", target)

    assert found.decided_by is not None
    assert found.decided_by.rule == rule


UNKNOWN = (
    "--path: 'pod:acme-trian' is not an end of a path (host:CLUSTER/POOL, pod:CLUSTER, pod:CLUSTER/NAMESPACE,"
    " vm:CLUSTER/VM, api:CLUSTER, an address, or one of: internet, management, bmc, storage, dpu_loopbacks, ovn,"
    " registry, api:acme-train and 10 more); did you mean 'pod:acme-train'?"
)
OUTSIDE = "--path: neither internet nor storage is in a VPC, but Jacquard controls only connections of VPCs"
NOWHERE = "--path: '2001:db8::1' is an IPv6 address that no pod reaches: clusters have no external IPv6 routes"
ELSEWHERE = "--path requires network without --svg; use: jacquard show laptop network --path internet storage"


@pytest.mark.parametrize(
    ("word", "source", "target", "message"),
    [
        ("network", "pod:acme-trian", "storage", UNKNOWN),
        ("network", "internet", "storage", OUTSIDE),
        ("network", "pod:acme-train", "2001:db8::1", NOWHERE),
        ("map", "internet", "storage", ELSEWHERE),
    ],
)
def test_unsupported_queries_are_reported(invoke: Invoke, word: str, source: str, target: str, message: str) -> None:
    result = invoke("show", "laptop", word, "--path", source, target)

    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, f"error: {message}\n")


@pytest.mark.parametrize(
    ("port", "remedy"),
    [
        ("22", "tcp/22 or udp/22"),
        ("ssh", "tcp/443, udp/53 or icmp"),
        ("tcp/65536", "tcp/443, udp/53 or icmp"),
        ("70000", "tcp/443, udp/53 or icmp"),
    ],
)
def test_an_invalid_port_is_reported(invoke: Invoke, port: str, remedy: str) -> None:
    result = invoke("show", "laptop", "network", "--path", "pod:acme-train", "storage", "--port", port)

    reported = f"error: --port: '{port}' is not a protocol and port; write {remedy}\n"
    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, reported)


def test_a_fabric_outside_the_path_is_shown(everywhere: Invoke) -> None:
    def reported(name: str, *ends: str) -> list[str]:
        lines = everywhere("show", name, "network", "--path", *ends).stdout.splitlines()
        return [line for line in lines if line.startswith("on ")]

    assert reported("eu-south-03a", "pod:solstice-lab", "pod:vireo-train") == [
        "on roce-south, by VNI 40000 and VNI 40001, ports of both are isolated"
    ]
    assert reported("us-east-04a", "pod:ember-train", "pod:ember-train") == [
        "on ib-east-1, by PKey 0x13, ports of both can communicate, regardless of the rules above"
    ]
    assert reported("eu-south-03a", "pod:solstice-lab", "pod:tessera-render") == []
    assert reported("eu-south-03a", "pod:solstice-lab", "storage") == []


def test_an_ipv6_address_is_shown_with_its_possible_sources(everywhere: Invoke) -> None:
    result = everywhere("show", "eu-south-03a", "network", "--path", "pod:solstice-lab", "fd42:7a1c:e500::7")

    assert result.exit_code == ExitCode.BAD_DATA
    assert "of pods in VPC solstice (fd42:7a1c:e500::/56), reachable only by its pods" in result.stderr
