"""Which stacks a change means, and what the engine said about each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from components.render.manifest import Manifest
from components.specs.base import StackLayout
from components.specs.environment import Environment
from jacquard.engine import events, guard
from jacquard.engine.driver import Run
from jacquard.engine.failures import causes, unmet_gate
from jacquard.engine.steps import Step
from jacquard.previews import removals
from jacquard.previews.attestations.digests import digest
from jacquard.previews.engine_preview import Answer
from jacquard.previews.objects import Declared, object_changes
from jacquard.previews.preview import Operation, Outcome, StackPreview
from jacquard.previews.secrets import Secrets
from jacquard.previews.snapshots import Key, Part, Side, same
from stacks.target import stack_names

_WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSides:
    """The objects of one stack in base and head, as far as they may differ."""

    stack: str
    base: tuple[Manifest, ...]
    """Objects of those components that are not the same in base and head; nothing where all are."""
    head: tuple[Manifest, ...]
    parts: tuple[Part, ...]
    """All its components in base and head."""
    differs: bool
    """Whether base and head render its objects otherwise, or nobody can tell."""
    gone: bool = False
    """Whether the head has no such stack."""

    @property
    def rendered(self) -> str:
        """Return the SHA-256 of what the head renders otherwise than the base."""
        return digest([[item.cluster, item.body] for item in sorted(self.head, key=lambda one: one.key)])


def stack_sides(base: Side, head: Side, *, undecided: bool = False) -> Iterator[StackSides]:
    """Yield the stacks of both sides in the order they are applied, those that the head has no more at the end.

    Args:
        base: the region as it was.
        head: the region as it will be.
        undecided: whether nobody knows what the base rendered, so that all stacks may differ.
    """
    keys: dict[str, list[Key]] = defaultdict(list)
    for key in dict.fromkeys((*head.parts, *base.parts)):
        keys[_stack_of(head.environment, key)].append(key)
    there = stack_names(head.environment)
    for stack in dict.fromkeys((*there, *keys)):
        differing = [key for key in keys[stack] if undecided or not same(base.parts.get(key), head.parts.get(key))]
        yield StackSides(
            stack=stack,
            base=tuple(item for key in differing if (part := base.parts.get(key)) for item in part.objects()),
            head=tuple(item for key in differing if (part := head.parts.get(key)) for item in part.objects()),
            parts=tuple(part for key in keys[stack] for side in (base, head) if (part := side.parts.get(key))),
            differs=bool(differing),
            gone=stack not in there,
        )


def not_asked(sides: StackSides) -> StackPreview:
    """Return what is said of a stack that the engine is not asked about."""
    if not sides.gone:
        return StackPreview(stack=sides.stack, outcome=Outcome.SAME_OBJECTS)
    reason = f"nothing applies it any more; what was applied stays until 'pulumi destroy -s {sides.stack}'"
    return StackPreview(stack=sides.stack, outcome=Outcome.GONE, reason=reason)


def failed(sides: StackSides, reason: str) -> StackPreview:
    """Return what is said of a stack whose preview did not even begin."""
    shown = _secrets(sides).mask(reason)
    return StackPreview(stack=sides.stack, outcome=Outcome.FAILED, reason=shown, rendered=sides.rendered)


def asked(
    sides: StackSides, answer: Answer, environment: Environment
) -> tuple[StackPreview, tuple[events.Violation, ...]]:
    """Return what the engine and policies said about a stack of ``environment``, however that ended."""
    progress = answer.run.progress
    steps = tuple(progress.steps.found.values())
    secrets = _secrets(sides, (*steps, *answer.drift))
    outcome, reason = _ended(answer.run)
    held = removals.held(progress.plan, environment)
    notes = [said.message for said in progress.diagnostics if said.severity == _WARNING]
    notes += [answer.note] if answer.note else []
    found = StackPreview(
        stack=sides.stack,
        outcome=outcome,
        reason=None if reason is None else secrets.mask(reason),
        notes=tuple(dict.fromkeys(map(secrets.mask, notes))),
        operations={one: progress.changes[one] for one in Operation if progress.changes[one]},
        changes=object_changes(steps, answer.drift, Declared(sides.base, sides.head), secrets),
        held=tuple(secrets.mask(str(one)) for one in held),
        accept=guard.digest(sides.stack, held) if held else None,
        rendered=sides.rendered,
    )
    return found, tuple(replace(one, message=secrets.mask(one.message)) for one in progress.violations)


def _ended(run: Run) -> tuple[Outcome, str | None]:
    """Return how a preview ended, and why if not well."""
    progress = run.progress
    if run.code == 0:
        return (Outcome.CHANGED if progress.steps.found else Outcome.UNCHANGED), None
    if progress.refused:
        return Outcome.REFUSED, f"refused by {', '.join(dict.fromkeys(one.policy for one in progress.refused))}"
    errors = causes(progress.errors)
    if (awaited := unmet_gate(errors)) is not None:
        return Outcome.WAITING, awaited
    told = [f"{error.urn}: {error.message}" if error.urn.text else error.message for error in errors]
    return Outcome.FAILED, "\n".join(told) or run.tail or "the engine said nothing"


def _secrets(sides: StackSides, steps: Iterable[Step] = ()) -> Secrets:
    """Return what must not be told of a stack: what is in the Secrets that it has, had, or would have."""
    bodies = [item.body for part in sides.parts for item in part.objects()]
    return Secrets.of([*bodies, *(body for step in steps for body in (step.there, step.declared))])


def _stack_of(environment: Environment, key: Key) -> str:
    whole = environment.region.stacks is StackLayout.WHOLE
    return environment.name if whole else f"{environment.name}.{key[0]}"
