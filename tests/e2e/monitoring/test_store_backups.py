"""Runs of the log backup with a real store, Debian's rclone and a bucket of a real S3 server, and a restore from it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from components.render.manifest import ManifestSet
from components.render.region.stores import store_backups
from components.specs.region.store_backups import KEEP_DAYS, StoreBackupSpec
from jacquard.lab.rehearsal import ports
from tests.support.engine.state_stores import S3
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.debian import unpacked
from tests.support.machine.pod_programs import PodPrograms
from tests.support.monitoring.log_store_process import LogStore, running_log_store
from tests.support.monitoring.stored_region import region
from tests.support.monitoring.victoria_stores import request

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

IMAGES = {name: name for names in store_backups.TOOLS.values() for name in names}
BACKUP = StoreBackupSpec(schedule="0 2 * * *", endpoint="https://objects.example", bucket="stores", secret="s")
POD = "vlstorage-logs-0"
DAY_SECONDS = 24 * 3600


class Backup:
    """Runs of the rendered job of a storage pod, with a bucket that is a folder."""

    def __init__(self, folder: Path, store: LogStore, bucket: S3) -> None:
        keys = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
        login = dict(zip(("access_key_id", "secret_access_key"), (bucket.variables[key] for key in keys), strict=True))
        [jobs, _] = store_backups.render(region(backup=BACKUP), IMAGES)
        assert isinstance(jobs, ManifestSet)
        self._pod: dict[str, Any] = jobs.members[POD].body["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        rendered = self._step("snapshot")["env"][0]["value"]
        addresses = {rendered: store.url, BACKUP.endpoint: f"http://{ports.LOOPBACK}:{bucket.port}"}
        program = unpacked("rclone", ("rclone",)).path("usr/bin/rclone")
        self._programs = PodPrograms(folder=folder, search=program.parent, addresses=addresses, secrets=login)
        self._folder, self._kept = folder, bucket.folder / "buckets" / BACKUP.bucket / "history/logs" / POD

    def run(self, name: str) -> None:
        """Run all steps of a job whose pod is named ``name``."""
        self._run(self._pod, self.work(name), name)

    def run_step(self, step: str, work: Path) -> None:
        """Run one step of a job with its work folder."""
        self._run({"containers": [self._step(step)]}, work, "")

    def restore(self, name: str, folder: Path) -> None:
        """Copy the days of a run into an empty volume, as the procedure does."""
        source = f":s3:{BACKUP.bucket}/history/logs/{POD}/{name}/partitions"
        container = {**self._step("expire"), "args": ["copy", source, str(folder / "partitions")]}
        self._run({"containers": [container]}, folder, name)

    def work(self, name: str) -> Path:
        """Return the empty work folder of a job."""
        folder = self._folder / f"work-{name}"
        folder.mkdir()
        return folder

    def runs(self) -> dict[str, set[str]]:
        """Return the names of the objects of each run in the bucket."""
        found = (path.relative_to(self._kept) for path in self._kept.rglob("*") if path.is_file())
        runs: dict[str, set[str]] = {}
        for path in found:
            runs.setdefault(path.parts[0], set()).add(str(path.relative_to(path.parts[0])))
        return runs

    def age(self, name: str, days: int) -> None:
        """Change the time at which the server received the objects of a run."""
        age(self._kept / name, days)

    def _step(self, name: str) -> dict[str, Any]:
        every = (*self._pod["initContainers"], *self._pod["containers"])
        [step] = [container for container in every if container["name"] == name]
        found: dict[str, Any] = step
        return found

    def _run(self, pod: dict[str, Any], work: Path, name: str) -> None:
        done = self._programs.run(pod, {"/work": str(work), "$(POD)": name})
        assert done.returncode == 0, done.stderr


def age(folder: Path, days: int) -> None:
    """Set the times of all files of a folder back."""
    past = time.time() - days * DAY_SECONDS
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (past, past))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LogStore]:
    with running_log_store(tmp_path / "store") as running:
        running.write([{"_msg": "saved", "k8s.pod.name": "job-0"}, {"_msg": "also saved"}])
        yield running


@pytest.fixture
def backup(store: LogStore, tmp_path: Path) -> Iterator[Backup]:
    bucket = S3(tmp_path / "s3")
    (tmp_path / "s3/buckets" / BACKUP.bucket).mkdir()
    bucket.start()
    yield Backup(tmp_path, store, bucket)
    bucket.stop()


def snapshots(store: LogStore) -> str:
    return request(f"{store.url}/internal/partition/snapshot/list").text


def test_a_new_store_has_the_records_of_the_backup(store: LogStore, backup: Backup, tmp_path: Path) -> None:
    backup.run("first")
    day = datetime.now(tz=UTC).strftime("%Y%m%d")
    assert [link.name for link in (tmp_path / "work-first/partitions").iterdir() if link.is_symlink()] == [day]
    store.write([{"_msg": "later"}])

    backup.restore("first", tmp_path / "restored/data")
    with running_log_store(tmp_path / "restored") as restored:
        assert restored.messages() == ["also saved", "saved"]
    assert store.messages() == ["also saved", "later", "saved"]


def test_old_records_stay_in_a_run_until_the_run_itself_is_old(store: LogStore, backup: Backup, tmp_path: Path) -> None:
    backup.run("first")
    everything = backup.runs()["first"]
    # Files of a store are as old as their records, and a snapshot consists of hard links to them.
    age(store.data, 5 * KEEP_DAYS)

    backup.run("second")
    assert backup.runs() == {"first": everything, "second": everything}

    backup.age("first", KEEP_DAYS + 1)
    backup.run("third")
    assert backup.runs() == {"second": everything, "third": everything}
    backup.restore("third", tmp_path / "restored/data")
    with running_log_store(tmp_path / "restored") as restored:
        assert restored.messages() == ["also saved", "saved"]


def test_snapshots_of_this_run_and_of_aborted_runs_are_deleted(store: LogStore, backup: Backup) -> None:
    aborted = backup.work("aborted")
    backup.run_step("snapshot", aborted)
    old = (aborted / "paths").read_text().strip('[]"')
    assert old in snapshots(store)
    numbers = iter(range(60))

    def next_run() -> bool:
        """Run again, after the snapshot is more than one second old."""
        work = backup.work(str(next(numbers)))
        backup.run_step("snapshot", work)
        backup.run_step("release", work)
        return old not in snapshots(store)

    wait_until(next_run, timeout_seconds=30, what="a run deletes the snapshot of the aborted run")
    assert snapshots(store) in {"[]", "null"}
