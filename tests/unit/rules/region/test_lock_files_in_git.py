"""Lock files under version control: parallel allocations conflict, and every resolution results in a valid file."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

from components.rules.checks import check_data
from components.specs.reading.lock_text import digest_of
from components.specs.reading.problems import SpecError

ALLOCATIONS, PINS = "allocations.lock.yaml", "images.lock.yaml"
GLOBEX = "tenants/globex.yaml"


def _git(laptop: Any, *arguments: str) -> subprocess.CompletedProcess[str]:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *identity, *arguments], cwd=laptop.root, capture_output=True, text=True, check=False)


def _commit(laptop: Any, message: str) -> None:
    assert _git(laptop, "add", ".").returncode == 0
    assert _git(laptop, "commit", "--quiet", "--message", message).returncode == 0


def _add_rack(laptop: Any) -> None:
    """Add four CPU hosts: two for each of the later tenants, including spares."""
    hall = laptop.folder / "inventory" / "hall-a.csv"
    rows = [row for row in hall.read_text(encoding="utf-8").splitlines() if row.startswith("a04,")][:4]
    new = [re.sub(r"(a|A|10\.1\.|:)(0?)4(?=[-\d.:,])", r"\g<1>\g<2>5", row) for row in rows]
    hall.write_text(hall.read_text(encoding="utf-8") + "".join(f"{row}\n" for row in new), encoding="utf-8")


def _add_tenant(laptop: Any, name: str) -> None:
    text = (laptop.folder / GLOBEX).read_text(encoding="utf-8").replace("globex", name).replace(", gpus]", "]")
    text = text.replace("isolation: dpf-ovn", "isolation: dpf-hbn")
    text = text.replace("h100-ib-8, nodes: 4}\n    storage", "cpu-gen4, nodes: 1}\n    storage")
    text = text.replace("contract:\n  - {instance_type: h100-ib-8, nodes: 4}\n", "")
    (laptop.folder / "tenants" / f"{name}.yaml").write_text(text, encoding="utf-8")
    laptop.allocate()


def _conflicting(laptop: Any, *, ours: str = "bee", theirs: str = "yak") -> list[str]:
    """Merge a branch that adds tenant ``theirs`` into one that adds ``ours``; return the files in conflict."""
    assert _git(laptop, "init", "--quiet", "--initial-branch", "main").returncode == 0
    _add_rack(laptop)
    _commit(laptop, "before")
    for branch, tenant in (("theirs", theirs), ("ours", ours)):
        assert _git(laptop, "checkout", "--quiet", "-b", branch, "main").returncode == 0
        _add_tenant(laptop, tenant)
        assert laptop.report() == ""
        _commit(laptop, f"add {tenant}")
    assert _git(laptop, "merge", "--quiet", "theirs").returncode == 1
    return _git(laptop, "diff", "--name-only", "--diff-filter=U").stdout.split()


def test_two_branches_that_each_add_a_tenant_conflict(laptop: Any) -> None:
    assert _conflicting(laptop) == [f"laptop/{ALLOCATIONS}", f"laptop/{PINS}"]
    for name in (ALLOCATIONS, PINS):
        lines = (laptop.folder / name).read_text(encoding="utf-8").splitlines()
        [ours, theirs] = [line for line in lines if line.startswith("digest: ")]
        assert ours != theirs


def test_a_file_in_conflict_is_reported_with_its_resolution(laptop: Any) -> None:
    files = _conflicting(laptop)
    (laptop.folder / GLOBEX).write_text("<<<<<<< ours\n", encoding="utf-8")
    lines = [(laptop.root / file).read_text(encoding="utf-8").split("<<<<<<< ")[0].count("\n") + 1 for file in files]

    remedy = "take either side of the whole file, git checkout --ours or --theirs, and run jacquard allocate"
    [allocations, pins] = [f"{line}  has a merge conflict; {remedy}" for line in lines]
    report = [" ".join(line.split()) for line in laptop.report().splitlines()]
    assert report[1:] == [
        " ".join(f"{ALLOCATIONS}:{allocations}".split()),
        " ".join(f"{PINS}:{pins}".split()),
        f"{GLOBEX}:1 has a merge conflict; resolve it and remove the conflict markers",
    ]


@pytest.mark.parametrize("side", ["--ours", "--theirs"])
def test_either_side_of_the_files_is_brought_up_to_date_by_allocate(laptop: Any, side: str) -> None:
    for file in _conflicting(laptop):
        assert _git(laptop, "checkout", side, file).returncode == 0
    assert "is missing; run jacquard allocate laptop" in laptop.report()

    laptop.allocate()
    assert laptop.report() == ""
    assert {"bee", "yak"} <= laptop.load().allocations.vpcs.keys()


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_either_side_of_each_conflict_is_brought_up_to_date_by_allocate(laptop: Any, side: str) -> None:
    for file in _conflicting(laptop):
        versions = []
        for number, name in ((2, "ours"), (1, "base"), (3, "theirs")):
            path = laptop.root / f"{name}.txt"
            path.write_text(_git(laptop, "show", f":{number}:{file}").stdout, encoding="utf-8")
            versions.append(path.name)
        merged = _git(laptop, "merge-file", "--stdout", f"--{side}", *versions)
        (laptop.root / file).write_text(merged.stdout, encoding="utf-8")
        for name in versions:
            (laptop.root / name).unlink()

    laptop.allocate()
    assert laptop.report() == ""


def test_parallel_removal_and_addition_of_tenants_conflict_too(laptop: Any) -> None:
    assert _git(laptop, "init", "--quiet", "--initial-branch", "main").returncode == 0
    _add_rack(laptop)
    _commit(laptop, "before")
    assert _git(laptop, "checkout", "--quiet", "-b", "leaves").returncode == 0
    (laptop.folder / GLOBEX).unlink()
    laptop.allocate()
    _commit(laptop, "globex leaves")
    assert _git(laptop, "checkout", "--quiet", "-b", "comes", "main").returncode == 0
    _add_tenant(laptop, "bee")
    _commit(laptop, "bee comes")

    assert _git(laptop, "merge", "--quiet", "leaves").returncode == 1
    assert f"laptop/{ALLOCATIONS}" in _git(laptop, "diff", "--name-only", "--diff-filter=U").stdout.split()


def test_a_manual_edit_is_reported_and_allocate_accepts_it_as_a_change(laptop: Any) -> None:
    digest = laptop.load().allocations.digest
    laptop.edit(ALLOCATIONS, "10.65.17.64/27", "10.65.17.96/27")
    edited = digest_of(laptop.load().allocations)

    assert laptop.report() == laptop.resolved(
        f"environments/laptop: 1 problem\n  allocations.lock.yaml:LINE  digest: {digest[:19]}... is not the digest of"
        f" this file ({edited[:19]}...), it was edited or merged by hand; undo that with git checkout, or after a merge"
        " take one side of the whole file, and run jacquard allocate laptop; accept intended edits with --accept-edits"
    )
    laptop.allocate()
    assert laptop.report() == ""
    assert str(laptop.load().allocations.vpcs["globex"].load_balancers) == "10.65.17.96/27"


@pytest.mark.parametrize("file", [ALLOCATIONS, PINS])
def test_a_lock_file_without_digest_is_a_hand_edit_and_allocate_refuses_it(laptop: Any, file: str) -> None:
    environment = laptop.load()
    digest = (environment.allocations if file == ALLOCATIONS else environment.image_pins).digest
    laptop.edit(file, f"digest: {digest}\n", "")

    report = (
        f"environments/laptop: 1 problem\n  {file}:1  digest: is missing, it was edited or merged by hand; undo that"
        " with git checkout, or after a merge take one side of the whole file, and run jacquard allocate laptop; accept"
        " intended edits with --accept-edits"
    )
    assert laptop.report() == report
    assert str(SpecError("laptop", check_data(laptop.load()))) == report
    assert check_data(laptop.load(), edits_meant=True) == []
    laptop.allocate()
    assert laptop.report() == ""


def test_a_number_that_is_allocated_and_in_quarantine_is_reported(laptop: Any) -> None:
    laptop.edit(ALLOCATIONS, "region:", "quarantine:\n  gone/gone: {vnis: [10001], prefixes: [10.64.0.0/17]}\nregion:")
    laptop.sign()

    again = "remove quarantine.gone/gone and run jacquard allocate laptop --accept-edits"
    assert laptop.report() == laptop.resolved(
        "environments/laptop: 2 problems\n"
        f"  allocations.lock.yaml:LINE  quarantine.gone/gone.prefixes: 10.64.0.0/17 overlaps vpcs.acme.pods"
        f" (10.64.0.0/16); {again}\n"
        f"  allocations.lock.yaml:LINE  quarantine.gone/gone.vnis: 10001 is also assigned to globex; {again}"
    )
