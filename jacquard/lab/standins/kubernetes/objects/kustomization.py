"""Builds a kustomize folder with the kustomize of ``kubectl``.

``pulumi_kubernetes.kustomize.Directory`` calls the function ``kubernetes:kustomize:directory``.
"""

import os
import shutil
import subprocess

from jacquard.providers.errors import ProviderError

FUNCTION = "kubernetes:kustomize:directory"

TIMEOUT_SECONDS = 120
"""Maximum duration of a build. Kustomize's own timeout for bases on a git server is shorter."""


def build(directory: str, *flags: str) -> str:
    """Return the YAML of a folder with a kustomization.

    Args:
        directory: path of the folder, relative to the folder of the program.
        flags: flags of ``kubectl kustomize``.

    Raises:
        ProviderError: the folder or kubectl does not exist, or kustomize fails.
    """
    if not os.path.isdir(directory):  # noqa: PTH112 - a Path turns https:// into https:/
        msg = (
            f"'{directory}' is not a local folder; clone the git repository, or list its address under resources: of "
            "a local kustomization, which makes kustomize download it"
        )
        raise ProviderError(_message(msg))
    kubectl = shutil.which("kubectl")
    if not kubectl:
        raise ProviderError(_message("kubectl, which builds the folder, is not on PATH; install it"))
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
        msg = f"'{directory}' was not built within {TIMEOUT_SECONDS} s; check whether it loads bases from a server"
        raise ProviderError(_message(msg)) from None
    if answer.returncode:
        raise ProviderError(_message(f"'{directory}': {answer.stderr.strip().removeprefix('error: ')}"))
    return answer.stdout


def _message(problem: str) -> str:
    return f"kustomize: {problem}"
