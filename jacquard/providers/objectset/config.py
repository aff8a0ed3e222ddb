"""Configuration of the provider: one explicitly named cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jacquard.providers.kube import ApiServer
from jacquard.providers.rpc.diff import Change, changes, diff_response
from jacquard.providers.rpc.errors import check_failure
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import UNKNOWN

CONNECTIONS = 8
"""Maximum number of parallel requests to an API server; more than eight save no time and starve other clients."""
KEYS = {
    "kubeconfig": "path of the cluster's kubeconfig; the ambient cluster is never used",
    "context": "context of the kubeconfig",
    "clusterIdentifier": "name of the cluster, independent of its address",
}
_ENGINE_KEYS = {"version", "pluginDownloadURL"}
_REQUIRED = ("kubeconfig", "clusterIdentifier")


@dataclass(frozen=True, slots=True)
class Config:
    """Cluster of a provider."""

    kubeconfig: Path
    context: str | None

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Config | None:
        """Return the configuration, None if it is unknown in a preview."""
        kubeconfig, context = plain.get("kubeconfig"), plain.get("context")
        if UNKNOWN in (kubeconfig, context):
            return None
        return cls(Path(str(kubeconfig or "")), str(context) if context else None)

    def connect(self) -> ApiServer:
        """Return a client; the kubeconfig is read only now, because the running program may create it.

        Raises:
            KubeconfigError: The kubeconfig does not exist or is not usable.
        """
        return ApiServer.from_kubeconfig(
            self.kubeconfig, self.context, user_agent="jacquard-objectset", connections=CONNECTIONS
        )


def check(plain: Mapping[str, Any]) -> list[provider_pb2.CheckFailure]:
    """Return all errors in the configuration."""
    failures = []
    for key, value in plain.items():
        if key not in KEYS and key not in _ENGINE_KEYS:
            failures.append(
                check_failure((key,), f"is not a setting of this provider; its settings are {', '.join(KEYS)}")
            )
        elif key in KEYS and value is not UNKNOWN and not (isinstance(value, str) and value.strip()):
            failures.append(check_failure((key,), f"{key} is {value!r} but must be the {KEYS[key]}"))
        elif key == "kubeconfig" and value is not UNKNOWN and "\n" in str(value):
            reason = "kubeconfig contains a whole file but must be a path, so that the state contains no credential"
            failures.append(check_failure((key,), reason))
    missing = (key for key in _REQUIRED if key not in plain)
    return failures + [check_failure((), f"{key} is missing; it is the {KEYS[key]}") for key in missing]


def diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> provider_pb2.DiffResponse:
    """Return the effect of a changed configuration: another path keeps the cluster, another identifier replaces it."""

    def replaces(change: Change) -> bool:
        identifiers = (old.get("clusterIdentifier"), new.get("clusterIdentifier"))
        return change.path == ("clusterIdentifier",) and UNKNOWN not in identifiers

    return diff_response(changes(dict(old), dict(new)), replaces=replaces)
