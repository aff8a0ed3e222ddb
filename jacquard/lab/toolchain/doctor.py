"""Report of the tools in use, their paths and missing parts, for ``jacquard doctor``."""

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from jacquard.lab.toolchain import binaries, checks, engine, families, kind, tools, versions, virtualenv
from jacquard.lab.toolchain.engine import Engine
from jacquard.lab.toolchain.family import Family
from jacquard.lab.toolchain.tools import Tool
from jacquard.machine import paths, settings
from jacquard.machine.disk import existing, free_bytes
from jacquard.machine.errors import ToolchainError


class State(StrEnum):
    """State of an item."""

    OK = "ok"
    MISSING = "missing"
    OLD = "old"
    WRONG = "wrong"


@dataclass(frozen=True, kw_only=True)
class Item:
    """A tool, file or setting that Jacquard uses."""

    name: str
    state: State
    used: str
    """Version or kind of the item in use."""
    where: str
    remedy: str = ""


def _set_up() -> str:
    return f"run `{paths.set_up()}`"


def report() -> list[Item]:
    """Return all items in the order of their use, without changing anything."""
    go = tools.find("go")
    try:
        chosen: Engine | None = engine.choose(fetch=False)
        problem = ""
    except ToolchainError as error:
        chosen, problem = None, str(error)
    # If the setting is invalid, list the families of the default in addition to the problem.
    cluster = "kwok" if settings.CLUSTER in settings.problems() else settings.cluster()
    monitoring = os.environ.get(settings.MONITORING) == settings.Monitoring.ON
    engine_built = chosen is not None and chosen.vendor is None
    needed = families.needed(engine=engine_built, cluster=cluster, monitoring=monitoring)
    missing = binaries.missing(needed, checks.usable(go))
    items = [*_settings(), _python(), _go(go, missing), *map(_tool, tools.wanted()), _disk(missing), _venv()]
    items += _kind() if cluster == kind.KIND else ()
    items += [item for family in needed for item in _family(family)]
    items += [item for family in families.CONTROLLERS for item in _controllers(family)]
    items += (
        _engine(chosen) if chosen else [Item(name="engine", state=State.MISSING, used="", where="", remedy=problem)]
    )
    return [*items, _jacquard_provider(), _cache()]


def _settings() -> Iterator[Item]:
    problems = settings.problems()
    for name, value in sorted(os.environ.items()):
        if name.startswith("JACQUARD_") and value:
            problem = problems.get(name, "")
            state = State.WRONG if problem else State.OK
            yield Item(name=name, state=state, used=value, where="environment", remedy=problem)


def _python() -> Item:
    return Item(name="python", state=State.OK, used=platform.python_version(), where=sys.executable)


def _go(go: Tool | None, missing: Sequence[Family]) -> Item:
    problem = checks.go_problem(go)
    where = str(go.path) if go else ""
    if problem and missing:
        return Item(
            name="go",
            state=State.OLD if go else State.MISSING,
            used=go.known_version if go else "",
            where=where,
            remedy=problem,
        )
    return Item(
        name="go",
        state=State.OK,
        used=go.known_version if go and not problem else "not needed, everything is built",
        where=where,
    )


def _tool(name: str) -> Item:
    tool = tools.find(name)
    if not tool:
        return Item(name=name, state=State.MISSING, used="", where="", remedy=checks.missing_tool(name))
    return Item(name=name, state=State.OK, used=tool.known_version, where=str(tool.path))


def _kind() -> Iterator[Item]:
    for part in kind.parts():
        state = State.OK if not part.problem else State.WRONG if part.where else State.MISSING
        yield Item(name=part.name, state=state, used=part.used, where=part.where, remedy=part.problem)


def _disk(missing: Sequence[Family]) -> Item:
    folder = existing(paths.cache())
    problem = checks.space_problem(missing)
    return Item(
        name="disk",
        state=State.MISSING if problem else State.OK,
        used=f"{checks.size(free_bytes(folder))} free",
        where=str(folder),
        remedy=problem,
    )


def _venv() -> Item:
    done = virtualenv.current() if paths.IS_CLONE else virtualenv.python().exists()
    state = State.OK if done else State.OLD if virtualenv.python().exists() else State.MISSING
    used = f"Python {platform.python_version()}" if state is State.OK else ""
    remedy = "" if state is State.OK else _set_up()
    return Item(name=".venv", state=state, used=used, where=str(paths.VENV), remedy=remedy)


def _family(family: Family) -> Iterator[Item]:
    for binary in family.binaries:
        try:
            where = binaries.path(binary.name)
        except ToolchainError:
            yield Item(name=binary.name, state=State.MISSING, used="", where="", remedy=_set_up())
            continue
        used = f"{binaries.OVERRIDE}, version unchecked" if binaries.overridden(binary.name) else family.version
        yield Item(name=binary.name, state=State.OK, used=used, where=str(where))
    for data in family.data:
        try:
            folder = binaries.data(data.name)
        except ToolchainError:
            yield Item(name=f"{data.name} files", state=State.MISSING, used="", where="", remedy=_set_up())
            continue
        version = versions.of_module(family.folder / "go.mod", data.module)
        yield Item(name=f"{data.name} files", state=State.OK, used=version, where=str(folder))


def _controllers(family: Family) -> Iterator[Item]:
    if binaries.folder(family) or all(binaries.overridden(binary.name) for binary in family.binaries):
        yield from _family(family)
        return
    for binary in family.binaries:
        used = f"simulated; `{paths.set_up_all()}` builds it"
        yield Item(name=binary.name, state=State.OK, used=used, where="")


def _engine(chosen: Engine) -> Iterator[Item]:
    if chosen.vendor:
        used = f"vendor's {chosen.version}"
        yield Item(name="engine", state=State.OK, used=used, where=str(chosen.vendor))
        yield Item(name="language host", state=State.OK, used="vendor's", where=str(chosen.vendor.resolve().parent))
        for provider, folder in chosen.plugins.items():
            used = f"vendor's {versions.of_package(f'pulumi-{provider}')}"
            yield Item(name=f"provider {provider}", state=State.OK, used=used, where=str(folder))
        return
    pulumi = paths.pulumi_bin() / "pulumi"
    yield _laid_out("engine", f"built from source {chosen.version} ({chosen.why})", pulumi)
    yield _laid_out("language host", "stand-in of Jacquard", paths.pulumi_bin() / "pulumi-language-python")
    for provider in engine.PROVIDERS:
        executable = paths.pulumi_home() / "plugins" / engine.plugin(provider) / f"pulumi-resource-{provider}"
        yield _laid_out(f"provider {provider}", "stand-in of Jacquard", executable)


def _jacquard_provider() -> Item:
    return _laid_out("provider jacquard", "part of Jacquard", paths.VENV / "bin" / "pulumi-resource-jacquard")


def _laid_out(name: str, used: str, where: Path) -> Item:
    if where.exists():
        return Item(name=name, state=State.OK, used=used, where=str(where))
    return Item(name=name, state=State.MISSING, used="", where=str(where), remedy=_set_up())


def _cache() -> Item:
    folder = paths.cache()
    nearest = existing(folder)
    problem = ""
    if not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
        problem = f"cache: cannot write to {folder}; {checks.OTHER_FOLDER} JACQUARD_CACHE"
    used = checks.size(checks.folder_bytes(folder))
    return Item(name="cache", state=State.WRONG if problem else State.OK, used=used, where=str(folder), remedy=problem)
