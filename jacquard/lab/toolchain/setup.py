"""The set-up: checks, ``.venv``, engine, binaries, plugins. An up-to-date step does nothing."""

import shutil
import time
from pathlib import Path

from jacquard.lab.toolchain import binaries, build, checks, engine, families, plugins, tools, virtualenv
from jacquard.lab.toolchain.engine import Engine
from jacquard.lab.toolchain.family import Family
from jacquard.lab.toolchain.progress import Progress, duration
from jacquard.machine import paths, settings
from jacquard.machine.errors import ToolchainError
from jacquard.machine.lock import held


def set_up(progress: Progress, *, controllers: bool = False) -> None:
    """Set up everything that this project needs to run.

    Args:
        progress: prints each step.
        controllers: also build the controllers of add-ons that a region simulates otherwise.

    Raises:
        SettingError: an environment variable has an invalid value.
        ToolchainError: a prerequisite is missing, or a step fails.
    """
    start = time.monotonic()
    settings.check()
    go = tools.find("go")
    problems = []
    try:
        chosen = engine.choose(fetch=True)
    except ToolchainError as error:
        problems.append(str(error))
        chosen = Engine(version="", why="")
    engine_built, monitoring = chosen.vendor is None, settings.monitoring() is settings.Monitoring.ON
    needed = families.needed(
        engine=engine_built, cluster=settings.cluster(), controllers=controllers, monitoring=monitoring
    )
    missing = binaries.missing(needed, checks.usable(go))
    problems += checks.problems(missing, go=go, venv=paths.IS_CLONE and not virtualenv.fresh())
    if problems:
        raise ToolchainError("\n".join(problems))
    progress.say("engine", _description(chosen))
    if monitoring:
        progress.say("monitoring", _MONITORING)
    with held(paths.home() / "setup.lock", "setting up", lambda text: progress.say("set-up", text)):
        if paths.IS_CLONE:
            virtualenv.ensure(progress)
        if missing and go:
            build.build(missing, go, progress)
        progress.say("binaries", f"{paths.cache() / 'binaries'}")
        plugins.lay_out(chosen)
    if simulated := binaries.missing(families.CONTROLLERS, checks.usable(go)):
        progress.say(
            "simulated", f"{', '.join(family.name for family in simulated)}; `{paths.set_up_all()}` builds them"
        )
    progress.say("ready", f"in {duration(time.monotonic() - start)}")


def set_up_python(progress: Progress) -> None:
    """Create only ``.venv``, which is enough for commands that read or write data without an engine or a cluster.

    Raises:
        ToolchainError: a prerequisite is missing, or a step fails.
    """
    start = time.monotonic()
    if problems := checks.problems([], go=None, venv=not virtualenv.fresh()):
        raise ToolchainError("\n".join(problems))
    with held(paths.home() / "setup.lock", "setting up", lambda text: progress.say("set-up", text)):
        virtualenv.ensure(progress)
    progress.say("ready", f"in {duration(time.monotonic() - start)}, for commands without an engine or a cluster")


def set_up_families(wanted: tuple[Family, ...], progress: Progress) -> None:
    """Build the missing ones of the families ``wanted``.

    Raises:
        ToolchainError: a prerequisite is missing, or a build fails.
    """
    go = tools.find("go")
    missing = binaries.missing(wanted, checks.usable(go))
    if problems := checks.problems(missing, go=go, venv=False):
        raise ToolchainError("\n".join(problems))
    if missing and go:
        build.build(missing, go, progress)


def clean(progress: Progress, *, shared: bool) -> None:
    """Remove the files that the set-up created in this clone, but not local regions and stacks (``jacquard down``).

    Args:
        progress: prints each removed folder.
        shared: also remove the binaries and fetched plugins that all clones share.
    """
    folders: list[Path] = []
    # Outside a clone, the code is installed in a virtual environment of the user, which must not be removed.
    if paths.IS_CLONE:
        folders += [paths.VENV, *paths.ROOT.glob("*.egg-info"), *(paths.ROOT / name for name in _TOOL_CACHES)]
    with (
        held(paths.home() / "setup.lock", "cleaning", lambda text: progress.say("clean", text)),
        held(paths.cache() / "build.lock", "cleaning", lambda text: progress.say("clean", text)),
    ):
        folders.append(binaries.workspace())
        folders += [paths.cache() / name for name in ("binaries", "plugins", "logs")] if shared else []
        for folder in folders:
            if folder.exists():
                progress.say("remove", str(folder))
                shutil.rmtree(folder)


_MONITORING = "Prometheus and Alertmanager in the local region; they take about 500 MB of memory while it runs"
_TOOL_CACHES = (".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".import_linter_cache")


def _description(chosen: Engine) -> str:
    if chosen.vendor:
        return f"{chosen.vendor} {chosen.version}, {chosen.why}"
    return f"pulumi {chosen.version} built from source, with stand-in providers ({chosen.why})"
