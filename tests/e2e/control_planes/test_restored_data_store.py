"""Jobs of a restore, with the real etcdutl, on the volumes of a real etcd with three members.

The test runs the rendered commands with other folders and addresses. A copy from a folder replaces rclone.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.render.control_planes.etcd_restore import REVISIONS
from tests.support.local_regions.local_region import wait_until
from tests.support.storage.etcd_members import MEMBERS, Etcd, encoded
from tests.support.storage.restored_store import SNAPSHOT

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]


@pytest.fixture
def etcd(tmp_path: Path) -> Iterator[Etcd]:
    """An etcd that was saved, and changed since then; it runs."""
    made = Etcd(tmp_path)
    made.start()
    made.put(kept="saved", changed="saved", deleted="saved")
    made.save()
    made.put(changed="later", later="later")
    made.call("kv/deleterange", {"key": encoded("deleted")})
    yield made
    made.stop()


MISMATCH = "cluster ID mismatch"
SAVED = {"kept": "saved", "changed": "saved", "deleted": "saved"}
LATER = {"kept": "saved", "changed": "later", "later": "later"}


def codes(runs: list[subprocess.CompletedProcess[str]]) -> list[int]:
    return [run.returncode for run in runs]


def test_a_restore_resets_all_members_once(etcd: Etcd) -> None:
    before = etcd.revision()
    etcd.stop()

    assert codes(etcd.run_jobs()) == [0, 0, 0]
    etcd.start()

    assert [etcd.keys(member=member) for member in MEMBERS] == [SAVED] * len(MEMBERS)
    assert etcd.revision() > before
    assert etcd.revision() > REVISIONS
    lost = etcd.send("kv/range", {"key": encoded("kept"), "revision": before})
    assert "required revision has been compacted" in lost.text, "a client with a watch has to list again"

    etcd.put(newer="newer")
    again = etcd.run_jobs()
    assert codes(again) == [0, 0, 0]
    assert {run.stdout for run in again} == {f"this volume was restored to {SNAPSHOT} before; its data are unchanged\n"}
    etcd.stop()
    assert codes(etcd.run_jobs()) == [0, 0, 0]
    etcd.start()
    assert etcd.keys() == {**SAVED, "newer": "newer"}
    assert [sorted(path.name.split("-")[0] for path in etcd.volume(index).iterdir()) for index in MEMBERS] == [
        ["lost+found", "member", "replaced"]
    ] * len(MEMBERS)


def test_jobs_change_nothing_while_members_run(etcd: Etcd) -> None:
    runs = etcd.run_jobs()

    assert [(run.returncode, run.stderr) for run in runs] == [
        (1, "the member runs on this volume; stop the members first (step: stop)\n")
    ] * len(MEMBERS)
    etcd.stop()
    etcd.start()
    assert etcd.keys() == LATER


def test_an_interrupted_job_finishes_when_it_runs_again(etcd: Etcd) -> None:
    etcd.stop()
    (etcd.volume(0) / "restoring/member/snap").mkdir(parents=True)
    (etcd.volume(0) / "restoring/member/snap/db").write_text("a restore that was interrupted")
    (etcd.volume(1) / "member").rename(etcd.volume(1) / f"replaced-{SNAPSHOT.removesuffix('.db')}-1")

    assert codes(etcd.run_jobs()) == [0, 0, 0]
    etcd.start()

    assert [etcd.keys(member=member) for member in MEMBERS] == [SAVED] * len(MEMBERS)
    assert (etcd.volume(1) / f"replaced-{SNAPSHOT.removesuffix('.db')}-1/snap/db").exists()


def test_a_missing_or_damaged_snapshot_changes_nothing(etcd: Etcd) -> None:
    etcd.stop()
    file = etcd.bucket / SNAPSHOT
    content = file.read_bytes()
    file.unlink()
    assert codes(etcd.run_jobs()) == [1, 1, 1]
    file.write_bytes(content[:-100])
    assert codes(etcd.run_jobs()) == [1, 1, 1]
    etcd.start()
    assert etcd.keys() == LATER


def test_a_member_with_former_data_does_not_join_restored_members(etcd: Etcd) -> None:
    etcd.stop()
    assert codes(etcd.run_jobs(0, 1)) == [0, 0]

    etcd.start()

    wait_until(lambda: MISMATCH in etcd.log(2), timeout_seconds=30, what="member 2 is rejected by restored members")
    assert [etcd.keys(member=member) for member in (0, 1)] == [SAVED, SAVED]
