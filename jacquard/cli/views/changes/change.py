"""What a preview says of a change, in words that the terminal and the comment of a pull request share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from components.lookups.effects.effect import Effect
from components.specs.reading.problems import listed
from jacquard.cli.console import plural
from jacquard.previews.impacts.impact import DISRUPTIVE
from jacquard.previews.impacts.occupancy import told
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
)
from jacquard.previews.preview import Verdict as Words

COLOURS = {"-": "red", "+": "green", "!": "bold red", "#": "dim"}
"""Style of a line of a diff, by how it begins."""
MOST_NAMES = 20
"""Objects that are called by name before they are counted."""
_FEW_NAMES = 3
_MOST_CHARACTERS = 200
_BEFORE = 40
"""Characters of a long value that are shown before what is another in it."""
_WORST_FIRST = tuple(Words)
_LOSING = (Operation.DELETE, Operation.REPLACE)
_OUTCOMES = {
    Outcome.SAME_OBJECTS: "not asked, since base and head render the same",
    Outcome.UNCHANGED: "no changes",
    Outcome.GONE: "no stack any more",
}


def worst(previews: Iterable[Preview]) -> Words:
    """Return the worst verdict."""
    return min((one.verdict for one in previews), key=_WORST_FIRST.index, default=Words.SAFE)


def verdict(preview: Preview) -> Iterator[str]:
    """Yield what blocks a change, what it waits for, and whether there is anything to apply."""
    yield from (f"blocked: {one}" for one in preview.blocked_by)
    if preview.approvals_missing:
        yield f"has to agree: {listed(preview.approvals_missing)}"
    waits = [one.stack for one in preview.stacks if one.outcome is Outcome.WAITING]
    if waits:
        yield f"not known yet, since a gate is not met: {listed(waits)}"
    if all(one.outcome in (Outcome.SAME_OBJECTS, Outcome.UNCHANGED) for one in preview.stacks):
        yield "unchanged: nothing is to be applied"


def losses(preview: Preview) -> Iterator[str]:
    """Yield what goes, or goes and comes anew, by name: as the engine says, and what of the impact it did not say."""
    known: set[tuple[str, str]] = set()
    for operation in _LOSING:
        found = [
            (change.kind, name)
            for stack in preview.stacks
            for change in stack.changes
            if change.operation is operation and change.origin is not Origin.DRIFT
            for name in change.names
        ]
        known.update(found)
        yield from _named(f"{operation}d", found)
    for outcome in dict.fromkeys(one.outcome for one in preview.impact.lost):
        lost = [(one.kind, one.name) for one in preview.impact.lost if one.outcome == outcome]
        yield from _named(outcome, [one for one in lost if one not in known])


def offences(preview: Preview, *standings: Standing) -> Iterator[str]:
    """Yield what policies say of those offences, each with what to do about it."""
    for one in preview.offences:
        if one.standing in standings:
            more = f" ({plural(len(one.objects), 'object')})" if len(one.objects) > 1 else ""
            yield f"{_word(one)}: {one.rule}: {one.subject}{more}: {one.found}; {_remedy(one)}"


def _word(offence: Offence) -> str:
    if offence.standing in (Standing.FIXED, Standing.WAIVED):
        return offence.standing
    return "refused" if offence.refuses else "advice"


def _remedy(offence: Offence) -> str:
    if offence.waiver is None:
        return offence.fix
    left = f"{plural(offence.waiver.days_left, 'day')} left"
    return f"{left}: {offence.waiver.reason} ({offence.waiver.owner}, {offence.waiver.ticket})"


def summed_up(stack: StackPreview) -> str:
    """Return a stack and what came of it in one line."""
    counts = ", ".join(f"{count} to {operation}" for operation, count in stack.operations.items())
    return f"{stack.stack}: {_OUTCOMES.get(stack.outcome, stack.outcome)}{f', {counts}' if counts else ''}"


def of_stack(stack: StackPreview, *, drift: bool = False) -> Iterator[str]:
    """Yield what becomes of the objects of a stack as lines of a diff: by the change, or what drifted."""
    if not drift:
        yield from (f"! {line}" for line in (stack.reason or "").splitlines())
        yield from (f"! held: {one}" for one in stack.held)
        yield from (f"# {one}" for one in stack.notes)
    yield from of_objects(change for change in stack.changes if (change.origin is Origin.DRIFT) is drift)


def of_objects(changes: Iterable[ObjectChange]) -> Iterator[str]:
    """Yield what becomes of objects as lines of a diff."""
    for change in changes:
        yield from _changed(change)


def facts(preview: Preview) -> str:
    """Return how old what is known of the region itself is."""
    if preview.impact.facts_at is None:
        return "no facts of the region were given or young enough: who works on its nodes is unknown"
    return f"facts of the region are of {told(preview.impact.facts_at)}"


def disturbs(preview: Preview) -> bool:
    """Tell whether a change touches anything that runs, or may."""
    return preview.impact.effect in (*DISRUPTIVE, Effect.UNKNOWN, Effect.REFUSED)


def _named(word: str, found: Sequence[tuple[str, str]]) -> Iterator[str]:
    if found:
        names = listed([f"{kind.rpartition('/')[2]} {name}" for kind, name in found], MOST_NAMES)
        yield f"{plural(len(found), 'object')} {word}: {names}"


def _changed(change: ObjectChange) -> Iterator[str]:
    kind, count = change.kind.rpartition("/")[2], len(change.names)
    why = ", declared before this change and not applied yet" if change.origin is Origin.EARLIER else ""
    forced = f", forced by {listed(change.forced_by, _FEW_NAMES)}" if change.forced_by else ""
    same = f"same change on {plural(count, 'object')}: " if count > 1 else ""
    yield f"  {change.operation} {kind} {same}{listed(change.names, _FEW_NAMES)}{forced}{why}"
    for field in change.fields:
        old, new = _values(field)
        yield from () if old is None else (f"- {field.path}: {old}",)
        yield from () if new is None else (f"+ {field.path}: {new}",)


def _values(field: Field) -> tuple[str | None, str | None]:
    """Return both values, of long ones only what is around the first place where they differ."""
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
