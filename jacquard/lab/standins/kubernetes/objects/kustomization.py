"""What kustomize makes of a folder, by the kustomize that every ``kubectl`` brings.

The function ``kubernetes:kustomize:directory`` is what ``pulumi_kubernetes.kustomize.Directory`` calls.
"""

import os
import shutil
import subprocess

from jacquard.providers.errors import ProviderError

FUNCTION = "kubernetes:kustomize:directory"

TIMEOUT_SECONDS = 120
"""Longest build; one that reads bases of a git server ends sooner by kustomize's own time-out."""


def build(directory: str, *flags: str) -> str:
    """Return the YAML of a folder with a kustomization.

    Args:
        directory: its path, relative to the folder of the program.
        flags: for ``kubectl kustomize``.

    Raises:
        ProviderError: there is no such folder or no kubectl, or kustomize refuses.
    """
    if not os.path.isdir(directory):  # noqa: PTH112 - a Path makes https:/ of https://
        msg = (
            f"'{directory}' is no folder of this machine; clone what lies in git, or name it under resources: of a "
            "kustomization here, which kustomize fetches"
        )
        raise ProviderError(_told(msg))
    kubectl = shutil.which("kubectl")
    if not kubectl:
        raise ProviderError(_told("kubectl is not on PATH, whose kustomize builds the folder; install it"))
    try:
        answer = subprocess.run(
            [kubectl, "kustomize", *flags, "--", directory],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        msg = f"'{directory}' was not built within {TIMEOUT_SECONDS} s; does it read bases of a server?"
        raise ProviderError(_told(msg)) from None
    if answer.returncode:
        raise ProviderError(_told(f"'{directory}': {answer.stderr.strip().removeprefix('error: ')}"))
    return answer.stdout


def _told(what: str) -> str:
    return f"kustomize: {what}"
