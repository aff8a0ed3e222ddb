"""The table of families matches the module files, and its keys match the inputs of a binary."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from jacquard.lab.toolchain import tools, versions
from jacquard.lab.toolchain.binaries import module_folder
from jacquard.lab.toolchain.families import CONTROLLERS, FAMILIES, needed
from jacquard.lab.toolchain.family import Family
from jacquard.lab.toolchain.repository_families import LINTERS, NIGHTLY

BY_NAME = {family.name: family for family in FAMILIES}
EACH = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@EACH
def test_built_programs_are_the_tools_in_go_mod(family: Family) -> None:
    go_mod = (family.folder / "go.mod").read_text()
    block = re.search(r"^tool \(\n(.*?)^\)", go_mod, re.MULTILINE | re.DOTALL)
    declared = block[1].split() if block else re.findall(r"^tool (\S+)$", go_mod, re.MULTILINE)

    built = [binary.package for other in FAMILIES if other.folder == family.folder for binary in other.binaries]
    assert sorted(built) == sorted(declared)


@EACH
def test_go_sum_verifies_every_module_whose_files_are_copied(family: Family) -> None:
    sums = (family.folder / "go.sum").read_text()
    for data in family.data:
        version = versions.of_module(family.folder / "go.mod", data.module)
        assert re.search(rf"^{re.escape(data.module)} {re.escape(version)} h1:", sums, re.MULTILINE)


def test_a_capital_in_a_modules_path_is_escaped_as_module_caches_do(tmp_path: Path) -> None:
    family = BY_NAME["charts"]
    [slurm] = [data for data in family.data if data.name == "slurm-operator"]

    folder = module_folder(tmp_path, slurm, family)

    assert folder.parent == tmp_path / "github.com" / "!slinky!project"
    assert folder.name.startswith("slurm-operator@v")


@EACH
def test_the_required_go_builds_every_family(family: Family) -> None:
    [wanted] = re.findall(r"^go (\S+)$", (family.folder / "go.mod").read_text(), re.MULTILINE)
    parsed = versions.parse(wanted)
    assert parsed is not None
    assert parsed <= tools.GO_MINIMUM


def test_names_are_unique() -> None:
    names = [binary.name for family in FAMILIES for binary in family.binaries]
    names += [data.name for family in FAMILIES for data in family.data]
    assert len(names) == len(set(names))


def test_the_controller_of_metallb_is_of_the_version_of_its_chart() -> None:
    chart = versions.of_module(BY_NAME["charts"].folder / "go.mod", BY_NAME["metallb"].module)
    assert BY_NAME["metallb"].version == chart


def test_engine_and_python_sdk_are_one_version() -> None:
    sdk = versions.of_module(BY_NAME["pulumi"].folder / "go.mod", "github.com/pulumi/pulumi/sdk/v3")
    assert BY_NAME["pulumi"].version == sdk == f"v{versions.of_package('pulumi')}"


def test_all_kubernetes_modules_are_replaced_by_the_release_of_the_same_number() -> None:
    go_mod = (BY_NAME["kubernetes"].folder / "go.mod").read_text()
    replaced = re.findall(r"^\s*(?:replace )?(k8s\.io/\S+) => (\S+) (\S+)$", go_mod, re.MULTILINE)

    release = BY_NAME["kubernetes"].version.replace("v1.", "v0.", 1)
    assert len(replaced) > 20
    assert {(old == new, version) for old, new, version in replaced} == {(True, release)}


def test_flags_stamp_the_pinned_version() -> None:
    version = versions.of_package("pulumi")
    assert BY_NAME["pulumi"].flags() == [
        "-trimpath",
        "-buildvcs=false",
        "-tags",
        "osusergo,grpcnotrace",
        "-gcflags=all=-dwarf=false",
        "-ldflags",
        f"-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{version}",
    ]
    assert "-X k8s.io/component-base/version.gitMinor=36 " in BY_NAME["kubernetes"].flags()[-1]


def test_the_key_depends_on_module_files_and_built_programs(tree: Path) -> None:
    etcd = BY_NAME["etcd"]
    keys = [etcd.digest(), replace(etcd, tags="x").digest(), replace(etcd, stamps=("a.b=c",)).digest()]
    for name in ("go.mod", "go.sum", "main.go"):
        file = tree / "jacquard/lab/toolchain/modules" / "region" / name
        file.write_text((file.read_text() if file.exists() else "") + "\n")
        keys.append(etcd.digest())

    assert len(set(keys)) == len(keys)


def test_estimates_do_not_change_the_key() -> None:
    etcd = BY_NAME["etcd"]
    slower = replace(etcd.binaries[0], expected_seconds=999)
    assert replace(etcd, disk_bytes=1, binaries=(slower,)).digest() == etcd.digest()


@pytest.mark.parametrize(
    ("engine", "cluster", "skipped"),
    [
        (True, "kwok", set()),
        (False, "kwok", {"pulumi"}),
        (True, "kind", {"kubernetes", "etcd"}),
        (False, "context:lab", {"pulumi"}),
    ],
)
def test_only_programs_for_this_machine_are_built(engine: bool, cluster: str, skipped: set[str]) -> None:  # noqa: FBT001  (a table)
    chosen = {family.name for family in needed(engine=engine, cluster=cluster)}
    assert set(BY_NAME) - chosen == skipped | {family.name for family in (*CONTROLLERS, *LINTERS, *NIGHTLY)}


def test_controllers_of_add_ons_are_needed_on_request_only() -> None:
    without, requested = (needed(engine=True, cluster="kwok", controllers=asked) for asked in (False, True))
    assert [family.name for family in requested if family not in without] == ["metallb", "external-dns"]


def test_monitoring_is_needed_on_request_only() -> None:
    without, requested = (needed(engine=True, cluster="kwok", monitoring=asked) for asked in (False, True))
    assert [family.name for family in requested if family not in without] == ["alertmanager", "prometheus"]
