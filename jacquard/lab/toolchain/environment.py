"""Environment variables for plain ``pulumi`` in this project."""

import os

from jacquard.lab.toolchain import plugins
from jacquard.lab.toolchain.engine import choose
from jacquard.machine import paths

REHEARSAL_PASSPHRASE = "rehearsal"  # noqa: S105 - see the docstring
"""Intentionally public: a rehearsal has no secrets, and a new clone or cache must be able to open its stacks."""

GO_MEMORY = "GOMEMLIMIT"
ENGINE_MEMORY = "220MiB"
"""Memory limit of Go's garbage collector in the engine. With Go's default, an inventory of 5,500 objects takes 370 MB
instead of 293 MB and saves 0.8 s of processor time. A limit set by the user has precedence."""
GO_COLLECTOR = "GOGC"
_COLLECTOR = "200"
"""Growth of the heap in percent after which Go's garbage collector runs, in the engine and in the programs of a local
region, which the engine starts. With Go's default (100), the collector takes a fifth of the processor time of the
management cluster's API server while a region starts. A value set by the user has precedence."""
_IGNORED = ("PULUMI_OPTION_", "PULUMI_K8S_DELETE_UNREACHABLE", "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE")
"""Beginnings of variables that the engine must not get. The prefix is that of flags (pulumi:pkg/cmd/pulumi/cmd)."""
_ONE_READER = {"PULUMI_DIY_BACKEND_PARALLEL": "1"}
"""The PostgreSQL backend asks for the size of each object while a list of objects holds a connection. If lists hold all
connections of its pool, it waits forever (pulumi:pkg/backend/diy/postgres/bucket.go, ListPaged): Pulumi 3.259 on two
processors did so for ``stack ls`` of seven stacks."""
_OWN = ("JACQUARD_CACHE", "JACQUARD_HOME", "JACQUARD_ENVIRONMENTS")


def engine(environment: str, *, backend_url: str | None = None) -> dict[str, str]:
    """Return the variables for one environment; create the folders and plug-ins in these variables.

    Args:
        environment: name of the environment.
        backend_url: backend of the state. Default is the file backend of this project, with the passphrase of
            rehearsals; any other backend also needs a secrets provider.

    Raises:
        ToolchainError: no engine is built or installed.
    """
    plugins.lay_out(choose(fetch=False))
    return {
        "PATH": _search_path(),
        "PULUMI_HOME": str(paths.pulumi_home()),
        # Without metadata files: a metadata file that a killed engine left incomplete makes the whole state unreadable.
        "PULUMI_BACKEND_URL": backend_url or f"file://{paths.pulumi_state()}?metadata=skip",
        **({} if backend_url else {"PULUMI_CONFIG_PASSPHRASE": REHEARSAL_PASSPHRASE}),
        **(_ONE_READER if (backend_url or "").startswith("postgres://") else {}),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
        GO_MEMORY: os.environ.get(GO_MEMORY) or ENGINE_MEMORY,
        GO_COLLECTOR: os.environ.get(GO_COLLECTOR) or _COLLECTOR,
        "KUBECONFIG": str(paths.kubeconfig(environment, "management")),
        "JACQUARD_KUBECONFIGS": str(paths.kubeconfigs(environment)),
        # Plugins and policy packs run in other working directories.
        **({"JACQUARD_ENVIRONMENTS": str(paths.environments())} if paths.own() else {}),
        **{name: os.environ[name] for name in _OWN if os.environ.get(name)},
    }


def process(environment: str, *, backend_url: str | None = None) -> dict[str, str]:
    """Return all variables of a process that runs ``pulumi``: the variables of this process, overridden by `engine`.

    Variables that change the flags of ``pulumi`` or let objects of unreachable clusters leave the state are removed:
    ``PULUMI_OPTION_IGNORE_PROTECT`` alone would delete protected objects.

    Raises:
        ToolchainError: no engine is built or installed.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_IGNORED)}
    return {**kept, **engine(environment, backend_url=backend_url)}


def _search_path() -> str:
    first = str(paths.pulumi_bin())
    return os.pathsep.join([first, *(folder for folder in os.get_exec_path() if folder != first)])
