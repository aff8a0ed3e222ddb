"""Stacks that a change affects, and their engine previews."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.region.state import StackLayout
from components.specs.struct import Struct, replace
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


class StackSides(Struct):
    """Objects of one stack in base and head, limited to components that may differ."""

    stack: str
    base: tuple[Manifest, ...]
    """Objects of the components that differ between base and head; empty if all components are equal."""
    head: tuple[Manifest, ...]
    parts: tuple[Part, ...]
    """All components of the stack in base and head."""
    differs: bool
    """Whether the rendered objects differ between base and head, or the difference is unknown."""
    gone: bool = False
    """Whether the stack does not exist in the head."""

    @property
    def rendered(self) -> str:
        """Return the SHA-256 digest of the objects in ``head``, independent of their order."""
        return digest([[item.cluster, item.body] for item in sorted(self.head, key=lambda manifest: manifest.key)])


def stack_sides(base: Side, head: Side, *, undecided: bool = False) -> Iterator[StackSides]:
    """Yield the stacks of both sides in the order in which they are applied, with removed stacks at the end.

    Args:
        base: region before the change.
        head: region after the change.
        undecided: whether the rendered objects of the base are unknown; then all stacks may differ.
    """
    keys: dict[str, list[Key]] = defaultdict(list)
    for key in dict.fromkeys((*head.parts, *base.parts)):
        keys[_stack_of(head.environment, key)].append(key)
    current = stack_names(head.environment)
    for stack in dict.fromkeys((*current, *keys)):
        differing = [key for key in keys[stack] if undecided or not same(base.parts.get(key), head.parts.get(key))]
        yield StackSides(
            stack=stack,
            base=tuple(item for key in differing if (part := base.parts.get(key)) for item in part.objects()),
            head=tuple(item for key in differing if (part := head.parts.get(key)) for item in part.objects()),
            parts=tuple(part for key in keys[stack] for side in (base, head) if (part := side.parts.get(key))),
            differs=bool(differing),
            gone=stack not in current,
        )


def without_engine(sides: StackSides) -> StackPreview:
    """Return the preview of a stack that the engine does not preview."""
    if not sides.gone:
        return StackPreview(stack=sides.stack, outcome=Outcome.SAME_OBJECTS)
    reason = f"no longer applied; its objects remain until 'pulumi destroy -s {sides.stack}'"
    return StackPreview(stack=sides.stack, outcome=Outcome.GONE, reason=reason)


def failed(sides: StackSides, reason: str) -> StackPreview:
    """Return the preview of a stack whose engine preview could not start."""
    masked = _secrets(sides).mask(reason)
    return StackPreview(stack=sides.stack, outcome=Outcome.FAILED, reason=masked, rendered=sides.rendered)


def by_engine(
    sides: StackSides, answer: Answer, environment: Environment
) -> tuple[StackPreview, tuple[events.Violation, ...]]:
    """Return the engine's preview of a stack and the reported policy violations, for every outcome."""
    progress = answer.run.progress
    steps = tuple(progress.steps.found.values())
    secrets = _secrets(sides, (*steps, *answer.drift))
    outcome, reason = _ended(answer.run)
    held = removals.held(progress.plan, environment)
    notes = [diagnostic.message for diagnostic in progress.diagnostics if diagnostic.severity == _WARNING]
    notes += [answer.note] if answer.note else []
    preview = StackPreview(
        stack=sides.stack,
        outcome=outcome,
        reason=None if reason is None else secrets.mask(reason),
        notes=tuple(dict.fromkeys(map(secrets.mask, notes))),
        operations={operation: progress.changes[operation] for operation in Operation if progress.changes[operation]},
        changes=object_changes(steps, answer.drift, Declared(sides.base, sides.head), secrets),
        held=tuple(secrets.mask(str(one)) for one in held),
        accept=guard.digest(sides.stack, held) if held else None,
        rendered=sides.rendered,
    )
    violations = (replace(item, message=secrets.mask(item.message)) for item in progress.violations)
    return preview, tuple(violations)


def _ended(run: Run) -> tuple[Outcome, str | None]:
    """Return the outcome of a preview, and the reason if it did not succeed."""
    progress = run.progress
    if run.code == 0:
        return (Outcome.CHANGED if progress.steps.found else Outcome.UNCHANGED), None
    if progress.refused:
        return Outcome.REFUSED, f"refused by {', '.join(dict.fromkeys(item.policy for item in progress.refused))}"
    errors = causes(progress.errors)
    if (awaited := unmet_gate(errors)) is not None:
        return Outcome.WAITING, awaited
    messages = [f"{error.urn}: {error.message}" if error.urn.text else error.message for error in errors]
    return Outcome.FAILED, "\n".join(messages) or run.tail or "the engine reported no error"


def _secrets(sides: StackSides, steps: Iterable[Step] = ()) -> Secrets:
    """Return the values of all current, previous and planned Secrets of a stack."""
    bodies = [item.body for part in sides.parts for item in part.objects()]
    return Secrets.of([*bodies, *(body for step in steps for body in (step.there, step.declared))])


def _stack_of(environment: Environment, key: Key) -> str:
    whole = environment.region.stacks is StackLayout.WHOLE
    return environment.name if whole else f"{environment.name}.{key[0]}"
