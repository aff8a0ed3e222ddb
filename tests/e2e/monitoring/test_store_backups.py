"""Scripts of the log backup at a real store, and a restore from its snapshot.

rclone does not run: a copy that follows links replaces ``rclone sync --copy-links``.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from components.render.manifest import ManifestSet
from components.render.region.stores import store_backups
from components.specs.region.store_backups import StoreBackupSpec
from tests.support.local_regions.local_region import wait_until
from tests.support.monitoring.log_store_process import LogStore, running_log_store
from tests.support.monitoring.stored_region import region
from tests.support.monitoring.victoria_stores import request

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

IMAGES = {name: name for names in store_backups.TOOLS.values() for name in names}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LogStore]:
    with running_log_store(tmp_path / "store") as running:
        running.write([{"_msg": "saved", "k8s.pod.name": "job-0"}, {"_msg": "also saved"}])
        yield running


def run(step: str, store: LogStore, work: Path) -> None:
    """Run the script of a step of the job, with the work folder and the store of the test."""
    backup = StoreBackupSpec(schedule="0 2 * * *", endpoint="https://objects.example", bucket="b", secret="s")
    [jobs, _] = store_backups.render(region(backup=backup), IMAGES)
    assert isinstance(jobs, ManifestSet)
    pod = jobs.members["vlstorage-logs-0"].body["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    [command] = [container["command"] for container in pod["initContainers"] if container["name"] == step]
    shell, flag, script = (text.replace("/work", str(work)) for text in command)
    subprocess.run([shell, flag, script], env={"STORE": store.url, "PATH": "/usr/bin:/bin"}, check=True)


def snapshots(store: LogStore) -> str:
    return request(f"{store.url}/internal/partition/snapshot/list").text


def test_a_new_store_has_the_records_of_the_backup(store: LogStore, tmp_path: Path) -> None:
    work, bucket = tmp_path / "work", tmp_path / "restored/data/partitions"
    work.mkdir()
    run("snapshot", store, work)
    day = datetime.now(tz=UTC).strftime("%Y%m%d")
    assert [link.name for link in (work / "partitions").iterdir() if link.is_symlink()] == [day]
    shutil.copytree(work / "partitions", bucket)
    store.write([{"_msg": "later"}])

    with running_log_store(tmp_path / "restored") as restored:
        assert restored.messages() == ["also saved", "saved"]
    assert store.messages() == ["also saved", "later", "saved"]


def test_snapshots_of_this_run_and_of_aborted_runs_are_deleted(store: LogStore, tmp_path: Path) -> None:
    works = [tmp_path / str(number) for number in range(60)]
    for work in works:
        work.mkdir()
    aborted, *later = works
    run("snapshot", store, aborted)
    old = (aborted / "paths").read_text().strip('[]"')
    assert old in snapshots(store)

    def next_run() -> bool:
        """Run again, after the snapshot is more than one second old."""
        work = later.pop()
        run("snapshot", store, work)
        run("release", store, work)
        return old not in snapshots(store)

    wait_until(next_run, timeout_seconds=30, what="a run deletes the snapshot of the aborted run")
    assert snapshots(store) in {"[]", "null"}
