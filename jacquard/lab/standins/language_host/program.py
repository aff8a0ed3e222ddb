"""Command lines, environment variables and exit codes of programs and policy packs."""

import json
import os
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.standins.language_host.interpreter import Interpreter, InterpreterError

BAIL = 32
"""Exit code of a program that has already reported its error."""

EXECUTOR = "pulumi-language-python-exec"
"""Script of the Pulumi SDK that runs a program; it is part of the Go module ``sdk/v3``, not of the wheel."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """Command line, working directory and environment of a process."""

    command: tuple[str, ...]
    folder: str
    environment: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Update:
    """Parameters of the engine's update for which a program runs."""

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
    """Return the path of the SDK's exec script.

    Args:
        environment: environment variables; JACQUARD_LANGUAGE_EXEC is the script or its folder.
        beside: the executable of the language host; by default, the script is in the same folder.

    Raises:
        InterpreterError: the script does not exist.
    """
    override = environment.get("JACQUARD_LANGUAGE_EXEC")
    script = Path(override) if override else beside.parent / EXECUTOR
    if script.is_dir():
        script /= EXECUTOR
    if not script.is_file():
        message = f"{script} does not exist, and Pulumi programs require it; create it with `make setup`"
        raise InterpreterError(message)
    return script


def program(update: Update, python: Interpreter, script: Path, environment: Mapping[str, str]) -> Launch:
    """Return the launch parameters of a Pulumi program."""
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
    options = [text for flag, value in flags.items() if value for text in (flag, value)]
    variables = python.environment(environment)
    variables["PULUMI_CONFIG"] = json.dumps(dict(update.config))
    variables["PULUMI_CONFIG_SECRET_KEYS"] = json.dumps(list(update.secret_keys))
    command = (str(python.python), "-u", str(script), *options, update.entry_point or ".", *update.arguments)
    return Launch(command=command, folder=update.pwd, environment=variables)


def policy_pack(
    folder: str, arguments: Iterable[str], pwd: str, python: Interpreter, environment: Iterable[str]
) -> Launch:
    """Return the launch parameters of a policy pack.

    Args:
        folder: folder of the pack's PulumiPolicy.yaml.
        arguments: arguments from the engine, including its address.
        pwd: working directory requested by the engine.
        python: interpreter of the pack.
        environment: ``NAME=value`` entries; the last entry of a name applies.
    """
    variables = dict(entry.partition("=")[::2] for entry in environment)
    command = (str(python.python), "-u", "-m", "pulumi.policy", *arguments, folder)
    return Launch(command=command, folder=pwd or folder, environment=python.environment(variables or os.environ))


def failure(code: int) -> str:
    """Return the message for an exit code; empty for success and for `BAIL`."""
    if code in (0, BAIL):
        return ""
    if code < 0:
        return f"the program was terminated by {signal.Signals(-code).name}"
    return f"the program ended with exit code {code}"
