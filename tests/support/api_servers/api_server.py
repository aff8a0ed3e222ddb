"""A bare Kubernetes API server: etcd and kube-apiserver, with the CRDs of hosts and without controllers."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import ssl
import subprocess
import time
from base64 import b64decode
from collections.abc import Collection, Mapping
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from jacquard.lab.rehearsal import crds, ports
from jacquard.lab.rehearsal.region import MANAGEMENT
from jacquard.lab.toolchain import binaries
from jacquard.providers.kube import ApiError, ApiServer, KubeconfigError, ObjectRef
from tests.support.machine.scaled_timeout import ScaledTimeout

HOSTS = ("metal3.io/v1alpha1", "BareMetalHost")
_READY_SECONDS = 120.0
_POLL_SECONDS = 0.1
_COLLECTOR = {"GOGC": "200"}
"""Setting of Go's garbage collector as in local regions (`jacquard.lab.toolchain.environment`)."""


class LocalApiServer:
    """One API server in a new folder; `stop` ends its processes.

    Args:
        folder: Folder for all its files; must not exist.
        kinds: Custom kinds to serve.
        controllers: Kubernetes controllers to run, each with its own service account.
        kubeconfig: File to write.
        context: Name of the only context of the kubeconfig.
        flags: Further flags by program; they override the default flags.
        users: Groups of users with a token, by name; `as_user` impersonates all others.
    """

    def __init__(
        self,
        folder: Path,
        *,
        kinds: Collection[str] = (HOSTS[1],),
        controllers: Collection[str] = (),
        kubeconfig: Path | None = None,
        context: str = "test",
        flags: Mapping[str, Collection[str]] | None = None,
        users: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.kubeconfig = kubeconfig or folder / "kubeconfig.yaml"
        self._context = context
        self._flags = flags or {}
        self._users = users or {}
        self._controllers = controllers
        self._certificate = folder / "certificates" / "apiserver.crt"
        self._key, self._tokens = folder / "service-accounts.key", folder / "tokens.csv"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._token = secrets.token_hex(16)
        self._client, self._peer, self._secure = ports.free(3)
        try:
            self._configure()
            self._run_all()
            known = crds.definitions(MANAGEMENT) if kinds else []
            crds.install(self.api, [crd for crd in known if crd["spec"]["names"]["kind"] in kinds])
        except BaseException:
            self.stop()
            raise

    def snapshot(self, file: Path) -> None:
        """Save a snapshot of etcd, over its HTTP gateway (etcd:api/etcdserverpb/gw)."""
        url = f"http://{ports.LOOPBACK}:{self._client}/v3/maintenance/snapshot"
        with urlopen(Request(url, data=b"{}")) as answer, file.open("wb") as copy:
            for line in answer:
                copy.write(b64decode(json.loads(line)["result"].get("blob", "")))

    def restore(self, snapshot: Path) -> None:
        """Restore etcd as the page `restore` describes: stop, restore with higher revisions, start."""
        self.stop()
        data = self.folder / "etcd"
        shutil.rmtree(data)
        peer = f"http://{ports.LOOPBACK}:{self._peer}"
        command = (
            *(binaries.path("etcdutl"), "snapshot", "restore", snapshot, f"--data-dir={data}"),
            *(f"--initial-cluster=default={peer}", f"--initial-advertise-peer-urls={peer}"),
            *("--bump-revision=1000000000", "--mark-compacted"),
        )
        subprocess.run(command, check=True, capture_output=True)
        self._run_all()

    def stop(self) -> None:
        """Stop the processes, the API server first."""
        for process in reversed(self._processes):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        self._processes.clear()

    @property
    def etcd(self) -> subprocess.Popen[bytes]:
        """Return the process of etcd."""
        return self._processes[0]

    def namespace(self, name: str) -> str:
        """Create a namespace."""
        self.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, field_manager="test")
        return name

    def hosts(self, namespace: str) -> dict[str, dict[str, Any]]:
        """Return the hosts of a namespace by name."""
        return {host["metadata"]["name"]: host for host in self.api.list(*HOSTS, namespace=namespace)}

    def report(self, namespace: str, state: str, *names: str) -> None:
        """Write the status that Metal3's controller would report to the named hosts, or all of the namespace."""
        status = {"status": {**_STATUS, "provisioning": {"state": state, "ID": "", "image": {"url": ""}}}}
        for name in names or self.hosts(namespace):
            ref = ObjectRef(*HOSTS, name, namespace)
            self.api.patch(ref, status, subresource="status", field_manager="baremetal-operator")

    def as_user(self, user: str, *groups: str, method: str = "GET", path: str, body: Any = None) -> Message:
        """Send a request as ``user``, whether permitted or not, and return the headers of the response.

        Service accounts are in their groups implicitly.
        """
        [cluster] = json.loads(self.kubeconfig.read_text())["clusters"]
        request = Request(  # noqa: S310
            cluster["cluster"]["server"] + path, None if body is None else json.dumps(body).encode(), method=method
        )
        request.add_header("Authorization", f"Bearer {self._token_of(user)}")
        request.add_header("Content-Type", "application/json")
        if user not in self._users:
            request.add_header("Impersonate-User", user)
        for group in groups:
            request.add_header("Impersonate-Group", group)
        trusted = ssl.create_default_context(cafile=cluster["cluster"]["certificate-authority"])
        try:
            with urlopen(request, context=trusted) as answer:  # noqa: S310
                headers: Message = answer.headers
        except HTTPError as refused:
            headers = refused.headers
        return headers

    def _token_of(self, user: str) -> str:
        return f"{self._token}-{user}" if user in self._users else self._token

    def _run_all(self) -> None:
        """Start the programs, and wait until the API server is ready."""
        self._start()
        self.api = self._wait_ready()
        if self._controllers:
            self._run(
                "kube-controller-manager",
                f"--kubeconfig={self.kubeconfig}",
                f"--controllers={','.join(self._controllers)}",
                f"--service-account-private-key-file={self._key}",
                "--use-service-account-credentials",
                "--leader-elect=false",
                "--secure-port=0",
            )

    def _start(self) -> None:
        etcd = f"http://{ports.LOOPBACK}:{self._client}"
        peer = f"http://{ports.LOOPBACK}:{self._peer}"
        self._run(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
        )
        self._run(
            "kube-apiserver",
            f"--etcd-servers={etcd}",
            f"--bind-address={ports.LOOPBACK}",
            f"--secure-port={self._secure}",
            f"--cert-dir={self._certificate.parent}",
            f"--token-auth-file={self._tokens}",
            "--authorization-mode=RBAC",
            "--allow-privileged",  # As kubeadm sets it: agents of CSI drivers and CNIs are privileged.
            "--disable-admission-plugins=ServiceAccount",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self._key}",
            f"--service-account-signing-key-file={self._key}",
            "--service-cluster-ip-range=10.0.0.0/24",
        )

    def _configure(self) -> None:
        """Write the key of service accounts, the tokens and the kubeconfig."""
        subprocess.run(["openssl", "genrsa", "-out", str(self._key), "2048"], check=True, capture_output=True)
        accounts = {"test": "system:masters", **self._users}
        self._tokens.write_text(
            "".join(f'{self._token_of(name)},{name},{name},"{accounts[name]}"\n' for name in accounts)
        )
        cluster = {
            "server": f"https://{ports.LOOPBACK}:{self._secure}",
            "certificate-authority": str(self._certificate),
        }
        config = {
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": {"token": self._token}}],
            "contexts": [{"name": self._context, "context": {"cluster": "test", "user": "test"}}],
            "current-context": self._context,
        }
        self.kubeconfig.write_text(json.dumps(config))

    def _run(self, program: str, *arguments: str) -> None:
        with (self.folder / f"{program}.log").open("wb") as log:
            command = [str(binaries.path(program)), *arguments, *self._flags.get(program, ())]
            variables = _COLLECTOR | os.environ
            process = subprocess.Popen(
                command, cwd=self.folder, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._processes.append(process)

    def _wait_ready(self) -> ApiServer:
        patience = ScaledTimeout(_READY_SECONDS)
        while not (api := self._ready()):
            dead = [process.args for process in self._processes if process.poll() is not None]
            assert not dead, f"ended at once: {dead}; see {self.folder}"
            assert not patience.is_over(), f"no API server within {_READY_SECONDS:.0f} s; see {self.folder}"
            time.sleep(_POLL_SECONDS)
        return api

    def _ready(self) -> ApiServer | None:
        """Return a client when the server is ready; until then, its certificate may not exist."""
        try:
            api = ApiServer.from_kubeconfig(self.kubeconfig)
            api.request("GET", "/readyz")
            return api if api.get(ObjectRef("v1", "Namespace", "kube-system")) else None
        except (ApiError, KubeconfigError):
            return None


_STATUS = {
    "errorCount": 0,
    "errorMessage": "",
    "hardwareProfile": "unknown",
    "operationalStatus": "OK",
    "poweredOn": False,
}
"""Status fields that the CRD requires."""
