"""The public API: its names, their modules, and a program that uses it."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jacquard
from jacquard.machine import paths
from tests.support.docs.documents import DOCS, python_blocks

NAMES = [
    "AddOns",
    "AddOnsInput",
    "Admission",
    "AdmissionInput",
    "Buckets",
    "BucketsInput",
    "Cluster",
    "ClusterAccess",
    "ClusterAccessInput",
    "ClusterAutoscaler",
    "ClusterAutoscalerInput",
    "ClusterDns",
    "ClusterDnsInput",
    "ClusterNamespaces",
    "ClusterNamespacesInput",
    "ClusterSpec",
    "ComponentArgs",
    "Delegation",
    "DelegationInput",
    "Environment",
    "Engine",
    "EngineInput",
    "ExternalSecrets",
    "ExternalSecretsInput",
    "Flux",
    "FluxInput",
    "HostedControlPlane",
    "HostedControlPlaneInput",
    "Impact",
    "Inventory",
    "InventoryInput",
    "Isolation",
    "IsolationInput",
    "Manifest",
    "NodePool",
    "NodePoolInput",
    "NodePoolSpec",
    "ExtensionInput",
    "PodPriorities",
    "PodPrioritiesInput",
    "Problem",
    "ProvisionedBuckets",
    "ProvisionedBucketsInput",
    "Queues",
    "QueuesInput",
    "Region",
    "RegionInput",
    "RegionSpec",
    "RequestPriority",
    "RequestPriorityInput",
    "Serving",
    "ServingInput",
    "Slurm",
    "SlurmInput",
    "SpecError",
    "StorageCatalog",
    "StorageCatalogInput",
    "TenantNetwork",
    "TenantNetworkInput",
    "TenantSpec",
    "VmOffering",
    "VmOfferingInput",
    "VpcSpec",
    "check",
    "impact",
    "inputs",
    "load_environment",
    "render",
]
PROGRAM, _ = python_blocks(DOCS / "guides/use-as-a-library.md")
Run = Callable[..., list[Any]]


def test_the_public_names_are_these() -> None:
    assert sorted(jacquard.__all__) == dir(jacquard) == sorted(NAMES)


def test_type_checkers_see_the_modules_that_names_are_loaded_from() -> None:
    tree = ast.parse((paths.ROOT / "jacquard" / "__init__.py").read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}

    assert seen == {name: module for module, names in jacquard._HOMES.items() for name in names}


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_exists_and_is_documented(name: str) -> None:
    assert getattr(jacquard, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'jacquard' has no attribute 'NodePol'$"):
        _ = jacquard.NodePol  # type: ignore[attr-defined]


def test_importing_the_package_loads_no_dependency() -> None:
    code = "import json, sys; before = {*sys.modules}; import jacquard; print(json.dumps([*({*sys.modules} - before)]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == ["jacquard"]


def test_the_program_of_the_guide_registers_the_pools_of_its_cluster(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(paths.ROOT)

    registered = run(lambda: exec(compile(PROGRAM, "program", "exec"), {"__name__": "__main__"}))  # noqa: S102 - shown

    pools = [item for item in registered if item.type == "jacquard:components:NodePool"]
    children = [item for item in registered if item.parent in {pool.name for pool in pools}]
    environment = jacquard.load_environment("laptop", paths.ROOT / "environments")
    expected = [
        concept
        for concept in jacquard.inputs(environment)
        if isinstance(concept, jacquard.NodePoolInput) and concept.cluster == "acme-train"
    ]
    assert [pool.name for pool in pools] == [concept.name for concept in expected] != []
    assert len(children) == sum(len(concept.render()) for concept in expected)
    assert {item.provider for item in children} == {"kubernetes/management", "jacquard/management"}
    providers = [item.type for item in registered if item.type.startswith("pulumi:providers")]
    assert providers == ["pulumi:providers:kubernetes", "pulumi:providers:jacquard"]


def test_impact_compares_two_folders(tmp_path: Path) -> None:
    for part in ("catalog", "laptop"):
        shutil.copytree(paths.ROOT / "environments" / part, tmp_path / "after/environments" / part)
    tenant = tmp_path / "after/environments/laptop/tenants/acme.yaml"
    data = tenant.read_text(encoding="utf-8")
    assert data.count("changes: platform@acme.example") == 1
    tenant.write_text(data.replace("changes: platform@", "changes: infra@"))

    same = jacquard.impact("laptop", paths.ROOT / "environments", paths.ROOT / "environments")
    changed = jacquard.impact("laptop", paths.ROOT / "environments", tmp_path / "after/environments")

    assert (same.edits, same.rows) == (0, ())
    assert changed.edits == 1


def test_inputs_and_render_refuse_invalid_data() -> None:
    environment = jacquard.load_environment("laptop", paths.ROOT / "environments")
    broken = environment.model_copy(update={"tenants": environment.tenants[:1] * 2})

    for function in (jacquard.inputs, jacquard.render):
        with pytest.raises(jacquard.SpecError):
            function(broken)
