"""Runs the engine for a verb: its progress on the screen, and what a failed run means to a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from jacquard.cli.console import plural, stderr
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.views.progress import Screen
from jacquard.engine.driver import POLICY_PACK, Engine, Run
from jacquard.engine.events import Diagnostic, Violation
from jacquard.engine.failures import causes, unmet_gate


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
    screen: Screen | None = None,
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
        screen: where it is shown; one of its own on standard error unless others run beside it.

    Raises:
        EngineStopped: after Ctrl-C.
        Stop: with REFUSED after a mandatory policy, WAITING at an unmet gate, FAILED otherwise.
    """
    screen = screen or Screen(stderr())
    with screen.phase(title, advice) as shown:
        run = engine.run(
            operation,
            stack,
            *options,
            watch=lambda progress: shown.engine(progress, total, what),
            stopping=tell_stopping,
        )
    raise_for(screen, run, operation, f"jacquard {resume} {stack.partition('.')[0]}")
    return run


def previewed(engine: Engine, stack: str, *options: str, title: str, resume: str, screen: Screen | None = None) -> Run:
    """Preview ``stack``, which is there, under the policies, and say what is warned of; see `watched`.

    Raises:
        Stop: the preview failed.
    """
    screen, options = screen or Screen(stderr()), ("--policy-pack", POLICY_PACK, *options)
    run = watched(engine, "preview", stack, *options, title=title, resume=resume, screen=screen)
    for text in run.progress.warnings:
        show(f"{stack}: {text}", "warning", screen.console)
    return run


def raise_for(screen: Screen, run: Run, verb: str, resume: str) -> None:
    """Show why ``run`` failed, if it did.

    Raises:
        Stop: with REFUSED after a mandatory policy, WAITING at an unmet gate, FAILED otherwise.
    """
    advice = [*_violations(violation for violation in run.progress.violations if not violation.mandatory)]
    if run.code == 0:
        screen.tell(run.stack, advice)
        return
    refused = run.progress.refused
    if refused:
        screen.tell(run.stack, [*advice, *_violations(refused)])
        rules = plural(len({violation.policy for violation in refused}), "mandatory policy", "mandatory policies")
        msg = f"{verb} of {run.stack} is refused by {rules}; change the data as said above and run '{resume}' again"
        raise Stop(msg, ExitCode.REFUSED)
    errors = causes(run.progress.errors)
    awaited = unmet_gate(errors)
    if awaited is not None:
        screen.tell(run.stack, advice)
        raise Stop(awaited, ExitCode.WAITING)
    screen.tell(run.stack, [*advice, *(_error(error) for error in errors)] if errors else [*advice, Text(run.tail)])
    recorded = "" if verb == "preview" else f"; what was done is recorded, '{resume}' goes on from there"
    msg = f"{verb} of {run.stack} failed{recorded} (log: {run.log})"
    raise Stop(msg)


def _error(error: Diagnostic) -> Text:
    place = f"{error.urn}: " if error.urn.text else ""
    return Text.assemble(("error: ", "bold red"), (place, "bold"), error.message)


def _violations(violations: Iterable[Violation]) -> Iterator[Text]:
    """Yield policy violations in lines, mandatory ones as errors."""
    for violation in violations:
        word, style = ("refused", "bold red") if violation.mandatory else ("advice", "bold yellow")
        yield Text.assemble((f"{word}: ", style), (violation.policy, "bold"), f": {violation.urn}")
        yield from (Text(f"  {text}") for text in violation.message.splitlines())


def tell_stopping(console: Console | None = None) -> None:
    """Say what happens now that this command is asked to end."""
    text = "stopping: operations under way are finished and recorded; once more to stop at once"
    show(text, "interrupted", console)
