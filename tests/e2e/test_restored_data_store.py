"""Jobs of a restore, with the real etcdutl, on the volumes of a real etcd with three members.

The test runs the rendered commands with other folders and addresses. A copy from a folder replaces rclone.
"""

from __future__ import annotations

import json
import os
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from local_region import wait_until
from programs import Programs
from restored_store import ETCD, SNAPSHOT, rendered
from victoria_stores import Response, request

from components.render.control_planes.etcd_restore import DATA, REVISIONS, SNAPSHOTS
from components.render.control_planes.kamaji_etcd import NAMESPACE
from components.specs.control_planes.data_stores import RestoreStep
from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

MEMBERS = (0, 1, 2)
RCLONE = """\
#!/bin/sh
# Copies an object of a bucket that is a folder.
[ "$1" = copyto ] && exec cp "$BUCKETS/${2#:s3:}" "$3"
"""


class Etcd:
    """An etcd of three members, with the volumes and the bucket of a management cluster as folders."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._programs = folder, Programs(folder)
        numbers = ports.free(2 * len(MEMBERS))
        self._clients, self._peers = numbers[: len(MEMBERS)], numbers[len(MEMBERS) :]
        self.bucket = folder / "buckets/etcd/data-stores/shared-a"
        self.bucket.mkdir(parents=True)
        for index in MEMBERS:
            (self.volume(index) / "lost+found").mkdir(parents=True)
        (folder / "bin").mkdir()
        (folder / "bin/rclone").write_text(RCLONE)
        (folder / "bin/rclone").chmod(0o755)
        (folder / "bin/etcdutl").symlink_to(binaries.path("etcdutl"))

    def volume(self, index: int) -> Path:
        return self.folder / f"volume-{index}"

    def start(self, *members: int) -> None:
        """Start members with the flags of the chart, and wait until they serve."""
        peers = ",".join(f"{ETCD}-{index}={self._peer(index)}" for index in MEMBERS)
        for index in members or MEMBERS:
            self._programs.start(
                f"etcd-{index}",
                str(binaries.path("etcd")),
                f"--data-dir={self.volume(index)}",
                f"--name={ETCD}-{index}",
                "--initial-cluster-state=new",
                f"--initial-cluster={peers}",
                f"--initial-advertise-peer-urls={self._peer(index)}",
                f"--advertise-client-urls={self._client(index)}",
                "--initial-cluster-token=kamaji",
                f"--listen-client-urls={self._client(index)}",
                f"--listen-peer-urls={self._peer(index)}",
                "--unsafe-no-fsync",
            )
        first = (members or MEMBERS)[0]
        wait_until(lambda: self.answers(first), timeout_seconds=60, what=f"member {first} serves")

    def stop(self) -> None:
        self._programs.stop()

    def answers(self, member: int) -> bool:
        """Return whether a member serves a read that requires a quorum."""
        try:
            return self.send("kv/range", {"key": _text("any")}, member=member).status == HTTPStatus.OK
        except OSError:
            return False

    def send(self, path: str, body: dict[str, Any], *, member: int = 0) -> Response:
        """Send a request to a member, over its HTTP gateway (etcd:api/etcdserverpb/gw)."""
        return request(f"{self._client(member)}/v3/{path}", json.dumps(body).encode())

    def call(self, path: str, body: dict[str, Any], *, member: int = 0) -> dict[str, Any]:
        answer = self.send(path, body, member=member)
        assert answer.status == HTTPStatus.OK, answer.text
        found: dict[str, Any] = json.loads(answer.text)
        return found

    def put(self, **keys: str) -> None:
        for key, value in keys.items():
            self.call("kv/put", {"key": _text(key), "value": _text(value)})

    def keys(self, *, member: int = 0) -> dict[str, str]:
        every = {"key": _text("\0"), "range_end": _text("\0")}
        found = self.call("kv/range", every, member=member).get("kvs", ())
        return {b64decode(entry["key"]).decode(): b64decode(entry["value"]).decode() for entry in found}

    def log(self, member: int) -> str:
        return (self.folder / f"etcd-{member}.log").read_text()

    def revision(self) -> int:
        return int(self.call("kv/range", {"key": _text("any")})["header"]["revision"])

    def save(self) -> None:
        """Save a snapshot to the bucket, as the backup does."""
        answer = self.send("maintenance/snapshot", {})
        blobs = (json.loads(line)["result"].get("blob", "") for line in answer.text.splitlines())
        (self.bucket / SNAPSHOT).write_bytes(b"".join(map(b64decode, blobs)))

    def run_jobs(self, *members: int) -> list[subprocess.CompletedProcess[str]]:
        """Run the rendered Job of each member, and return its last container."""
        jobs = [item for item in rendered(RestoreStep.STOP) if item.kind == "Job"]
        return [self._run(index, jobs[index].body["spec"]["template"]["spec"]) for index in members or MEMBERS]

    def _run(self, index: int, pod: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        """Run the containers of a pod in order, until one fails."""
        scratch = self.folder / f"snapshots-{index}"
        scratch.mkdir(exist_ok=True)
        for file in scratch.iterdir():
            file.unlink()
        domain = f".{ETCD}.{NAMESPACE}.svc.cluster.local:2380"
        places = {DATA: str(self.volume(index)), SNAPSHOTS: str(scratch)}
        places |= {f"https://{ETCD}-{member}{domain}": self._peer(member) for member in MEMBERS}
        for container in (*pod["initContainers"], *pod["containers"]):
            command = [*container["command"], *container.get("args", ())]
            for place, real in places.items():
                command = [word.replace(place, real) for word in command]
            values = {entry["name"]: entry.get("value", "") for entry in container.get("env", ())}
            search = f"{self.folder / 'bin'}:{os.environ['PATH']}"
            variables = {**values, "BUCKETS": str(self.folder / "buckets"), "PATH": search}
            done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
            if done.returncode:
                break
        return done

    def _client(self, member: int) -> str:
        return f"http://{ports.LOOPBACK}:{self._clients[member]}"

    def _peer(self, member: int) -> str:
        return f"http://{ports.LOOPBACK}:{self._peers[member]}"


def _text(value: str) -> str:
    return b64encode(value.encode()).decode()


@pytest.fixture
def etcd(tmp_path: Path) -> Iterator[Etcd]:
    """An etcd that was saved, and changed since then; it runs."""
    made = Etcd(tmp_path)
    made.start()
    made.put(kept="saved", changed="saved", deleted="saved")
    made.save()
    made.put(changed="later", later="later")
    made.call("kv/deleterange", {"key": _text("deleted")})
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
    lost = etcd.send("kv/range", {"key": _text("kept"), "revision": before})
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
