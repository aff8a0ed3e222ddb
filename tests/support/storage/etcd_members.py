"""An etcd of three members, whose rendered Jobs run with the real etcdutl on the volumes of the members."""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from components.render.control_planes.etcd_restore import DATA, SNAPSHOTS
from components.render.control_planes.kamaji_etcd import NAMESPACE
from components.specs.control_planes.data_stores import RestoreStep
from components.specs.environment import Environment
from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.pod_programs import PodPrograms
from tests.support.machine.programs import Programs
from tests.support.monitoring.victoria_stores import Response, request
from tests.support.storage.restored_store import ETCD, SNAPSHOT, rendered

MEMBERS = (0, 1, 2)
_ROOT, _PASSWORD = "root", "of-root"
_RCLONE = """\
#!/bin/sh
# Copies an object of a bucket that is a folder.
[ "$1" = copyto ] && exec cp "{buckets}/${{2#:s3:}}" "$3"
"""


class Etcd:
    """An etcd of three members, with the volumes and the bucket of a management cluster as folders."""

    def __init__(
        self,
        folder: Path,
        rclone: Path | None = None,
        *,
        addresses: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        """Link the programs of the Jobs; without ``rclone``, a copy from a folder replaces it and the bucket."""
        self.folder, self._programs, self._has_auth = folder, Programs(folder), False
        self.pods = PodPrograms(folder=folder, search=folder / "bin", addresses=addresses or {}, secrets=secrets or {})
        numbers = ports.free(2 * len(MEMBERS))
        self._clients, self._peers = numbers[: len(MEMBERS)], numbers[len(MEMBERS) :]
        self.bucket = folder / "buckets/etcd/data-stores/shared-a"
        self.bucket.mkdir(parents=True)
        for index in MEMBERS:
            (self.volume(index) / "lost+found").mkdir(parents=True)
        (folder / "bin").mkdir()
        for name in ("etcd", "etcdutl"):
            (folder / "bin" / name).symlink_to(binaries.path(name))
        if rclone is not None:
            (folder / "bin/rclone").symlink_to(rclone)
            return
        (folder / "bin/rclone").write_text(_RCLONE.format(buckets=folder / "buckets"))
        (folder / "bin/rclone").chmod(0o755)

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
            return self.send("kv/range", {"key": encoded("any")}, member=member).status == HTTPStatus.OK
        except OSError:
            return False

    def send(self, path: str, body: dict[str, Any], *, member: int = 0) -> Response:
        """Send a request to a member, over its HTTP gateway (etcd:api/etcdserverpb/gw)."""
        token = {"Authorization": self._token(member)} if self._has_auth else {}
        return request(f"{self._client(member)}/v3/{path}", json.dumps(body).encode(), **token)

    def enable_auth(self) -> None:
        """Require logins, like a Job of the chart does after its installation.

        Its user has a certificate instead of a password (kamaji-etcd:templates/etcd_job_preinstall_2.yaml). The gateway
        accepts only passwords.
        """
        self.call("auth/user/add", {"name": _ROOT, "password": _PASSWORD})
        self.call("auth/role/add", {"name": _ROOT})
        self.call("auth/user/grant", {"user": _ROOT, "role": _ROOT})
        self.call("auth/enable", {})
        self._has_auth = True

    def call(self, path: str, body: dict[str, Any], *, member: int = 0) -> dict[str, Any]:
        answer = self.send(path, body, member=member)
        assert answer.status == HTTPStatus.OK, answer.text
        found: dict[str, Any] = json.loads(answer.text)
        return found

    def put(self, **keys: str) -> None:
        for key, value in keys.items():
            self.call("kv/put", {"key": encoded(key), "value": encoded(value)})

    def keys(self, *, member: int = 0) -> dict[str, str]:
        every = {"key": encoded("\0"), "range_end": encoded("\0")}
        found = self.call("kv/range", every, member=member).get("kvs", ())
        return {b64decode(entry["key"]).decode(): b64decode(entry["value"]).decode() for entry in found}

    def log(self, member: int) -> str:
        return (self.folder / f"etcd-{member}.log").read_text()

    def revision(self) -> int:
        return int(self.call("kv/range", {"key": encoded("any")})["header"]["revision"])

    def save(self, file: Path | None = None) -> None:
        """Save a snapshot to a file, by default to the bucket that is a folder, as the backup does."""
        answer = self.send("maintenance/snapshot", {})
        blobs = (json.loads(line)["result"].get("blob", "") for line in answer.text.splitlines())
        (file or self.bucket / SNAPSHOT).write_bytes(b"".join(map(b64decode, blobs)))

    def run_jobs(self, *members: int, environment: Environment | None = None) -> list[subprocess.CompletedProcess[str]]:
        """Run the rendered Job of each member, and return its last container."""
        jobs = [item for item in rendered(RestoreStep.STOP, environment) if item.kind == "Job"]
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
        return self.pods.run(pod, places)

    def _token(self, member: int) -> str:
        login = json.dumps({"name": _ROOT, "password": _PASSWORD}).encode()
        found = json.loads(request(f"{self._client(member)}/v3/auth/authenticate", login).text)
        return str(found.get("token", ""))

    def _client(self, member: int) -> str:
        return f"http://{ports.LOOPBACK}:{self._clients[member]}"

    def _peer(self, member: int) -> str:
        return f"http://{ports.LOOPBACK}:{self._peers[member]}"


def encoded(value: str) -> str:
    return b64encode(value.encode()).decode()
