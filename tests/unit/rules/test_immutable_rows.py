"""Each edit of an immutable field is either applied by the engine in a test, or rejected by a rule: never both."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.lookups.effects.effect import Effect
from components.lookups.effects.table import CREATED, DELETED, effects_table
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from jacquard.machine import paths
from tests.support.changes.dpu_rollouts import DATA, OTHER_IMAGE
from tests.support.docs.documents import DOCS, text

GLOBEX = "tenants/globex.yaml"
ORDER, SWITCHES = "test_immutable_order", "test_immutable_switches"
_AT_ONCE = (ORDER, "test_new_objects_are_created_before_references_and_old_ones_deleted_last")
_AND_THEN = (ORDER, "test_other_flash_inputs_are_replaced_alike_and_a_vpc_moves_to_another_tenant")
_IN_THE_PREVIEW = (ORDER, "test_another_dpu_in_a_host_is_refused_in_the_preview")
_THERE_AND_BACK = (SWITCHES, "test_a_vpc_moves_to_kube_ovn_and_back_by_new_objects")
APPLIED = {
    "`dpus.image`": _AND_THEN,
    "its image in the catalogue": _AT_ONCE,
    "virtual functions of an instance type": _AT_ONCE,
    "`dpus.mtu_bytes`": _AND_THEN,
    "`dpus.uplink_mtu_bytes`": _AND_THEN,
    "`registry.mirror`": _AND_THEN,
    "another name of a VPC on OVN": _AT_ONCE,
    "another tenant of a VPC on OVN": _AND_THEN,
    "another `isolation`, where no node runs": _AT_ONCE,
    "`dpus.ovn_central`": _AT_ONCE,
    "`dpu_serial`": _IN_THE_PREVIEW,
    "functions of an instance type": _IN_THE_PREVIEW,
    "to Kube-OVN, where no node runs": _THERE_AND_BACK,
    "from Kube-OVN, where no node runs": _THERE_AND_BACK,
}
"""File and name of the test that applies the edit with the engine."""
REFUSED: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "another `isolation`, where nodes run": (
        "networks.isolation-kept",
        [(GLOBEX, "isolation: dpf-ovn", "isolation: dpf-hbn")],
    ),
    "another size of `hosts`": ("networks.vpc-sizes", [(GLOBEX, "hosts: /24", "hosts: /25")]),
    "`egress: none` on OVN": ("outward.control-planes", [(GLOBEX, "egress: public", "egress: none")]),
    "another size of `pods`": ("networks.vpc-sizes", [(GLOBEX, "pods: /18", "pods: /19")]),
    "`ipv6` added to or removed from a VPC": (
        "dual-stack.kept",
        [(GLOBEX, "egress: public", "egress: public\n    ipv6: {pods: /56, services: /112}")],
    ),
    "another VPC of a cluster": (
        "control-planes.kept",
        [(GLOBEX, "- name: globex\n", "- name: other\n"), (GLOBEX, "vpc: globex\n", "vpc: other\n")],
    ),
}
"""The rule and the edit of laptop that violates it, by the edit on the page."""
FLASHED = {
    "`dpus.image`": (
        "BFB",
        [
            ("../catalog/images.yaml", "  - {version: bfb-3.2.0,", f"{OTHER_IMAGE}  - {{version: bfb-3.2.0,"),
            ("region.yaml", "image: bfb-3.2.0", "image: bfb-3.2.7"),
        ],
    ),
    "its image in the catalogue": ("BFB", [DATA["url"][0]]),
    "virtual functions of an instance type": ("DPUFlavor", [DATA["virtual_functions"][0]]),
    "`dpus.mtu_bytes`": ("DPUFlavor", [DATA["mtu_bytes"][0]]),
    "`dpus.uplink_mtu_bytes`": (
        "DPUFlavor",
        [("region.yaml", "  management_api:", "  uplink_mtu_bytes: 9100\n  management_api:")],
    ),
    "`registry.mirror`": ("DPUFlavor", [("region.yaml", "mirror: elsewhere.laptop", "mirror: another.laptop")]),
}
"""Kind of the new object, and the edit of laptop that creates it, by the edit on the page."""
_TABLE = re.compile(r"^\| immutable \| edit \| .*\n\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE)


def rows() -> list[list[str]]:
    """Return the cells of the page's rows."""
    [table] = _TABLE.findall(text(DOCS / "changes/effects.md"))
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]


def flashed(bench: Any) -> dict[str, Manifest]:
    """Return the flash inputs of DPUs."""
    environment = bench.load()
    every = (item for part in slices(environment) for item in objects(manifests(environment, part)))
    return {item.key: item for item in every if item.kind in {"BFB", "DPUFlavor"}}


def test_each_edit_of_the_page_is_claimed_once() -> None:
    edits = [edit for _, cell, _ in rows() for edit in cell.split("; ")]

    assert sorted(edits) == sorted([*APPLIED, *REFUSED])


@pytest.mark.parametrize(("file", "name"), sorted(set(APPLIED.values())))
def test_applied_edits_have_a_test_with_the_engine(file: str, name: str) -> None:
    tree = ast.parse(text(paths.ROOT / "tests" / "e2e" / "changes" / f"{file}.py"))

    assert name in {item.name for item in tree.body if isinstance(item, ast.FunctionDef)}


@pytest.mark.parametrize("edit", FLASHED)
def test_each_flash_field_creates_a_new_object_and_changes_none(laptop: Any, edit: str) -> None:
    kind, changes = FLASHED[edit]
    laptop.edit(*DATA["mirror"][0])
    laptop.promote_dpus()  # Promote to the newest templates first, since any edit would do so as well.
    before = flashed(laptop)
    for change in changes:
        laptop.edit(*change)
    laptop.promote_dpus()

    after = flashed(laptop)
    assert [one.kind for key, one in after.items() if key not in before] == [kind]
    assert all(one.body == before[key].body for key, one in after.items() if key in before)


@pytest.mark.parametrize("edit", REFUSED)
def test_rejected_edits_are_rejected_by_the_rule_on_the_page(laptop: Any, edit: str) -> None:
    rule, edits = REFUSED[edit]
    for change in edits:
        laptop.edit(*change)

    assert rule in {problem.rule for problem in laptop.problems()}
    [outcome] = [outcome for _, fields, outcome in rows() if fields == edit]
    assert outcome == f"refused by `{rule}`"


@pytest.mark.parametrize("group", ["provisioning.dpu.nvidia.com", "svc.dpu.nvidia.com", "vpc.dpu.nvidia.com"])
def test_each_immutable_dpf_field_is_on_the_page(group: str) -> None:
    documented = " ".join(fields for fields, *_ in rows())
    refused = {
        (kind.rpartition("/")[2], path.removesuffix(".**").removesuffix(".*").rpartition(".")[2])
        for kind, found in effects_table().kinds.items()
        for row in found
        for path in row.fields
        if kind.startswith(f"{group}/") and row.effect is Effect.REFUSED and path not in {CREATED, DELETED}
    }

    assert refused
    for kind, field in refused:
        assert re.search(rf"{kind} [^;]*`(spec\.)?{field}`", documented), (kind, field)
