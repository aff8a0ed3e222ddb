"""Previewed change as terminal output, and its texts, which pull request comments share."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from components.lookups.effects.effect import Effect
from components.specs.reading.problems import listed
from jacquard.cli.console import plural
from jacquard.cli.views.changes import impact as impact_view
from jacquard.previews.impacts.impact import DISRUPTIVE
from jacquard.previews.impacts.occupancy import utc_text
from jacquard.previews.preview import (
    Field,
    ObjectChange,
    Offence,
    Operation,
    Origin,
    Outcome,
    Preview,
    StackPreview,
    Standing,
    Verdict,
)

COLOURS = {"-": "red", "+": "green", "!": "bold red", "#": "dim"}
"""Style of a diff line by first character."""
MOST_NAMES = 20
"""Number of objects listed by name; further objects are only counted."""
_FEW_NAMES = 3
_MOST_CHARACTERS = 200
_BEFORE = 40
"""Characters of a long value shown before its first difference."""
_WORST_FIRST = tuple(Verdict)
_DESTRUCTIVE = (Operation.DELETE, Operation.REPLACE)
_OUTCOMES = {
    Outcome.SAME_OBJECTS: "skipped, base and head render the same objects",
    Outcome.UNCHANGED: "no changes",
    Outcome.GONE: "stack no longer declared",
}
_COLOURS = {Verdict.BLOCKED: "bold red", Verdict.NEEDS_APPROVAL: "bold yellow", Verdict.UNDECIDED: "bold magenta"}


def worst(previews: Iterable[Preview]) -> Verdict:
    """Return the worst verdict; ``safe`` without previews."""
    return min((preview.verdict for preview in previews), key=_WORST_FIRST.index, default=Verdict.SAFE)


def verdict(preview: Preview) -> Iterator[str]:
    """Yield the blocking reasons, missing approvals and unmet gates of a change, or that there is nothing to apply."""
    yield from (f"blocked: {reason}" for reason in preview.blocked_by)
    if preview.approvals_missing:
        yield f"approval missing: {listed(preview.approvals_missing)}"
    waiting = [stack.stack for stack in preview.stacks if stack.outcome is Outcome.WAITING]
    if waiting:
        yield f"unknown until a gate is met: {listed(waiting)}"
    if all(stack.outcome in (Outcome.SAME_OBJECTS, Outcome.UNCHANGED) for stack in preview.stacks):
        yield "unchanged: nothing to apply"


def losses(preview: Preview) -> Iterator[str]:
    """Yield deleted and replaced objects by name: first from the engine's preview, then others from the impact."""
    known: set[tuple[str, str]] = set()
    for operation in _DESTRUCTIVE:
        objects = [
            (change.kind, name)
            for stack in preview.stacks
            for change in stack.changes
            if change.operation is operation and change.origin is not Origin.DRIFT
            for name in change.names
        ]
        known.update(objects)
        yield from _named(f"{operation}d", objects)
    for outcome in dict.fromkeys(item.outcome for item in preview.impact.lost):
        lost = [(item.kind, item.name) for item in preview.impact.lost if item.outcome == outcome]
        yield from _named(outcome, [item for item in lost if item not in known])


def offences(preview: Preview, *standings: Standing) -> Iterator[str]:
    """Yield the policy violations in one of the ``standings``, such as refused or waived, each with its remedy."""
    for violation in preview.offences:
        if violation.standing in standings:
            more = f" ({plural(len(violation.objects), 'object')})" if len(violation.objects) > 1 else ""
            problem = f"{violation.rule}: {violation.subject}{more}: {violation.found}"
            yield f"{_label(violation)}: {problem}; {_remedy(violation)}"


def _label(offence: Offence) -> str:
    if offence.standing in (Standing.FIXED, Standing.WAIVED):
        return offence.standing
    if offence.binding:
        return f"warning (an error from {offence.binding})"
    return "refused" if offence.refuses else "advice"


def _remedy(offence: Offence) -> str:
    if offence.waiver is None:
        return offence.fix
    left = f"{plural(offence.waiver.days_left, 'day')} left"
    return f"{left}: {offence.waiver.reason} ({offence.waiver.owner}, {offence.waiver.ticket})"


def summed_up(stack: StackPreview) -> str:
    """Return a stack and the outcome of its preview in one line."""
    counts = ", ".join(f"{count} to {operation}" for operation, count in stack.operations.items())
    return f"{stack.stack}: {_OUTCOMES.get(stack.outcome, stack.outcome)}{f', {counts}' if counts else ''}"


def of_stack(stack: StackPreview, *, drift: bool = False) -> Iterator[str]:
    """Yield the object changes of a stack as diff lines: only drift if ``drift``, otherwise only other changes."""
    if not drift:
        yield from (f"! {line}" for line in (stack.reason or "").splitlines())
        yield from (f"! blocked: {change}" for change in stack.held)
        yield from (f"# {note}" for note in stack.notes)
    yield from of_objects(change for change in stack.changes if (change.origin is Origin.DRIFT) is drift)


def of_objects(changes: Iterable[ObjectChange]) -> Iterator[str]:
    """Yield object changes as diff lines."""
    for change in changes:
        yield from _changed(change)


def facts(preview: Preview) -> str:
    """Return a text with the time of the facts that the occupancy is estimated from."""
    if preview.impact.facts_at is None:
        return "no recent facts of the region: occupancy of its nodes is unknown"
    return f"facts of the region collected at {utc_text(preview.impact.facts_at)}"


def disturbs(preview: Preview) -> bool:
    """Return whether a change disrupts running workloads, or may do so."""
    return preview.impact.effect in (*DISRUPTIVE, Effect.UNKNOWN, Effect.REFUSED)


def _named(outcome: str, objects: Sequence[tuple[str, str]]) -> Iterator[str]:
    if objects:
        names = listed([f"{kind.rpartition('/')[2]} {name}" for kind, name in objects], MOST_NAMES)
        yield f"{plural(len(objects), 'object')} {outcome}: {names}"


def _changed(change: ObjectChange) -> Iterator[str]:
    kind, count = change.kind.rpartition("/")[2], len(change.names)
    why = ", declared before this change but not applied yet" if change.origin is Origin.EARLIER else ""
    forced = f", forced by {listed(change.forced_by, _FEW_NAMES)}" if change.forced_by else ""
    same = f"same change on {plural(count, 'object')}: " if count > 1 else ""
    yield f"  {change.operation} {kind} {same}{listed(change.names, _FEW_NAMES)}{forced}{why}"
    for field in change.fields:
        old, new = _values(field)
        yield from () if old is None else (f"- {field.path}: {old}",)
        yield from () if new is None else (f"+ {field.path}: {new}",)


def _values(field: Field) -> tuple[str | None, str | None]:
    """Return both values; long values are cut to the text around their first difference."""
    old, new = field.old, field.new
    if max(len(old or ""), len(new or "")) <= _MOST_CHARACTERS:
        return old, new
    first = next((at for at, (a, b) in enumerate(zip(old or "", new or "", strict=False)) if a != b), 0)
    start = max(0, first - _BEFORE) if old and new else 0
    return _part(old, start), _part(new, start)


def _part(value: str | None, start: int) -> str | None:
    if value is None:
        return None
    end = start + _MOST_CHARACTERS
    return f"{'...' if start else ''}{value[start:end]}{'...' if len(value) > end else ''}"


def lines(preview: Preview) -> Iterator[RenderableType]:
    """Yield the text output: impact on nodes and tenants first, the verdict last."""
    yield from impact_view.lines(preview.impact)
    yield from _titled("deleted or replaced:", losses(preview))
    yield from _titled("policies:", offences(preview, *Standing))
    for stack in preview.stacks:
        yield Text("")
        yield Text(summed_up(stack), "bold")
        for line in (*of_stack(stack), *_drift(of_stack(stack, drift=True))):
            yield Text(f"  {line}", COLOURS.get(line[:1], ""))
    yield Text("")
    yield Text(f"{preview.environment}: {preview.verdict}", _COLOURS.get(preview.verdict, "bold green"))
    for reason in verdict(preview):
        yield Text(f"  {reason}")


def _titled(title: str, items: Iterator[str]) -> Iterator[Text]:
    if texts := list(items):
        yield Text("")
        yield Text(title)
        yield from (Text(f"  {text}") for text in texts)


def _drift(changes: Iterator[str]) -> Iterator[str]:
    if drifted := list(changes):
        yield "drift ('up' does not revert it):"
        yield from drifted
