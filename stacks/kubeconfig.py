"""Kubeconfigs of tenant clusters: files at stable paths, never in the state of a stack.

Cluster API stores a cluster's kubeconfig in the Secret ``<cluster>-kubeconfig`` of the management cluster and renews
the kubeconfig. The program refreshes the files before each operation. For a new cluster, a command in the resource
graph waits for the Secret.
"""

import argparse
import base64
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from components.lookups.pools import clusters
from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from jacquard.machine.files import replace_private
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.kube.wait import WaitCondition, WaitTimeout, wait_for

FOLDER_VARIABLE = "JACQUARD_KUBECONFIGS"
_FILLED = (WaitCondition("jsonpath={.data.value}", path=("data", "value")),)


class KubeconfigMissingError(ProviderError):
    """A kubeconfig or the folder of kubeconfigs is missing."""


def folder(environment: str, variables: Mapping[str, str] = os.environ) -> Path:
    """Return the folder with the kubeconfigs of ``environment``.

    Raises:
        KubeconfigMissingError: the variable with the folder is not set.
    """
    chosen = variables.get(FOLDER_VARIABLE)
    if not chosen:
        msg = (
            f"{FOLDER_VARIABLE} is not set, so the clusters of environment '{environment}' cannot be found; "
            f'run eval "$(jacquard env {environment})" in this shell, or jacquard up {environment}'
        )
        raise KubeconfigMissingError(msg)
    return Path(chosen)


def path(kubeconfigs: Path, cluster: str) -> Path:
    """Return the kubeconfig file of ``cluster`` in the folder ``kubeconfigs``."""
    return kubeconfigs / f"{cluster}.yaml"


def ending(environment: Environment, kubeconfigs: Path) -> list[str]:
    """Return the clusters that were removed from the data but may still contain objects of the region.

    The stack with objects in a cluster writes the kubeconfig before it creates the first object, and removes the
    kubeconfig after it deletes the last.
    """
    known = {file.stem for file in kubeconfigs.glob(path(Path(), "*").name)}
    return sorted(known - {MANAGEMENT, *(placed.cluster.name for placed in clusters(environment))})


def refresh(management: ApiServer, kubeconfigs: Path, cluster: str) -> bool:
    """Write the kubeconfig of ``cluster`` if the management cluster has one; return whether it was written.

    Raises:
        ApiError: the management cluster does not answer, or rejects the request.
    """
    secret = management.get(_secret(cluster))
    value = (secret or {}).get("data", {}).get("value")
    if not value:
        return False
    replace_private(path(kubeconfigs, cluster), base64.b64decode(value))
    return True


def wait(management: ApiServer, kubeconfigs: Path, cluster: str, *, timeout_seconds: float) -> Path:
    """Wait until the management cluster has the kubeconfig of ``cluster``, and return the path of the written file.

    Raises:
        KubeconfigMissingError: the timeout expired.
        ApiError: the management cluster does not answer, or rejects the request.
    """
    with suppress(WaitTimeout):
        wait_for(management, _secret(cluster), _FILLED, timeout_seconds=timeout_seconds)
    if not refresh(management, kubeconfigs, cluster):
        msg = (
            f"secret {cluster}/{cluster}-kubeconfig of the management cluster was not created within "
            f"{timeout_seconds:g} s; check why the control plane is not ready: "
            f"kubectl --kubeconfig {path(kubeconfigs, MANAGEMENT)} describe -n {cluster} cluster {cluster}"
        )
        raise KubeconfigMissingError(msg)
    return path(kubeconfigs, cluster)


def _secret(cluster: str) -> ObjectRef:
    return ObjectRef("v1", "Secret", f"{cluster}-kubeconfig", cluster)


def main(arguments: list[str] | None = None) -> int:
    """Run ``python -m stacks.kubeconfig``; print only the path, never the content of the file."""
    parser = argparse.ArgumentParser(prog="python -m stacks.kubeconfig", description=refresh.__doc__)
    parser.add_argument("environment")
    parser.add_argument("cluster")
    parser.add_argument("--timeout", type=float, default=0.0, metavar="SECONDS", help="time to wait for the kubeconfig")
    parser.add_argument("--context", help="context of the management cluster's kubeconfig")
    parser.add_argument("--forget", action="store_true", help="remove the file of the kubeconfig")
    chosen = parser.parse_args(arguments)
    try:
        kubeconfigs = folder(chosen.environment)
        if chosen.forget:
            path(kubeconfigs, chosen.cluster).unlink(missing_ok=True)
            return 0
        management = ApiServer.from_kubeconfig(path(kubeconfigs, MANAGEMENT), chosen.context)
        written = wait(management, kubeconfigs, chosen.cluster, timeout_seconds=chosen.timeout)
    except ProviderError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{written}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
