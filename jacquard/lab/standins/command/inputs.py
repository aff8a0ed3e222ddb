"""Inputs of ``command:local:Command``: validation and parsing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.providers.rpc.paths import Path
from jacquard.providers.rpc.values import UNKNOWN

INSTALL = "install the vendor's provider: pulumi plugin install resource command v1.2.1"

_LOGGING = {
    "stdout": frozenset({"stdout"}),
    "stderr": frozenset({"stderr"}),
    "stdoutAndStderr": frozenset({"stdout", "stderr"}),
    "none": frozenset[str](),
}
_NOT_DONE = ("assetPaths", "archivePaths")


@dataclass(frozen=True, kw_only=True)
class Command:
    """Validated inputs of one resource. ``repr`` contains no value."""

    create: str | None
    update: str | None
    delete: str | None
    interpreter: tuple[str, ...]
    directory: str | None
    environment: dict[str, str]
    stdin: str
    logged: frozenset[str]
    """Streams (``stdout``, ``stderr``) that are written line by line to the engine's log."""
    previous_output: bool
    """Whether PULUMI_COMMAND_STDOUT and PULUMI_COMMAND_STDERR contain the previous output."""

    def __repr__(self) -> str:
        return "Command(...)"


def command(plain: Mapping[str, Any]) -> Command:
    """Parse inputs without problems and without unknown values."""
    return Command(
        create=plain.get("create"),
        update=plain.get("update"),
        delete=plain.get("delete"),
        interpreter=tuple(plain.get("interpreter") or ("/bin/sh", "-c")),
        directory=plain.get("dir"),
        environment=dict(plain.get("environment") or {}),
        stdin=plain.get("stdin") or "",
        logged=_LOGGING[plain.get("logging") or "stdoutAndStderr"],
        previous_output=plain.get("addPreviousOutputInEnv") is not False,
    )


def problems(plain: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """Return all problems of the inputs, each with the path of the property and a message; unknown values are valid."""
    messages: list[tuple[Path, str]] = []
    for key, value in plain.items():
        rule = _RULES.get(key)
        if key in _NOT_DONE:
            messages.append(((key,), f"this stand-in for pulumi-command does not support {key}; {INSTALL}"))
        elif rule is None:
            messages.append(((key,), f"is not a property of command:local:Command (valid: {', '.join(_RULES)})"))
        elif value is not None and value is not UNKNOWN and not rule[0](value):
            messages.append(((key,), f"must be {rule[1]} (got {type(value).__name__})"))
    return messages


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or value is UNKNOWN


_TEXT: tuple[Callable[[Any], bool], str] = (_is_text, "a string")
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "create": _TEXT,
    "update": _TEXT,
    "delete": _TEXT,
    "dir": _TEXT,
    "stdin": _TEXT,
    "interpreter": (lambda value: isinstance(value, list) and all(map(_is_text, value)), "a list of strings"),
    "environment": (
        lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
        "a map of strings to strings",
    ),
    "triggers": (lambda value: isinstance(value, list), "a list"),
    "logging": (lambda value: isinstance(value, str) and value in _LOGGING, f"one of {', '.join(_LOGGING)}"),
    "addPreviousOutputInEnv": (lambda value: isinstance(value, bool), "true or false"),
}
