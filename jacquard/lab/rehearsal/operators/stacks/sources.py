"""Source of a Stack: a commit of a Git repository, with the login in Secrets of the same namespace.

Source: pulumi/pulumi-kubernetes-operator v2, ``operator/internal/controller/pulumi/git.go``. Other sources, branches
and GitHub Apps are not simulated.
"""

import base64
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from jacquard.lab.rehearsal.operators.stacks.record import SPEC_INVALID, Stalled
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.machine.files import replace_private

_SUPPORTED = {
    *("stack", "backend", "secretsProvider", "projectRepo", "repoDir", "commit", "branch", "gitAuth", "shallow"),
    *("prerequisites", "refresh", "serviceAccountName", "workspaceTemplate", "workspaceReclaimPolicy"),
    *("continueResyncOnCommitMatch", "resyncFrequencySeconds", "retryMaxBackoffDurationSeconds"),
}
"""Fields of a Stack that are simulated."""
_LOGINS = ("accessToken", "sshAuth", "basicAuth")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_TOKEN_USER = "git"  # noqa: S105 - the user name that accompanies a token
FETCH = 'rm -rf "$3" && git clone --quiet --no-checkout -- "$1" "$3" && git -C "$3" checkout --quiet --detach "$2"'
"""Shell command with the arguments URL, commit and target folder."""


@dataclass(frozen=True, slots=True)
class Source:
    """A commit of a repository and its login."""

    url: str
    commit: str
    user: str = ""
    password: str = ""
    ssh_key: str = ""

    def secrets(self) -> set[str]:
        """Return the values that must not be shown."""
        return {self.password, self._basic(), *self.ssh_key.splitlines()} - {""}

    def variables(self, folder: Path) -> Mapping[str, str]:
        """Return the variables with which ``git`` uses the login; write the key, if any, into ``folder``."""
        if self.ssh_key:
            key, hosts = folder / "ssh-key", folder / "known-hosts"
            replace_private(key, self.ssh_key if self.ssh_key.endswith("\n") else f"{self.ssh_key}\n")
            options = ("IdentitiesOnly=yes", "StrictHostKeyChecking=accept-new", f"UserKnownHostsFile={hosts}")
            command = ["ssh", "-i", str(key), *(word for option in options for word in ("-o", option))]
            return {"GIT_SSH_COMMAND": shlex.join(command)}
        if not self.password:
            return {}
        header = f"Authorization: Basic {self._basic()}"
        return {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": header}

    def _basic(self) -> str:
        return base64.b64encode(f"{self.user}:{self.password}".encode()).decode() if self.password else ""


def source_of(view: View, spec: Object, namespace: str) -> Source:
    """Return the source of a Stack with this spec.

    Raises:
        Stalled: The source is invalid or not simulated, or a Secret of its login is missing.
    """
    for field in sorted(spec.keys() - _SUPPORTED):
        if spec[field]:
            refuse(f"spec.{field}: not simulated in a local region; remove the field")
    if not spec.get("stack"):
        refuse("spec.stack: missing; set the name of the stack in the backend")
    login = _login(view, spec.get("gitAuth"), namespace)
    url, commit, branch = (spec.get(field) or "" for field in ("projectRepo", "commit", "branch"))
    if not url:
        refuse("spec.projectRepo: missing; a local region has no other source")
    if bool(commit) == bool(branch):
        refuse(f"spec: {'commit and branch exclude each other' if commit else 'one of commit and branch is required'}")
    if not _COMMIT.fullmatch(commit):
        field, value = ("branch", branch) if branch else ("commit", commit)
        refuse(f"spec.{field}: '{value}' is not resolved in a local region; set commit to 40 hex digits")
    return Source(url, commit, **login)


def _login(view: View, login: Object | None, namespace: str) -> dict[str, str]:
    if not login:
        return {}
    if not any(map(login.get, _LOGINS)):
        refuse(f"spec.gitAuth: one of {', '.join(_LOGINS)} is required in a local region")

    def value(purpose: str, reference: Object | None) -> str:
        return _resolve(view, f"spec.gitAuth.{purpose}", reference or {}, namespace)

    if ssh := login.get("sshAuth"):
        if ssh.get("password"):
            refuse("spec.gitAuth.sshAuth.password: not simulated in a local region; use a key without password")
        return {"ssh_key": value("sshAuth.sshPrivateKey", ssh.get("sshPrivateKey"))}
    if token := login.get("accessToken"):
        return {"user": _TOKEN_USER, "password": value("accessToken", token)}
    basic = login["basicAuth"]
    user = value("basicAuth.userName", basic.get("userName"))
    return {"user": user, "password": value("basicAuth.password", basic.get("password"))}


def _resolve(view: View, path: str, reference: Object, namespace: str) -> str:
    """Return the value of a Secret's key."""
    target = reference.get("secret")
    if reference.get("type") != "Secret" or not target:
        refuse(f"{path}: must reference a Secret")
    if target.get("namespace", namespace) != namespace:
        refuse(f"{path}: cross-namespace reference to '{target['namespace']}'; use a Secret in '{namespace}'")
    secret = view.find("v1", "Secret", target["name"], namespace)
    if secret is None:
        refuse(f"{path}: Secret '{namespace}/{target['name']}' not found")
    value = (secret.get("data") or {}).get(target["key"])
    if value is None:
        refuse(f"{path}: Secret '{namespace}/{target['name']}' has no key '{target['key']}'")
    return base64.b64decode(value).decode(errors="replace")


def refuse(message: str) -> NoReturn:
    """Stall a Stack with an invalid spec."""
    raise Stalled(SPEC_INVALID, message)
