"""The environment variables with which plain ``pulumi`` works in this project."""

from __future__ import annotations

import os

from jacquard.lab.toolchain import plugins
from jacquard.lab.toolchain.engine import choose
from jacquard.machine import paths

REHEARSAL_PASSPHRASE = "rehearsal"  # noqa: S105 - see the docstring
"""Well known on purpose: a rehearsal keeps no secret, and no new clone or new cache may lock its stacks out."""

GO_MEMORY = "GOMEMLIMIT"
ENGINE_MEMORY = "220MiB"
"""What Go's collector aims at in the engine: with its default, an inventory of 5,500 objects takes 370 MB instead of
293, for 0.8 s of processor time. A limit of the user's own stays."""
_OWN = ("JACQUARD_CACHE", "JACQUARD_HOME", "JACQUARD_ENVIRONMENTS")


def engine(environment: str, *, backend_url: str | None = None) -> dict[str, str]:
    """Return the variables for one environment, and see to it that what they name is there.

    Args:
        environment: name of the environment.
        backend_url: where state is kept. Default is the file backend of this project, with the passphrase of
            rehearsals; whoever keeps state elsewhere names a secrets provider as well.

    Raises:
        ToolchainError: no engine is built or installed.
    """
    plugins.lay_out(choose(fetch=False))
    return {
        "PATH": _search_path(),
        "PULUMI_HOME": str(paths.pulumi_home()),
        # No sidecar files of metadata: one that a killed engine left half written makes the whole state unreadable.
        "PULUMI_BACKEND_URL": backend_url or f"file://{paths.pulumi_state()}?metadata=skip",
        **({} if backend_url else {"PULUMI_CONFIG_PASSPHRASE": REHEARSAL_PASSPHRASE}),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
        GO_MEMORY: os.environ.get(GO_MEMORY) or ENGINE_MEMORY,
        "KUBECONFIG": str(paths.kubeconfig(environment, "management")),
        "JACQUARD_KUBECONFIGS": str(paths.kubeconfigs(environment)),
        # Plugins and policy packs run in folders of their own.
        **({"JACQUARD_ENVIRONMENTS": str(paths.environments())} if paths.own() else {}),
        **{name: os.environ[name] for name in _OWN if os.environ.get(name)},
    }


def process(environment: str, *, backend_url: str | None = None) -> dict[str, str]:
    """Return the whole environment of a process that runs ``pulumi``: this one's with those of `engine` in it.

    Raises:
        ToolchainError: as `engine`.
    """
    return {**os.environ, **engine(environment, backend_url=backend_url)}


def _search_path() -> str:
    first = str(paths.pulumi_bin())
    return os.pathsep.join([first, *(folder for folder in os.get_exec_path() if folder != first)])
