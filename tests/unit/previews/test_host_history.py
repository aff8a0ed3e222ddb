"""Failures of hosts in the git history of an environment, and the mean time between them."""

from __future__ import annotations

import datetime as dt
import subprocess
from pathlib import Path

import pytest

from components.reports.hosts.failure_history import failure_history
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from jacquard.previews.base_commits import BaseError
from jacquard.previews.host_history import revisions

START = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
BROKEN = "hosts: {%s: {state: triage, since: 2026-11-01, reason: GPU 5}}\n"


def commit(top: Path, day: int, content: str | None) -> str:
    """Commit this content of the file, or a change of another file, ``day`` days after the start; return the hash."""
    if content is None:
        (top / "other").write_text(str(day))
    else:
        (top / "laptop/out_of_service.yaml").write_text(content)
    moment = (START + dt.timedelta(days=day)).isoformat()
    run = ["git", "-C", str(top), "-c", "user.name=a", "-c", "user.email=a@cloud.example"]
    subprocess.run([*run, "add", "--all"], check=True)
    when = {"GIT_COMMITTER_DATE": moment, "GIT_AUTHOR_DATE": moment, "PATH": "/usr/bin:/bin"}
    subprocess.run([*run, "commit", "--quiet", "--message", f"day {day}"], check=True, env=when)
    done = subprocess.run([*run, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def top(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "laptop").mkdir()
    return tmp_path


@pytest.fixture(scope="module")
def laptop() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


def test_a_host_that_left_production_for_a_fault_has_failed(top: Path, laptop: Environment) -> None:
    first = commit(top, 0, None)
    commit(top, 10, BROKEN % "a01-u01")
    commit(top, 12, None)
    commit(top, 13, (BROKEN % "a01-u01").replace("triage", "rma"))
    commit(top, 20, "hosts: {}\n")
    commit(top, 30, BROKEN % "a01-u01")
    last = commit(top, 40, (BROKEN % "a02-u01").replace("triage", "reserved"))

    found, until = revisions(top / "laptop", f"{first}..{last}")
    history = failure_history(laptop, found, until)

    assert ([revision.at.day for revision in found], until) == ([1, 11, 14, 21, 1, 11], START + dt.timedelta(days=40))
    by_type = {row.instance_type: row for row in history.types}
    gpus = by_type["h100-ib-8"]
    assert gpus.failures == 2
    assert gpus.host_days == gpus.hosts * 40 - 20
    assert gpus.mean_days == gpus.host_days / 2
    assert (by_type["cpu-gen4"].failures, by_type["cpu-gen4"].mean_days) == (0, None)


def test_a_span_ends_with_the_head_by_default_and_starts_with_hosts_that_are_out(
    top: Path, laptop: Environment
) -> None:
    first = commit(top, 0, BROKEN % "a01-u01")
    commit(top, 5, None)

    history = failure_history(laptop, *revisions(top / "laptop", first))

    assert (history.until - history.since).days == 5
    assert sum(row.failures for row in history.types) == 0
    assert next(row for row in history.types if row.instance_type == "h100-ib-8").mean_days is None


@pytest.mark.parametrize("span", ["nonsense", "HEAD..nonsense", "--all"])
def test_an_unknown_commit_is_refused(top: Path, span: str) -> None:
    commit(top, 0, BROKEN % "a01-u01")

    with pytest.raises(BaseError, match="is not a branch, tag or commit"):
        revisions(top / "laptop", span)
