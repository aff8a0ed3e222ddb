"""Verdict on a change: blocking reasons, missing approvals, unknown effects."""

import hashlib
from collections.abc import Iterator, Sequence

from components.lookups.effects.effect import Effect
from components.lookups.effects.table import PROTECTED
from components.specs.base import Spec
from components.specs.reading.problems import listed
from jacquard.previews.attestations.approvals import missing
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.preview import Offence, Outcome, Preview, StackPreview, Verdict

_MOST = 10
_MOST_CHARACTERS = 300


def judged(impact: Impact, stacks: Sequence[StackPreview], violations: Sequence[Offence]) -> Preview:
    """Return the preview of a change.

    Args:
        impact: impact of the change.
        stacks: engine previews by stack.
        violations: policy violations.
    """
    approvals_missing = [tenant.tenant for tenant in missing(impact)]
    blocked = tuple(_blocks(impact, stacks, violations))
    return Preview(
        environment=impact.environment,
        base=impact.base,
        head=impact.head,
        verdict=_verdict(impact, blocked, approvals_missing),
        blocked_by=blocked,
        approvals_missing=tuple(approvals_missing),
        impact=impact,
        stacks=tuple(stacks),
        offences=tuple(violations),
        digests={"impact": digest(impact), "stacks": digest(*stacks), "policies": digest(*violations)},
    )


def digest(*models: Spec) -> str:
    """Return the SHA-256 of the JSON of models."""
    content = hashlib.sha256()
    for model in models:
        content.update(model.model_dump_json().encode())
    return content.hexdigest()


def _verdict(impact: Impact, blocked: Sequence[str], approvals_missing: Sequence[str]) -> Verdict:
    if blocked:
        return Verdict.BLOCKED
    if approvals_missing:
        return Verdict.NEEDS_APPROVAL
    return Verdict.UNDECIDED if impact.effect is Effect.UNKNOWN else Verdict.SAFE


def _blocks(impact: Impact, stacks: Sequence[StackPreview], violations: Sequence[Offence]) -> Iterator[str]:
    """Yield the reasons that block the change, or prevent its preview."""
    if reason := rejected(impact):
        yield reason
    if protected := [item.name for item in impact.lost if item.outcome == PROTECTED]:
        yield f"protected: {listed(protected, _MOST)}"
    if rules := dict.fromkeys(offence.rule for offence in violations if offence.refuses):
        yield f"refused by {listed(list(rules), _MOST)}"
    for stack in stacks:
        if stack.outcome is Outcome.FAILED:
            yield f"the preview of {stack.stack} failed: {_first_line(stack.reason or '')}"
        if stack.held:
            yield f"{stack.stack} has unconfirmed destructive changes; confirm them with --confirm {stack.accept}"


def rejected(impact: Impact) -> str | None:
    """Return the parts whose change an API server, a webhook or Pulumi would reject, as a sentence; None without any.

    Pulumi deletes no protected object: a part is named there if no API server rejects another change of it.
    """
    by_server: dict[str, None] = {}
    protected: dict[str, None] = {}
    for row in impact.rows:
        if row.effect is Effect.REFUSED:
            is_protected = all(item.path == PROTECTED for item in row.forced_by if item.effect is Effect.REFUSED)
            (protected if row.forced_by and is_protected else by_server)[row.part] = None
    reasons = [f"the API server would reject the change of {listed(by_server, _MOST)}"] if by_server else []
    reasons += [f"Pulumi would not delete protected objects of {listed(protected, _MOST)}"] if protected else []
    return "; ".join(reasons) or None


def _first_line(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}..."
