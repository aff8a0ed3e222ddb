"""Output of ``jacquard show ENV offerings``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from tests.support.checks.places import resolved
from tests.support.data.environment_data import REFERENCES, root_of_all

Invoke = Callable[..., Any]
Edit = Callable[[Path, str, str], None]


@pytest.fixture
def everywhere(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``jacquard`` on the reference environments, which these tests only read."""
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(root_of_all()))
    return invoke


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


def test_each_thing_that_can_be_ordered_has_a_row(invoke: Invoke) -> None:
    found = rows(invoke("show", "laptop", "offerings").stdout)

    columns = ["VM size", "CPUs", "memory", "root disk", "GPUs", "offered in", "ordered", "capacity when empty"]
    assert found[0] == columns
    assert found[1][:7] == ["cpu-4", "4", "16Gi", "80Gi", "-", "acme-train", "1"]
    assert ["ubuntu-24-04", "ubuntu-24.04.3-20261015", "4Gi", "acme-train"] in found
    assert ["cpu-gen4", "192", "768Gi", "-", "3", "a04 (3)"] in found
    kept = ["many nodes, durable", "every 6h, kept 72h"]
    assert ["shared-vast (default)", "vast", *kept, "acme-train, globex-lab"] in found
    assert found[-1] == ["example manifest: jacquard show laptop offerings --example cpu-4"]


def test_checkpoints_have_a_class_to_be_written_to_and_one_to_be_kept_in(everywhere: Invoke) -> None:
    found = rows(everywhere("show", "eu-south-03a", "offerings").stdout)

    assert ["local", "shared-nfs", "tessera-render, vireo-train"] in found
    assert all("checkpoints" not in row[0] for row in rows(everywhere("show", "lab", "offerings").stdout) if row)


def test_buckets_are_listed_with_the_location_of_their_keys(everywhere: Invoke) -> None:
    found = rows(everywhere("show", "eu-south-03a", "offerings").stdout)

    row = ["tessera-frames", "tessera", "https://objects.eu-south-03a.cloud.example", "200Ti", "bucket-frames"]
    assert [*row, "tessera-render/render"] in found


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ("eu-south-03a", ["nvidia.com/mig-1g.20gb", "32", "24", "isolated", "solstice-lab/h100"]),
        ("lab", ["nvidia.com/gpu.shared", "32", "3", "not isolated", "research/h100"]),
    ],
)
def test_resource_requests_of_shared_gpus_are_shown(everywhere: Invoke, environment: str, expected: list[str]) -> None:
    assert expected in rows(everywhere("show", environment, "offerings").stdout)


def test_requested_gpu_sharing_is_offered_after_its_promotion(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    def reported() -> list[Any]:
        return list(json.loads(invoke("show", "laptop", "offerings", "--format", "json").stdout)["shared_gpus"])

    edit(
        data_folder / "laptop" / "tenants" / "globex.yaml",
        "nodes: 4}\n    storage",
        "nodes: 4, gpu_sharing: {mig: 3g.40gb}}\n    storage",
    )
    assert reported() == []
    checked = " ".join(invoke("check", "laptop").stdout.split())
    expected = "gpu_sharing is none, data has {mig: 3g.40gb} (tenants/globex.yaml:<clusters.globex-lab.pools.lab>)"
    assert resolved(expected, data_folder / "laptop") in checked

    assert invoke("promote", "laptop", "globex-lab/lab", "--all").exit_code == ExitCode.OK
    assert [(one["resource"], one["each_node"], one["nodes"]) for one in reported()] == [
        ("nvidia.com/mig-3g.40gb", 16, 4)
    ]


def test_a_checkpoint_without_persistent_storage_is_reported(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    local = "storage:\n  - {name: local, driver: topolvm, device_class: nvme, default: true}\n"
    edit(data_folder / "laptop" / "region.yaml", "storage:\n", local)
    edit(data_folder / "laptop" / "tenants" / "globex.yaml", "storage: [shared-vast]", "storage: [local]")

    assert ["local", "none", "globex-lab"] in rows(invoke("show", "laptop", "offerings").stdout)


def test_the_example_pod_requests_infiniband(everywhere: Invoke) -> None:
    found = rows(everywhere("show", "us-east-04a", "offerings").stdout)

    asked = ["default/ib-east-1", "nvidia.com/infiniband", "128 of 8 ports", "the node"]
    assert ["h200-ib-8", *asked] in [row[:5] for row in found]
    assert "RDMA on" not in everywhere("show", "lab", "offerings").stdout


def test_ports_on_roce_are_those_of_the_nodes_own_network(everywhere: Invoke) -> None:
    text = everywhere("show", "eu-south-03a", "offerings").stdout

    ports = ["roce-south, hostNetwork", "-", "8 ports", "the node"]
    assert ["h100-eth-8", *ports, "solstice-lab, vireo-train"] in rows(text)


def test_pods_on_rails_learn_the_attachment_and_the_resource_of_each(everywhere: Invoke) -> None:
    found = rows(everywhere("show", "eu-south-03a", "offerings").stdout)
    pod = yaml.safe_load(everywhere("show", "eu-south-03a", "offerings", "--example", "h200-eth-8").stdout)
    limits = pod["spec"]["containers"][0]["resources"]["limits"]

    mine = [row[1:3] for row in found if row[:1] == ["h200-eth-8"] and "-rail-" in "".join(row)]
    assert mine == [[f"default/roce-south-rail-{rail}", f"nvidia.com/roce_rail_{rail}"] for rail in range(8)]
    assert pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] == ",".join(name for name, _ in mine)
    assert limits == {"nvidia.com/gpu": "8", **{resource: "1" for _, resource in mine}}
    assert "hostNetwork" not in pod["spec"]


def test_the_example_job_uses_nvlink_across_nodes(everywhere: Invoke) -> None:
    found = rows(everywhere("show", "us-east-04a", "offerings").stdout)
    text = everywhere("show", "us-east-04a", "offerings", "--example", "gb200-nvl72").stdout
    domain, job = yaml.safe_load_all(text)
    pod = job["spec"]["template"]["spec"]

    assert ["gb200-nvl72", "80", "18", "nvidia.com/gpu.clique", "aurelia-train/nvl72"] in found
    assert text.startswith("# A job on an NVLink domain of gb200-nvl72 for cluster aurelia-train of tenant aurelia")
    assert (job["spec"]["parallelism"], job["spec"]["completions"]) == (18, 18)
    assert pod["tolerations"] == [{"key": "workload", "value": "training", "effect": "NoSchedule"}]
    [claim], [container] = pod["resourceClaims"], pod["containers"]
    assert claim["resourceClaimTemplateName"] == domain["spec"]["channel"]["resourceClaimTemplate"]["name"]
    assert container["resources"] == {"limits": {"nvidia.com/gpu": 4}, "claims": [{"name": claim["name"]}]}
    [together] = pod["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert together["topologyKey"] == "nvidia.com/gpu.clique"
    assert together["labelSelector"]["matchLabels"] == job["spec"]["template"]["metadata"]["labels"]
    answer = everywhere("show", "us-east-04a", "offerings", "--example", "gb200-nvl72", "--format", "json").stdout
    assert json.loads(answer) == [domain, job]
    assert "NVLink" not in everywhere("show", "eu-south-03a", "offerings").stdout


def test_capacity_counts_nodes_in_service_only(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    def room() -> dict[str, Any]:
        [size, *_] = json.loads(invoke("show", "laptop", "offerings", "--format", "json").stdout)["vm_sizes"]
        [found] = size["room"]
        return dict(found)

    before = room()
    edit(data_folder / "catalog" / "vm_offerings.yaml", "cpus: 4, memory: 16Gi", "cpus: 4, memory: 700Gi")
    after = room()

    assert before["vms"] == sum(before["failure_domains"].values())
    assert before["cluster"] == "acme-train"
    assert (before["nodes"], before["vms"]) == (2, 2 * (720 // 80))
    assert (after["nodes"], after["vms"]) == (2, 2 * (768 // 700))


def test_the_data_example_can_be_ordered(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    instances = "  instances:\n    - {name: desk, count: 7, size: cpu-4, image: debian-13}\n  platform:\n"
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "  platform:\n", instances)

    small, large = json.loads(invoke("show", "laptop", "offerings", "--format", "json").stdout)["vm_sizes"]

    assert [size["room"][0]["ordered"] for size in (small, large)] == [1 + 7, 0]


def test_a_size_without_a_node_has_no_room(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "catalog" / "vm_offerings.yaml", "cpus: 4, memory: 16Gi", "cpus: 4, memory: 7000Gi")

    [_, first, *_] = rows(invoke("show", "laptop", "offerings").stdout)

    assert first[-1] == "none"


def test_a_region_without_vms_is_reported(everywhere: Invoke) -> None:
    assert everywhere("show", "lab", "offerings").stdout.startswith("no cluster offers VMs\n")
    result = everywhere("show", "lab", "offerings", "--example", "cpu-4")
    assert result.stderr == "error: --example: 'cpu-4' is not offered (known: shared-nfs, h100-ib-8)\n"


@pytest.mark.parametrize("name", REFERENCES)
def test_its_json_keeps_its_schema(everywhere: Invoke, name: str) -> None:
    answer = json.loads(everywhere("show", name, "offerings", "--format", "json").stdout)

    schema = json.loads((paths.ROOT / "schemas" / "offerings.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(answer, schema)
    assert answer["environment"] == name
    assert sum(kind["free"] for kind in answer["nodes"]) == sum(
        sum(kind["failure_domains"].values()) for kind in answer["nodes"]
    )


def test_an_example_is_a_manifest_after_the_steps_of_its_tenant(invoke: Invoke) -> None:
    text = invoke("show", "laptop", "offerings", "--example", "cpu-4").stdout
    order = yaml.safe_load(text)

    assert text.splitlines()[:4] == [
        "# A VM of size cpu-4 for cluster acme-train of tenant acme (laptop).",
        "# Save this as order.yaml, change the name if needed, and run with a kubeconfig of that cluster:",
        "#   kubectl create secret generic workstation-keys --from-file=me=$HOME/.ssh/id_ed25519.pub",
        "#   kubectl apply -f order.yaml",
    ]
    assert order == json.loads(invoke("show", "laptop", "offerings", "--example", "cpu-4", "--format", "json").stdout)
    assert order["spec"]["instancetype"]["name"].startswith("cpu-4-")


def example(everywhere: Invoke, environment: str, name: str) -> Any:
    return json.loads(everywhere("show", environment, "offerings", "--example", name, "--format", "json").stdout)


def test_an_example_of_a_class_is_a_shared_claim_or_scratch_of_a_pod(
    everywhere: Invoke,
) -> None:
    shared, local = (example(everywhere, "us-east-04a", name) for name in ("shared-vast", "scratch"))
    [volume] = local["spec"]["volumes"]
    template = volume["ephemeral"]["volumeClaimTemplate"]["spec"]

    assert (shared["kind"], local["kind"]) == ("PersistentVolumeClaim", "Pod")
    assert [(spec["accessModes"], spec["storageClassName"]) for spec in (shared["spec"], template)] == [
        (["ReadWriteMany"], "shared-vast"),
        (["ReadWriteOnce"], "scratch"),
    ]
    assert [mount["name"] for mount in local["spec"]["containers"][0]["volumeMounts"]] == [volume["name"]]


@pytest.mark.parametrize(
    ("environment", "kind", "limits", "networks"),
    [
        ("us-east-04a", "h200-ib-8", {"nvidia.com/gpu": "8", "nvidia.com/infiniband": "8"}, 8),
        ("laptop", "h100-ib-8", {"nvidia.com/gpu": "8"}, 0),
        ("eu-south-03a", "h100-eth-8", {"nvidia.com/mig-1g.20gb": "1"}, 0),
    ],
    ids=["with all ports", "on no fabric", "a part"],
)
def test_an_example_of_a_type_is_a_pod_that_its_nodes_take(
    everywhere: Invoke, environment: str, kind: str, limits: dict[str, str], networks: int
) -> None:
    pod = example(everywhere, environment, kind)
    [container] = pod["spec"]["containers"]
    named = pod["metadata"].get("annotations", {}).get("k8s.v1.cni.cncf.io/networks", "")

    assert pod["spec"]["nodeSelector"] == {"node-restriction.kubernetes.io/instance-type": kind}
    assert container["resources"] == {"limits": limits}
    assert len([name for name in named.split(",") if name]) == networks
    assert ("securityContext" in container) is bool(networks)


def test_a_pod_tolerates_the_taints_of_the_pool(everywhere: Invoke) -> None:
    assert example(everywhere, "laptop", "h100-ib-8")["spec"]["tolerations"] == [
        {"key": "workload", "operator": "Equal", "value": "training", "effect": "NoSchedule"}
    ]


def test_gpus_that_vms_have_are_in_no_pod(everywhere: Invoke) -> None:
    text = everywhere("show", "eu-south-03a", "offerings", "--example", "l40s-8").stdout

    # tessera-render is the first cluster whose nodes with GPUs are for VMs.
    assert text.startswith("# A pod with all GPUs of a node of type l40s-8 for cluster solstice-eval of tenant")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("offerings", "--example", "cpu4"),
            (
                "--example: 'cpu4' is not offered (known: cpu-4, cpu-16, shared-nfs, shared-vast, h100-ib-8); did"
                " you mean 'cpu-4'?"
            ),
        ),
        (
            ("capacity", "--example", "cpu-4"),
            "--example requires offerings; use: jacquard show laptop offerings --example cpu-4",
        ),
        (("offerings", "--format", "yaml"), "--format yaml: offerings has no YAML output; write text or json"),
    ],
)
def test_unsupported_queries_are_reported(invoke: Invoke, arguments: tuple[str, ...], message: str) -> None:
    result = invoke("show", "laptop", *arguments)

    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, f"error: {message}\n")
