"""Credentials from the credential program of a kubeconfig (``exec``), as in kubeconfigs of hosted clusters."""

import base64
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jacquard.providers.kube.errors import KubeconfigError

TIMEOUT_SECONDS = 60.0
"""Timeout of a credential program, which must not be interactive."""
PEMS = {"clientCertificateData": "client-certificate-data", "clientKeyData": "client-key-data"}
"""Fields of an ExecCredential in PEM, and the corresponding fields of a kubeconfig in base64."""


def exec_credential(path: Path, plugin: Mapping[str, Any]) -> dict[str, str]:
    """Run the program of a kubeconfig's ``exec`` section and return its response as user fields.

    Args:
        path: The kubeconfig, for messages; a relative command with a slash starts at its folder.
        plugin: The ``exec`` section.

    Raises:
        KubeconfigError: The program is missing, fails, or does not return an ExecCredential.
    """
    command = str(plugin.get("command") or "")
    if "/" in command:
        command = str(path.parent / command)
    environment = {item["name"]: item["value"] for item in plugin.get("env") or ()}
    info = {"apiVersion": plugin.get("apiVersion"), "kind": "ExecCredential", "spec": {"interactive": False}}
    environment["KUBERNETES_EXEC_INFO"] = json.dumps(info)
    try:
        done = subprocess.run(
            [command, *(plugin.get("args") or ())],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=True,
        )
        status = dict(json.loads(done.stdout)["status"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        msg = f"{path}: the credential program '{command}' returned no credential ({_reason(error)})"
        raise KubeconfigError(msg) from None
    fields = {"token": str(status["token"])} if status.get("token") else {}
    for theirs, ours in PEMS.items():
        if status.get(theirs):
            fields[ours] = base64.b64encode(str(status[theirs]).encode()).decode()
    return fields


def _reason(error: Exception) -> str:
    """Return the reason without the program's output, which may contain a credential."""
    if isinstance(error, subprocess.CalledProcessError):
        return f"exit status {error.returncode}"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer in {TIMEOUT_SECONDS:.0f} s"
    if isinstance(error, OSError):
        return str(error.strerror)
    return "its output is not an ExecCredential"
