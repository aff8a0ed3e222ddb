"""Backup, verification and restore of an etcd, with real etcd, etcdutl and rclone, and a bucket of a real S3 server.

The test runs the rendered commands with other folders and addresses. ``etcdctl snapshot save`` does not run: a request
for a snapshot over the HTTP gateway of etcd replaces it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.render.control_planes.etcd_backup import PASSWORD
from components.render.control_planes.etcd_verification import CLIENTS, PEERS, SCRATCH
from components.specs.control_planes.data_stores import BackupSpec, RestoreStep
from jacquard.lab.rehearsal import ports
from tests.support.engine.state_stores import S3
from tests.support.machine.debian import unpacked
from tests.support.storage.etcd_members import MEMBERS, Etcd, encoded
from tests.support.storage.restored_store import BACKUP, COPIED, ETCD, SNAPSHOT, rendered, restored

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

LATER_SNAPSHOT = SNAPSHOT.replace("29384756", "29385116")


class Saved:
    """An etcd whose backup is in a bucket."""

    def __init__(self, folder: Path, store: S3, rclone: Path, backup: BackupSpec = BACKUP) -> None:
        keys = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
        login = dict(zip(("access_key_id", "secret_access_key"), (store.variables[key] for key in keys), strict=True))
        self._folder, self._backup = folder, backup
        every = [bucket for bucket in (backup, backup.second_bucket) if bucket]
        self.addresses = {bucket.endpoint: f"http://{ports.LOOPBACK}:{store.port}" for bucket in every}
        self.secrets = {**login, PASSWORD: "of the copies"}
        self.etcd = Etcd(folder, rclone, addresses=self.addresses, secrets=self.secrets)

    def save(self, name: str = SNAPSHOT, *, age_minutes: int = 0, cut: int = 0) -> None:
        """Run the upload of the backup with a snapshot, of which the last ``cut`` bytes are lost."""
        file = self._empty("snapshots") / name
        self.etcd.save(file)
        os.truncate(file, file.stat().st_size - cut)
        saved = time.time() - 60 * age_minutes
        os.utime(file, (saved, saved))
        done = self.etcd.pods.run({"containers": self._pod("backup")["containers"]}, {"/snapshots": str(file.parent)})
        assert done.returncode == 0, done.stderr

    def verify(self) -> subprocess.CompletedProcess[str]:
        """Run the verification."""
        clients, peers = ports.free(2)
        places = {
            SCRATCH: str(self._empty("scratch")),
            CLIENTS: f"http://{ports.LOOPBACK}:{clients}",
            PEERS: f"http://{ports.LOOPBACK}:{peers}",
        }
        return self.etcd.pods.run(self._pod("verify"), places)

    def restore_copy(self) -> list[int]:
        """Run the Jobs that restore the copy in the second bucket, and return their exit codes."""
        environment = restored(RestoreStep.STOP, self._backup, second=True)
        return [run.returncode for run in self.etcd.run_jobs(environment=environment)]

    def _pod(self, job: str) -> dict[str, Any]:
        [item] = [item for item in rendered(None, restored(None, self._backup)) if item.name == f"{ETCD}-{job}"]
        pod: dict[str, Any] = item.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        return pod

    def _empty(self, name: str) -> Path:
        """Return an empty folder, as an emptyDir of a new pod is."""
        number = len(list(self._folder.glob(f"{name}.*")))
        folder = self._folder / f"{name}.{number}"
        folder.mkdir()
        return folder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[S3]:
    """An S3 server with the bucket of the backup."""
    made = S3(tmp_path / "store")
    for bucket in (BACKUP.bucket, "copies"):
        (tmp_path / "store/buckets" / bucket).mkdir(parents=True)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def backup() -> BackupSpec:
    """The backup of the etcd; a parameter of some tests."""
    return BACKUP


@pytest.fixture
def saved(tmp_path: Path, store: S3, backup: BackupSpec) -> Iterator[Saved]:
    """An etcd with three keys, which runs and requires logins."""
    made = Saved(tmp_path / "etcd", store, unpacked("rclone", ("rclone",)).path("usr/bin/rclone"), backup)
    made.etcd.start()
    made.etcd.put(kept="saved", changed="saved", deleted="saved")
    made.etcd.enable_auth()
    yield made
    made.etcd.stop()


def test_a_saved_etcd_is_verified_and_restored(saved: Saved) -> None:
    saved.save()
    etcd = saved.etcd

    verified = saved.verify()

    assert (verified.returncode, verified.stdout) == (0, f"{SNAPSHOT}, 0 min old: 3 keys\n"), verified.stderr
    etcd.put(changed="later", later="later")
    etcd.call("kv/deleterange", {"key": encoded("deleted")})
    etcd.stop()
    runs = etcd.run_jobs()
    assert [run.returncode for run in runs] == [0] * len(MEMBERS), runs[0].stderr
    etcd.start()
    restored = {"kept": "saved", "changed": "saved", "deleted": "saved"}
    assert [etcd.keys(member=member) for member in MEMBERS] == [restored] * len(MEMBERS)


def test_the_newest_snapshot_is_verified(saved: Saved) -> None:
    saved.etcd.put(later="later")
    saved.save(LATER_SNAPSHOT, age_minutes=5)
    saved.etcd.call("kv/deleterange", {"key": encoded("later")})
    saved.save(age_minutes=365)

    verified = saved.verify()

    assert (verified.returncode, verified.stdout) == (0, f"{LATER_SNAPSHOT}, 5 min old: 4 keys\n"), verified.stderr


def test_a_snapshot_that_is_older_than_the_recovery_point_fails(saved: Saved) -> None:
    saved.save(age_minutes=725)

    verified = saved.verify()

    text = f"the newest snapshot {SNAPSHOT} is 725 min old; at most 720 min are allowed\n"
    assert (verified.returncode, verified.stderr.splitlines(keepends=True)[-1]) == (1, text)


def test_a_missing_a_damaged_and_an_empty_snapshot_fail(saved: Saved) -> None:
    missing = saved.verify()
    assert (missing.returncode, missing.stderr.splitlines()[-1]) == (
        1,
        "etcd/data-stores/shared-a contains no snapshot",
    )

    saved.save(age_minutes=10, cut=512)
    damaged = saved.verify()
    assert damaged.returncode != 0
    assert "expected sha256" in damaged.stderr

    saved.etcd.call("kv/deleterange", {"key": encoded("\0"), "range_end": encoded("\0")})
    saved.save(LATER_SNAPSHOT)
    empty = saved.verify()
    assert (empty.returncode, empty.stderr) == (1, f"{LATER_SNAPSHOT}, 0 min old: contains no keys\n")


def test_a_rejected_login_is_no_missing_snapshot(saved: Saved) -> None:
    saved.save()
    saved.secrets["secret_access_key"] = "wrong"

    rejected = saved.verify()

    assert rejected.returncode != 0
    assert "SignatureDoesNotMatch" in rejected.stderr
    assert "contains no snapshot" not in rejected.stderr


@pytest.mark.parametrize("backup", [COPIED])
def test_an_encrypted_copy_is_compared_and_restored_without_the_first_bucket(
    saved: Saved, store: S3, backup: BackupSpec
) -> None:
    folder = store.folder / "buckets/copies/data-stores/shared-a"
    saved.save()
    [copy] = [file for file in folder.iterdir() if file.is_file()]
    content = copy.read_bytes()
    assert b"saved" not in content
    assert (saved.verify().returncode, backup.second_bucket and backup.second_bucket.encrypted) == (0, True)

    copy.write_bytes(content[:-100])
    damaged = saved.verify()
    assert damaged.returncode == 1
    assert f"the copy of {SNAPSHOT} in the second bucket is missing, or differs" in damaged.stderr

    saved.save()
    shutil.rmtree(store.folder / "buckets" / BACKUP.bucket)
    saved.etcd.put(changed="later", later="later")
    saved.etcd.stop()
    assert saved.restore_copy() == [0] * len(MEMBERS)
    saved.etcd.start()
    assert saved.etcd.keys() == {"kept": "saved", "changed": "saved", "deleted": "saved"}


@pytest.mark.parametrize("backup", [COPIED])
def test_a_copy_needs_its_password(saved: Saved) -> None:
    saved.save()
    saved.secrets[PASSWORD] = "another"
    saved.etcd.put(changed="later")
    saved.etcd.stop()

    assert 0 not in saved.restore_copy()
    saved.etcd.start()
    assert saved.etcd.keys() == {"kept": "saved", "changed": "later", "deleted": "saved"}
