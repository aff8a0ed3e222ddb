"""What a failed run of the engine means to a person, and which exit code it has."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from cli.console import plural
from cli.engine import Run
from cli.errors import ExitCode, Stop
from cli.events import Diagnostic, Violation

_WAITING = "waiting: "
_ECHOES = (
    "update failed",
    "preview failed",
    "destroy failed",
    "resource operation failed",
    "an unhandled error occurred: the program ended with exit code",
)
"""How messages begin that say only that something failed; why is said by another one."""


def raise_for(console: Console, run: Run, verb: str, resume: str) -> None:
    """Show why ``run`` failed, if it did.

    Raises:
        Stop: with REFUSED after a mandatory policy, WAITING at an unmet gate, FAILED otherwise.
    """
    show_violations(console, [violation for violation in run.progress.violations if not violation.mandatory])
    if run.code == 0:
        return
    refused = run.progress.refused
    if refused:
        show_violations(console, refused)
        rules = plural(len({violation.policy for violation in refused}), "mandatory policy", "mandatory policies")
        msg = f"{verb} of {run.stack} is refused by {rules}; change the data as said above and run '{resume}' again"
        raise Stop(msg, ExitCode.REFUSED)
    errors = causes(run.progress.errors)
    for error in errors:
        if error.message.startswith(_WAITING):
            raise Stop(error.message.removeprefix(_WAITING), ExitCode.WAITING)
    for error in errors:
        place = f"{error.urn}: " if error.urn.text else ""
        console.print(Text.assemble(("error: ", "bold red"), (place, "bold"), error.message), soft_wrap=True)
    if not errors:
        console.print(Text(run.tail), soft_wrap=True)
    recorded = "" if verb == "preview" else f"; what was done is recorded, '{resume}' goes on from there"
    msg = f"{verb} of {run.stack} failed{recorded} (log: {run.log})"
    raise Stop(msg)


def causes(errors: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the errors that say why, each once; those that only say that something failed are left out."""
    unique = {(error.urn.text, error.message): error for error in errors}
    telling = [error for error in unique.values() if not error.message.startswith(_ECHOES)]
    return telling or list(unique.values())


def show_violations(console: Console, violations: Iterable[Violation]) -> None:
    """Print policy violations, mandatory ones as errors."""
    for violation in violations:
        word, style = ("refused", "bold red") if violation.mandatory else ("advice", "bold yellow")
        line = Text.assemble((f"{word}: ", style), (violation.policy, "bold"), f": {violation.urn}")
        console.print(line, soft_wrap=True)
        for text in violation.message.splitlines():
            console.print(Text(f"  {text}"), soft_wrap=True)
