"""Bases that cannot be compared: the message states the cause, and the command in it is the remedy."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from tests.support.checks.places import resolved
from tests.support.data.repositories import COMMIT, committed, git

Invoke = Callable[..., Result]


def origin(data: Path) -> Path:
    """Return a repository with the data, a branch with two more commits, and an unrelated history."""
    home = committed(data).parent
    git(home, "checkout", "-q", "-b", "change")
    for number in "12":
        git(home, *COMMIT, "--allow-empty", "-m", number)
    git(home, "checkout", "-q", "--orphan", "other"), git(home, *COMMIT, "-m", "other")
    git(home, "checkout", "-q", "change")
    return home


def cloned(data: Path, *options: str) -> Path:
    """Return a clone of `origin` with the branch ``change``, and use its environments."""
    folder = data.parent / "clone"
    home = origin(data)
    git(home, "clone", "-q", "--branch", "change", *options, f"file://{home}", str(folder))
    return folder


def whole(data: Path) -> Path:
    return cloned(data)


def one_branch(data: Path) -> Path:
    return cloned(data, "--single-branch")


def shallow(data: Path) -> Path:
    return cloned(data, "--depth", "1")


def shallow_with_main(data: Path) -> Path:
    folder = cloned(data, "--depth", "1")
    git(data.parent, "checkout", "-q", "main"), git(data.parent, *COMMIT, "--allow-empty")
    git(folder, "fetch", "-q", "--depth", "1", "origin", "+main:refs/remotes/origin/main")
    return folder


def without_commits(data: Path) -> Path:
    git(data.parent, "init", "-q", "-b", "main")
    return data.parent


@dataclass(frozen=True)
class Case:
    """A base in a repository, and the message about it."""

    repository: Callable[[Path], Path]
    base: str
    text: str


CASES = {
    "typing error": Case(
        origin,
        "mian",
        "'mian' is not a branch, tag or commit (known: change, main, other); did you mean 'main'?",
    ),
    "no remote": Case(
        origin,
        "origin/main",
        "'origin/main' is not a branch, tag or commit (known: change, main, other); did you mean 'main'?",
    ),
    "nothing alike": Case(
        origin,
        "v9.9",
        "'v9.9' is not a branch, tag or commit (known: change, main, other); pass one of them, or a commit",
    ),
    "like an option": Case(
        origin,
        "--all",
        "'--all' is not a branch, tag or commit (known: change, main, other); pass one of them, or a commit",
    ),
    "other history": Case(
        origin, "other", "other and HEAD have no common ancestor; pass a commit of the history of HEAD"
    ),
    "typing error in a branch of a remote": Case(
        whole,
        "origin/mian",
        "this clone has no origin/mian (branches of origin: change, main, other); did you mean 'origin/main'? "
        "Otherwise fetch it with: git fetch origin mian:refs/remotes/origin/mian",
    ),
    "branch that was not fetched": Case(
        one_branch,
        "origin/main",
        "this clone has no origin/main (branches of origin: change); "
        "fetch it with: git fetch origin main:refs/remotes/origin/main",
    ),
    "branch that a shallow clone did not fetch": Case(
        shallow,
        "origin/main",
        "this clone has no origin/main (branches of origin: change); "
        "fetch it with: git fetch origin main:refs/remotes/origin/main",
    ),
    "parent in a shallow clone": Case(
        shallow,
        "HEAD~1",
        "this shallow clone has no commit HEAD~1; fetch it with: git fetch --unshallow",
    ),
    "no common ancestor in a shallow clone": Case(
        shallow_with_main,
        "origin/main",
        "this shallow clone lacks the common ancestor of origin/main and HEAD; fetch it with: git fetch --unshallow",
    ),
    "no commit": Case(
        without_commits,
        "main",
        "the repository of the environments has no commit to compare with; commit the data first",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_base_that_git_cannot_find_is_refused_by_its_cause(
    data_folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    folder = case.repository(data_folder)
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder / "environments"))
    base = f"--base={case.base}"

    result = invoke("impact", "laptop", base)

    assert (result.exit_code, result.stdout, result.stderr) == (ExitCode.BAD_DATA, "", f"error: {case.text}\n")


@pytest.mark.parametrize("repository", [one_branch, shallow, shallow_with_main])
def test_the_commands_of_the_messages_fetch_the_base(
    data_folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, repository: Callable[[Path], Path]
) -> None:
    folder = repository(data_folder)
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder / "environments"))

    for _ in range(2):  # At most two: fetch the branch, then the history.
        result = invoke("impact", "laptop", "--base", "origin/main")
        if remedy := re.search("fetch it with: (.*)", result.stderr):
            subprocess.run(shlex.split(remedy[1]), cwd=folder, check=True, capture_output=True)

    assert invoke("impact", "laptop", "--base", "origin/main").exit_code == ExitCode.OK


def changed(data: Path, file: str, old: str, new: str) -> None:
    path = data / "laptop" / file
    text, count = re.subn(old, new, path.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
    assert count
    path.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Spoiled:
    """Data of a base that cannot be compared, and the message about them."""

    spoil: Callable[[Path], object]
    text: str
    problems: tuple[str, ...]


UNREADABLE = "this version of Jacquard cannot read the data of COMMIT; pass a later commit to --base"
PROBLEMS = "the data of COMMIT have problems and cannot be rendered; pass a commit without them to --base"
MISSING = (
    (
        "allocations.lock.yaml:<clusters>  clusters.acme-train: is missing; restore the file with git checkout, because"
        " 16 nodes run with clusters.acme-train"
    ),
    (
        "allocations.lock.yaml:LINE  digest: sha256:DIGEST... is not the digest of this file (sha256:DIGEST...), it was"
        " edited or merged by hand; undo that with git checkout, or after a merge take one side of the whole file, and"
        " run jacquard allocate laptop; accept intended edits with --accept-edits"
    ),
)
SPOILED = {
    "unallocated": Spoiled(
        lambda data: [path.unlink() for path in (data / "laptop").glob("*.lock.yaml")],
        PROBLEMS,
        ("allocations.lock.yaml  does not exist yet; run jacquard allocate laptop",),
    ),
    "cluster without allocation": Spoiled(
        lambda data: changed(data, "allocations.lock.yaml", r"^  acme-train: .*\n", ""),
        PROBLEMS,
        MISSING,
    ),
    "unparsable": Spoiled(
        lambda data: changed(data, "region.yaml", r"\Z", "a: [\n"),
        UNREADABLE,
        ("region.yaml:<'a: ['>  a bracket or brace is not closed, or a comma is missing; close it, or add the comma",),
    ),
    "no such format": Spoiled(
        lambda data: changed(data, "region.yaml", "^schema_version: .*", "schema_version: 0"),
        UNREADABLE,
        ("region.yaml:LINE  schema_version: must be at least 1 (got 0)",),
    ),
    "newer format": Spoiled(
        lambda data: changed(data, "region.yaml", "^schema_version: .*", "schema_version: 9"),
        UNREADABLE,
        ("region.yaml:LINE  schema_version: is 9, but this jacquard reads 1; update jacquard",),
    ),
}


@pytest.mark.parametrize("case", SPOILED.values(), ids=SPOILED)
def test_data_of_a_base_that_cannot_be_compared_are_reported_with_their_problems(
    data_folder: Path, invoke: Invoke, case: Spoiled
) -> None:
    good = data_folder.parent / "good"
    shutil.copytree(data_folder, good)
    case.spoil(data_folder)
    commit = git(committed(data_folder), "rev-parse", "HEAD")[:9]
    count = f"{len(case.problems)} problem{'s' * (len(case.problems) > 1)}"
    rows = "\n".join([f"environments/laptop: {count}", *(f"  {row}" for row in case.problems)])
    expected = f"error: {case.text.replace('COMMIT', commit)}\n{resolved(rows, data_folder / 'laptop')}\n"
    shutil.rmtree(data_folder)
    shutil.copytree(good, data_folder)

    result = invoke("impact", "laptop")

    assert result.exit_code == ExitCode.BAD_DATA
    assert re.sub("sha256:[0-9a-f]{12}", "sha256:DIGEST", result.stderr) == expected
