"""How a program or a policy pack is started: command line, environment, meaning of the exit code."""

import json
import os
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.standins.language_host.interpreter import Interpreter, InterpreterError

BAIL = 32
"""Exit code of a program that has already told the user what is wrong."""

EXECUTOR = "pulumi-language-python-exec"
"""The script of Pulumi's SDK that runs a program; it is part of the Go module ``sdk/v3``, not of the wheel."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A process to be started."""

    command: tuple[str, ...]
    folder: str
    environment: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Update:
    """What the engine says about the update that a program takes part in."""

    project: str
    stack: str
    organization: str
    pwd: str
    root: str
    entry_point: str
    arguments: tuple[str, ...]
    dry_run: bool
    parallel: int
    monitor: str
    engine: str
    config: Mapping[str, str]
    secret_keys: tuple[str, ...]


def executor(environment: Mapping[str, str], beside: Path) -> Path:
    """Find the SDK's exec script.

    Args:
        environment: JACQUARD_LANGUAGE_EXEC names the script, or a folder with it.
        beside: the language host's own executable; the script normally lies next to it.

    Raises:
        InterpreterError: there is no such script.
    """
    named = environment.get("JACQUARD_LANGUAGE_EXEC")
    script = Path(named) if named else beside.parent / EXECUTOR
    if script.is_dir():
        script /= EXECUTOR
    if not script.is_file():
        message = f"{script} does not exist, so no Pulumi program can be started; make it with `make setup`"
        raise InterpreterError(message)
    return script


def program(update: Update, python: Interpreter, script: Path, environment: Mapping[str, str]) -> Launch:
    """Return how to start a Pulumi program."""
    flags = {
        "--monitor": update.monitor,
        "--engine": update.engine,
        "--project": update.project,
        "--stack": update.stack,
        "--organization": update.organization,
        "--root_directory": update.root,
        "--pwd": update.pwd,
        "--dry_run": "true" if update.dry_run else "",
        "--parallel": str(update.parallel),
    }
    given = [word for flag, value in flags.items() if value for word in (flag, value)]
    variables = python.environment(environment)
    variables["PULUMI_CONFIG"] = json.dumps(dict(update.config))
    variables["PULUMI_CONFIG_SECRET_KEYS"] = json.dumps(list(update.secret_keys))
    command = (str(python.python), "-u", str(script), *given, update.entry_point or ".", *update.arguments)
    return Launch(command=command, folder=update.pwd, environment=variables)


def policy_pack(
    folder: str, arguments: Iterable[str], pwd: str, python: Interpreter, environment: Iterable[str]
) -> Launch:
    """Return how to start a policy pack.

    Args:
        folder: where the pack's PulumiPolicy.yaml lies.
        arguments: what the engine passes, its address included.
        pwd: the working directory that the engine asks for.
        python: the interpreter of the pack.
        environment: ``NAME=value`` entries; of several entries of one name the last one holds.
    """
    variables = dict(entry.partition("=")[::2] for entry in environment)
    command = (str(python.python), "-u", "-m", "pulumi.policy", *arguments, folder)
    return Launch(command=command, folder=pwd or folder, environment=python.environment(variables or os.environ))


def failure(code: int) -> str:
    """Say in words what a program's exit code means; empty for success and for `BAIL`."""
    if code in (0, BAIL):
        return ""
    if code < 0:
        return f"the program was ended by {signal.Signals(-code).name}"
    return f"the program ended with exit code {code}"
