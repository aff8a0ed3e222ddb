"""Lock files of a region: never recreated without the other one, not of another region, and not older than the data."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import pytest

from components.rules.checks import check_data
from components.specs.reading.problems import SpecError
from tests.support.changes.promotion import promote
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.lock_files import write_locks

ALLOCATIONS, PINS = "allocations.lock.yaml", "images.lock.yaml"
LOST = {
    ALLOCATIONS: "images.lock.yaml is not: hosts would change clusters, and clusters their numbers",
    PINS: "allocations.lock.yaml is not: running nodes would be recreated",
}


def _refusal(laptop: Any, *, edits_meant: bool = False) -> str:
    return str(SpecError("laptop", check_data(laptop.load(), edits_meant=edits_meant)))


def _git(laptop: Any, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=laptop.root.parent, check=True, capture_output=True)


def _promoted(laptop: Any) -> None:
    environment = laptop.load()
    pins = promote(environment, "acme-train/train", "gpu-2026.11.1")
    write_locks(environment, laptop.root, environment.allocations, pins)


@pytest.mark.parametrize("file", [ALLOCATIONS, PINS])
@pytest.mark.parametrize("left", [None, "schema_version: 1\n"])
def test_a_missing_lock_file_is_not_recreated(laptop: Any, file: str, left: str | None) -> None:
    _git(laptop, "init", "--quiet")
    _git(laptop, "add", ".")
    _git(laptop, "commit", "--quiet", "--message", "before")
    (laptop.folder / file).unlink()
    if left:
        (laptop.folder / file).write_text(left)

    path = f"environments/laptop/{file}"
    report = (
        f"environments/laptop: 1 problem\n  {file}  is lost or empty, but {LOST[file]}; restore it from the last commit"
        f" that has it, which git log -1 --diff-filter=AM -- {path} finds: git checkout COMMIT -- {path}; in a region"
        " that never ran remove both instead"
    )
    assert laptop.report() == _refusal(laptop) == _refusal(laptop, edits_meant=True) == report
    _git(laptop, "checkout", "HEAD", "--", path)
    assert laptop.report() == ""


def test_only_a_new_region_begins_empty(laptop: Any) -> None:
    for name in (ALLOCATIONS, PINS):
        (laptop.folder / name).unlink()

    assert check_data(laptop.load()) == []
    laptop.allocate()
    assert laptop.report() == ""


@pytest.mark.parametrize("files", [(ALLOCATIONS,), (PINS,), (ALLOCATIONS, PINS)])
def test_lock_files_of_another_region_are_the_only_problem(laptop: Any, files: tuple[str, ...]) -> None:
    mine = {file: (laptop.folder / file).read_text() for file in files}
    for file in files:
        shutil.copy(ENVIRONMENTS / "lab" / file, laptop.folder / file)

    report = laptop.report().splitlines()
    assert report == _refusal(laptop).splitlines() == _refusal(laptop, edits_meant=True).splitlines()
    assert len(report) == 1 + len(files)
    for line in report[1:]:
        assert line.endswith(
            "region: belongs to region 'lab', not laptop; restore the lock file of this region with git checkout, or if"
            " the region is new remove both lock files"
        )
    for file, text in mine.items():
        (laptop.folder / file).write_text(text)
    assert laptop.report() == ""


@pytest.mark.parametrize("file", [ALLOCATIONS, PINS])
def test_a_lock_file_that_is_older_than_the_other_is_refused(laptop: Any, file: str) -> None:
    older = {name: (laptop.folder / name).read_text() for name in (ALLOCATIONS, PINS)}
    laptop.edit("tenants/globex.yaml", "nodes: 4}\n    storage", "nodes: 3}\n    storage")
    laptop.allocate()
    _promoted(laptop)
    assert laptop.report() == ""

    (laptop.folder / file).write_text(older[file])
    report = laptop.report()
    assert report == _refusal(laptop)
    other = PINS if file == ALLOCATIONS else ALLOCATIONS
    assert f"{file}" in report
    assert (
        f"is not the digest of the entries of {other} (" in report
        or f"is not the digest of the entries of {file} (" in report
    )
    assert (
        "so one of the two is older; restore both files from one commit with git checkout, or after a merge both"
        " from one side; accept intended edits with jacquard allocate laptop --accept-edits"
    ) in report
    assert _refusal(laptop, edits_meant=True).startswith("environments/laptop: 0 problems")


def test_a_reverted_pin_is_detected_without_a_changed_number(laptop: Any) -> None:
    older = (laptop.folder / PINS).read_text()
    _promoted(laptop)
    assert laptop.report() == ""
    (laptop.folder / PINS).write_text(older)

    had = laptop.load().allocations.beside
    expected = laptop.resolved(f"  allocations.lock.yaml:LINE  beside: {had[:19]}... is not")
    assert laptop.report().splitlines()[1].startswith(expected)


@pytest.mark.parametrize(
    ("section", "name", "nodes"), [("vpcs", "acme", 16), ("vpcs", "globex", 4), ("clusters", "globex-lab", 4)]
)
def test_numbers_of_running_nodes_are_never_allocated_again(laptop: Any, section: str, name: str, nodes: int) -> None:
    text = (laptop.folder / ALLOCATIONS).read_text()
    (laptop.folder / ALLOCATIONS).write_text(re.sub(rf"(?m)^  {name}: .*\n", "", text))

    expected = (
        f"{section}.{name}: is missing; restore the file with git checkout, because {nodes} nodes run with"
        f" {section}.{name}"
    )
    assert expected in _refusal(laptop)
    assert expected in _refusal(laptop, edits_meant=True)


def test_both_lock_files_are_required_if_a_tenant_would_get_numbers_of_others(laptop: Any) -> None:
    text = (laptop.folder / "tenants" / "globex.yaml").read_text(encoding="utf-8").replace("globex", "abc")
    (laptop.folder / "tenants" / "abc.yaml").write_text(text, encoding="utf-8")
    for file in (ALLOCATIONS, PINS):
        (laptop.folder / file).unlink()

    first, *others = laptop.problems()
    assert others, "tenants are told what they cannot have"
    assert (first.place, first.rule, first.text) == (
        ALLOCATIONS,
        "locks.both-lost",
        f"is missing, and so is {PINS}; if the region ran, first restore both with git checkout",
    )


def test_a_new_region_requires_no_lock_files(laptop: Any) -> None:
    for file in (ALLOCATIONS, PINS):
        (laptop.folder / file).unlink()

    [problem] = laptop.problems()
    assert problem.text == "does not exist yet; run jacquard allocate laptop"
