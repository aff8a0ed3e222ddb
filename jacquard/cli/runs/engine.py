"""Engine runs of verbs: progress on the screen, and messages for failed runs."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from jacquard.cli.console import plural, stderr
from jacquard.cli.errors import ExitCode, Refusal, Stop, show
from jacquard.cli.views.progress import Screen
from jacquard.engine import locks
from jacquard.engine.driver import Engine, Run
from jacquard.engine.events import Diagnostic, Violation
from jacquard.engine.failures import causes, unmet_gate
from jacquard.machine import paths
from jacquard.previews.results import of_engine


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
    """Run ``pulumi OPERATION`` on ``stack`` and show its progress.

    Args:
        engine: runs the operation.
        operation: pulumi command.
        stack: name of the stack, which starts with the name of the environment.
        options: options of the pulumi command.
        title: name of the phase on the screen.
        resume: jacquard verb that continues after a failure.
        total: expected number of items; 0 if unknown.
        what: plural noun of the items.
        advice: text that is shown after a minute without progress.
        screen: shows the progress; required if several runs are in parallel. Default: a new one on standard error.

    Raises:
        EngineStopped: after Ctrl-C.
        Refusal: after a mandatory policy.
        Stop: with WAITING at an unmet gate, FAILED otherwise.
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
    """Preview an existing ``stack`` with the policies, and print the warnings; see `watched`.

    Raises:
        Stop: the preview failed.
    """
    screen, options = screen or Screen(stderr()), ("--policy-pack", paths.policy_pack(), *options)
    run = watched(engine, "preview", stack, *options, title=title, resume=resume, screen=screen)
    for text in run.progress.warnings:
        show(f"{stack}: {text}", "warning", screen.console)
    return run


def raise_for(screen: Screen, run: Run, verb: str, resume: str) -> None:
    """Show the causes if ``run`` failed.

    Raises:
        Refusal: after a mandatory policy.
        Stop: with WAITING at an unmet gate, FAILED otherwise.
    """
    advice = [*_violations(violation for violation in run.progress.violations if not violation.mandatory)]
    if run.code == 0:
        screen.tell(run.stack, advice)
        return
    refused = run.progress.refused
    if refused:
        screen.tell(run.stack, [*advice, *_violations(refused)])
        rules = plural(len({violation.policy for violation in refused}), "mandatory policy", "mandatory policies")
        msg = f"{verb} of {run.stack} is refused by {rules}; change the data as shown above and run '{resume}' again"
        raise Refusal(msg, of_engine(run.stack.partition(".")[0], run.progress.violations))
    errors = causes(run.progress.errors)
    awaited = unmet_gate(errors)
    if awaited is not None:
        screen.tell(run.stack, advice)
        raise Stop(awaited, ExitCode.WAITING)
    holder = locks.reported(run.stack, run.tail)
    if holder is not None:
        screen.tell(run.stack, advice)
        msg = f"{holder}; '{resume}' continues from there"
        raise Stop(msg)
    screen.tell(run.stack, [*advice, *(_error(error) for error in errors)] if errors else [*advice, Text(run.tail)])
    if run.progress.unrecorded:
        recorded = f"; the state could not be written: remove the cause, then run '{resume}', which adopts objects that"
        recorded += " the state lacks"
    else:
        recorded = "" if verb == "preview" else f"; completed operations are recorded, '{resume}' continues from there"
    msg = f"{verb} of {run.stack} failed{recorded} (log: {run.log})"
    raise Stop(msg)


def _error(error: Diagnostic) -> Text:
    place = f"{error.urn}: " if error.urn.text else ""
    return Text.assemble(("error: ", "bold red"), (place, "bold"), error.message)


def _violations(violations: Iterable[Violation]) -> Iterator[Text]:
    """Yield the lines of policy violations; mandatory ones are shown as errors."""
    for violation in violations:
        word, style = ("refused", "bold red") if violation.mandatory else ("advice", "bold yellow")
        yield Text.assemble((f"{word}: ", style), (violation.policy, "bold"), f": {violation.urn}")
        yield from (Text(f"  {text}") for text in violation.message.splitlines())


def tell_stopping(console: Console | None = None) -> None:
    """Print a note that the command stops after the current operations."""
    text = "stopping after the current operations, which are recorded; press Ctrl-C again to stop immediately"
    show(text, "interrupted", console)
