"""Runs the engine for a verb: its progress on the screen, and what a failed run means to a person."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from cli.console import plural, stderr
from cli.errors import ExitCode, Stop, show
from cli.views.progress import phase
from engine.driver import POLICY_PACK, Engine, Run
from engine.events import Violation
from engine.failures import causes, unmet_gate


def watched(
    engine: Engine,
    operation: str,
    stack: str,
    *options: str,
    title: str,
    resume: str,
    total: int = 0,
    what: str = "resources",
    advice: str = "",
) -> Run:
    """Run ``pulumi OPERATION`` on ``stack`` and show how far it is.

    Args:
        engine: what runs it.
        operation: a verb of pulumi.
        stack: its name, which begins with the environment's.
        options: of pulumi.
        title: what the phase is called on the screen.
        resume: the verb of this command that goes on from there.
        total: how many things there are to see to; 0 when nobody knows.
        what: those things.
        advice: what to do when nothing moves for a minute.

    Raises:
        EngineStopped: after Ctrl-C.
        Stop: with REFUSED after a mandatory policy, WAITING at an unmet gate, FAILED otherwise.
    """
    console = stderr()
    with phase(console, title, advice) as shown:
        run = engine.run(
            operation,
            stack,
            *options,
            watch=lambda progress: shown.engine(progress, total, what),
            stopping=_tell_stopping,
        )
    raise_for(console, run, operation, f"jacquard {resume} {stack.partition('.')[0]}")
    return run


def previewed(engine: Engine, stack: str, *options: str, title: str, resume: str) -> Run:
    """Preview ``stack``, which is there, under the policies, and say what is warned of; see `watched`.

    Raises:
        Stop: the preview failed.
    """
    run = watched(engine, "preview", stack, "--policy-pack", POLICY_PACK, *options, title=title, resume=resume)
    for text in run.progress.warnings:
        show(f"{stack}: {text}", "warning")
    return run


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
    awaited = unmet_gate(errors)
    if awaited is not None:
        raise Stop(awaited, ExitCode.WAITING)
    for error in errors:
        place = f"{error.urn}: " if error.urn.text else ""
        console.print(Text.assemble(("error: ", "bold red"), (place, "bold"), error.message), soft_wrap=True)
    if not errors:
        console.print(Text(run.tail), soft_wrap=True)
    recorded = "" if verb == "preview" else f"; what was done is recorded, '{resume}' goes on from there"
    msg = f"{verb} of {run.stack} failed{recorded} (log: {run.log})"
    raise Stop(msg)


def show_violations(console: Console, violations: Iterable[Violation]) -> None:
    """Print policy violations, mandatory ones as errors."""
    for violation in violations:
        word, style = ("refused", "bold red") if violation.mandatory else ("advice", "bold yellow")
        line = Text.assemble((f"{word}: ", style), (violation.policy, "bold"), f": {violation.urn}")
        console.print(line, soft_wrap=True)
        for text in violation.message.splitlines():
            console.print(Text(f"  {text}"), soft_wrap=True)


def _tell_stopping() -> None:
    show("stopping: operations under way are finished and recorded; once more to stop at once", "interrupted")
