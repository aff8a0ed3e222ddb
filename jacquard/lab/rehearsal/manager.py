"""Process of the real Cluster API core manager in the region."""

import base64
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import urllib3
import yaml

from jacquard.lab.rehearsal import ports, processes
from jacquard.lab.rehearsal.crds import FIELD_MANAGER
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.region import MANAGEMENT, Region
from jacquard.lab.toolchain import binaries
from jacquard.machine.files import replace_private
from jacquard.providers.kube import ApiError, ApiServer

NAME = "cluster-api-manager"
_NAMESPACE = "capi-system"
_ATTEMPTS = 5
_READY_SECONDS = 60.0
_WEBHOOK = "--webhook-port="
_HEALTH = "--health-addr="


def ensure(region: Region, say: Callable[[str], None], *, webhooks: bool = True) -> None:
    """Start the manager unless it runs and is healthy, and register its webhooks with its port.

    Args:
        region: The region; its management cluster must be ready.
        say: Prints a line for each repair.
        webhooks: Whether the API server can reach the loopback interface of this machine.

    Raises:
        RehearsalError: The manager does not become healthy; the message contains the last lines of its log.
    """
    alive = [process for process in processes.running(region.folder) if process.part == NAME]
    # The manager reads the kubeconfig once, and reports healthy even if the API server does not respond.
    kubeconfig = region.kubeconfig(MANAGEMENT).read_text()
    moved = not _kubeconfig(region).exists() or _kubeconfig(region).read_text() != kubeconfig
    if len(alive) == 1 and not moved and _healthy(_value(alive[0], _HEALTH)):
        _register(region, alive[0], webhooks=webhooks)
        return
    if alive:
        say(f"{NAME}: {'its API server has a new address' if moved else 'does not respond'}; starting it again")
    processes.kill(alive)
    for _ in range(_ATTEMPTS):
        started = _start(region)
        if started:
            _register(region, started, webhooks=webhooks)
            return
    log = region.logs / f"{NAME}.log"
    tail = "\n".join(f"  {line}" for line in log.read_text(errors="replace").splitlines()[-8:])
    msg = f"{NAME} did not start; last lines of {log}:\n{tail}"
    raise RehearsalError(msg)


def _start(region: Region) -> processes.Process | None:
    """Start the manager on free ports; return the process when healthy, or None if it ends or times out."""
    program = region.folder / "bin" / NAME
    program.parent.mkdir(parents=True, exist_ok=True)
    program.unlink(missing_ok=True)
    program.symlink_to(binaries.path(NAME))
    diagnostics, health, webhook = ports.free(3)
    arguments = [
        str(program),
        "--leader-elect=false",
        f"--diagnostics-address={ports.LOOPBACK}:{diagnostics}",
        "--insecure-diagnostics=true",
        f"{_HEALTH}{ports.LOOPBACK}:{health}",
        f"{_WEBHOOK}{webhook}",
        f"--webhook-cert-dir={_certificate(region)}",
        "--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
        "--clustercache-client-qps=200",
        "--clustercache-client-burst=400",
        "--kube-api-qps=100",
        "--kube-api-burst=200",
    ]
    environment = {
        **os.environ,
        "KUBECONFIG": str(_kubeconfig(region)),
        "POD_NAMESPACE": _NAMESPACE,
        "POD_NAME": NAME,
        "POD_UID": "00000000-0000-0000-0000-000000000000",
    }
    replace_private(_kubeconfig(region), region.kubeconfig(MANAGEMENT).read_text())
    processes.launch(arguments, log=region.logs / f"{NAME}.log", environment=environment, folder=region.folder)
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        time.sleep(0.1)
        alive = [process for process in processes.running(region.folder) if process.part == NAME]
        if not alive:
            return None
        if _healthy(_value(alive[0], _HEALTH)):
            return alive[0]
    processes.kill(alive)
    return None


def _kubeconfig(region: Region) -> Path:
    """Return the manager's copy of the kubeconfig, with the address of the API server when the manager started."""
    return region.folder / "webhook" / "kubeconfig.yaml"


def _certificate(region: Region) -> Path:
    """Return a folder with tls.crt and tls.key for 127.0.0.1.

    The webhook server cannot be disabled. In a kwok cluster, it uses the key pair of the API server for this address.
    """
    folder = region.folder / "webhook"
    folder.mkdir(parents=True, exist_ok=True)
    pki = region.cluster_folder(MANAGEMENT) / "pki"
    if pki.is_dir():
        shutil.copy(pki / "admin.crt", folder / "tls.crt")
        shutil.copy(pki / "admin.key", folder / "tls.key")
    elif not (folder / "tls.crt").exists():
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", f"/CN={NAME}"]
        command += ["-addext", f"subjectAltName=IP:{ports.LOOPBACK}", "-keyout", "tls.key", "-out", "tls.crt"]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            msg = f"openssl: no certificate for {NAME} ({error}); install openssl, or unset JACQUARD_CLUSTER"
            raise RehearsalError(msg) from error
    return folder


def configurations(text: str, port: int, authority: str) -> Iterator[dict[str, Any]]:
    """Yield the webhook configurations of the manager's release manifest, with ``port`` of this machine as URL."""
    for configuration in yaml.load_all(text, yaml.CSafeLoader):
        if not configuration:
            continue
        for webhook in configuration["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": f"https://{ports.LOOPBACK}:{port}{path}", "caBundle": authority}
        name = f"capi-{configuration['metadata']['name']}"
        yield {**configuration, "metadata": {"name": name}}


def _register(region: Region, manager: processes.Process, *, webhooks: bool) -> None:
    """Register the manager's webhooks at the API server, unless this port is already registered."""
    registered = region.folder / "webhook" / "registered"
    port = _value(manager, _WEBHOOK)
    if not webhooks or (registered.exists() and registered.read_text() == port):
        return
    api = ApiServer.from_kubeconfig(region.kubeconfig(MANAGEMENT))
    authority = base64.b64encode((region.cluster_folder(MANAGEMENT) / "pki" / "ca.crt").read_bytes()).decode()
    text = (binaries.data("cluster-api") / "config" / "webhook" / "manifests.yaml").read_text(encoding="utf-8")
    try:
        for configuration in configurations(text, int(port), authority):
            api.apply(configuration, field_manager=FIELD_MANAGER, force=True)
    except ApiError as error:
        msg = f"{NAME}: its webhooks cannot be registered: {error}; see {region.logs}"
        raise RehearsalError(msg) from error
    registered.write_text(port)


def _value(manager: processes.Process, option: str) -> str:
    return next(argument for argument in manager.arguments if argument.startswith(option))[len(option) :]


def _healthy(address: str) -> bool:
    try:
        answer = urllib3.request("GET", f"http://{address}/readyz", timeout=3, retries=False)
    except urllib3.exceptions.HTTPError:
        return False
    return answer.status == 200  # noqa: PLR2004 - HTTP status code
