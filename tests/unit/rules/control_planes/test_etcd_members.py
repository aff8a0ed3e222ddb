"""Changes of the number of members of running etcds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import pytest

from components.rules.checks import check_change
from components.rules.control_planes.etcd_members import fewer_members, more_members
from tests.support.checks.waived import waived
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

TODAY = dt.date(2026, 11, 21)
Edits = Sequence[tuple[str, str, str]]
FIVE, ONE = (("region.yaml", "members: 3", f"members: {count}") for count in (5, 1))
OF_DPUS = ("region.yaml", "    - name: default ", "    - members: 1\n      name: default ")
STORES = "  data_stores:\n"
UNUSED, UNUSED_ONE = (
    (
        "region.yaml",
        STORES,
        f"{STORES}    - {{name: b, members: {count}, storage_class: fast, max_clusters: 1}}\n",
    )
    for count in (3, 1)
)
LARGE, SMALL = (
    ("region.yaml", STORES, f"  dedicated: {{storage_class: local-nvme, members: {count}}}\n{STORES}")
    for count in (5, 3)
)
IN_DEDICATED = ("tenants/acme.yaml", "data_store: shared-a", "data_store: dedicated")
SHARED, OTHER_STORE = "control_planes.data_stores", ", or add another data store and move the clusters to it"
FEWER = {
    "one of three": (
        ((), (ONE,)),
        ("shared-a", f"{SHARED}[0].members"),
        (
            f"1 instead of 3 (base: region.yaml:<{SHARED}.shared-a.members>) stops pods, but the etcd of acme-train, "
            f"globex-lab still has 3 members and requires 2 of them; write 3{OTHER_STORE}"
        ),
    ),
    "three of five": (
        ((FIVE,), ()),
        ("shared-a", f"{SHARED}[0].members"),
        (
            f"3 instead of 5 (base: region.yaml:<{SHARED}.shared-a.members>) stops pods, but the etcd of acme-train, "
            f"globex-lab still has 5 members and requires 3 of them; write 5{OTHER_STORE}"
        ),
    ),
    "data store of DPUs, with the default of members in the base": (
        ((), (OF_DPUS,)),
        ("default", f"{SHARED}[1].members"),
        (
            f"1 instead of 3 (base: region.yaml:<{SHARED}.default>) stops pods, but the etcd of the DPUs still has 3 "
            f"members and requires 2 of them; write 3{OTHER_STORE}"
        ),
    ),
    "dedicated": (
        ((LARGE, IN_DEDICATED), (SMALL, IN_DEDICATED)),
        ("dedicated", "control_planes.dedicated.members"),
        (
            "3 instead of 5 (base: region.yaml:<control_planes.dedicated.members>) stops pods, but the etcd of "
            "acme-train still has 5 members and requires 3 of them; write 5"
        ),
    ),
}
MORE = {
    "five of three": (
        ((), (FIVE,)),
        ("shared-a", f"{SHARED}[0].members"),
        (
            f"5 instead of 3 (base: region.yaml:<{SHARED}.shared-a.members>) starts 2 members that do not join the "
            f"etcd of acme-train, globex-lab, and API servers send them requests; write 3{OTHER_STORE}"
        ),
    ),
    "three of one, which form an etcd without data": (
        ((ONE,), ()),
        ("shared-a", f"{SHARED}[0].members"),
        (
            f"3 instead of 1 (base: region.yaml:<{SHARED}.shared-a.members>) starts 2 members that do not join the "
            f"etcd of acme-train, globex-lab, and API servers send them requests; write 1{OTHER_STORE}"
        ),
    ),
    "dedicated": (
        ((SMALL, IN_DEDICATED), (LARGE, IN_DEDICATED)),
        ("dedicated", "control_planes.dedicated.members"),
        (
            "5 instead of 3 (base: region.yaml:<control_planes.dedicated.members>) starts 2 members that do not join "
            "the etcd of acme-train, and API servers send them requests; write 3"
        ),
    ),
}
ACCEPTED = {
    "no change": ((), ()),
    "more of an unused one": ((UNUSED_ONE,), (UNUSED,)),
    "unused": ((UNUSED,), (UNUSED_ONE,)),
    "dedicated without clusters": ((LARGE,), (SMALL,)),
}


def workbench(folder: Path, edits: Edits) -> Workbench:
    bench = Workbench(copy_data(folder / "environments", "laptop"), "laptop")
    for edit in edits:
        bench.edit(*edit)
    return bench


@pytest.mark.parametrize(("edits", "place", "text"), FEWER.values(), ids=FEWER)
def test_fewer_members_of_a_running_etcd_are_reported(
    tmp_path: Path, edits: tuple[Edits, Edits], place: tuple[str, str], text: str
) -> None:
    base, head = (workbench(tmp_path / name, side) for name, side in zip(("base", "head"), edits, strict=True))

    (found,) = fewer_members(base.load(), head.load())

    assert (found.subject, found.path, found.text) == (*place, base.resolved(text))
    assert found.file == "region.yaml"
    assert list(more_members(base.load(), head.load())) == []


@pytest.mark.parametrize(("edits", "place", "text"), MORE.values(), ids=MORE)
def test_more_members_of_a_running_etcd_are_reported(
    tmp_path: Path, edits: tuple[Edits, Edits], place: tuple[str, str], text: str
) -> None:
    base, head = (workbench(tmp_path / name, side) for name, side in zip(("base", "head"), edits, strict=True))

    (found,) = more_members(base.load(), head.load())

    assert (found.subject, found.path, found.text) == (*place, base.resolved(text))
    assert found.file == "region.yaml"
    assert list(fewer_members(base.load(), head.load())) == []


@pytest.mark.parametrize(("before", "after"), ACCEPTED.values(), ids=ACCEPTED)
def test_other_changes_pass(tmp_path: Path, before: Edits, after: Edits) -> None:
    base, head = workbench(tmp_path / "base", before), workbench(tmp_path / "head", after)

    assert [*fewer_members(base.load(), head.load()), *more_members(base.load(), head.load())] == []


@pytest.mark.parametrize(("edit", "rule"), [(ONE, "fewer-members"), (FIVE, "more-members")])
def test_a_waiver_permits_another_number(tmp_path: Path, edit: tuple[str, str, str], rule: str) -> None:
    base, head = workbench(tmp_path / "base", ()).load(), workbench(tmp_path / "head", (edit,)).load()
    permitted = waived(head, f"data-stores.{rule}", "shared-a")

    found, left = ({item.rule for item in check_change(base, after, TODAY)} for after in (head, permitted))

    assert found - left == {f"data-stores.{rule}"}
