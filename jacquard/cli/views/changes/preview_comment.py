"""Preview as Markdown for a comment: the verdict first, bounded, and safe for any names in the data."""

from collections.abc import Iterable, Iterator, Sequence

from jacquard.cli.views.changes import change as view
from jacquard.cli.views.changes import impact_comment, impact_verdict
from jacquard.cli.views.changes.markdown import bounded, bullets, code, cut, fenced, fold
from jacquard.previews.preview import Outcome, Preview, Standing, Verdict

MARK = "<!-- jacquard preview -->"
"""First line of each comment; the next run finds and overwrites the comment with this line."""
_LEFT_OUT = "{} omitted (size limit of comments); `preview.json` of this run contains all."

_DIGEST = 16
"""Characters shown of a digest."""


def comment(previews: Sequence[Preview]) -> str:
    """Return the comment: the verdict on each environment, then all details, the most important first."""
    head = [MARK, f"### {_headline(previews)}", ""]
    for preview in previews:
        head += [f"**{code(preview.environment)}** {code(preview.base)} to {code(preview.head)}", ""]
        head += [bullets([*view.verdict(preview), *impact_verdict.verdict(preview.impact)]), ""]
    sections = [section for kind in (_first, _stacks, _last) for preview in previews for section in kind(preview)]
    return bounded(head, sections, _LEFT_OUT, foot=[line for preview in previews for line in _foot(preview)])


def _headline(previews: Sequence[Preview]) -> str:
    match view.worst(previews):
        case Verdict.BLOCKED:
            return "Blocked"
        case Verdict.NEEDS_APPROVAL:
            tenants = dict.fromkeys(tenant for preview in previews for tenant in preview.approvals_missing)
            return f"Approval required from {', '.join(map(code, tenants))}"
        case Verdict.UNDECIDED:
            return "Undecided: some effects are unknown"
        case Verdict.SAFE:
            quiet = not any(map(view.disturbs, previews))
            return "Safe: no running workload is disrupted" if quiet else "Safe to apply: all checks passed"


def _first(preview: Preview) -> Iterator[str]:
    """Yield affected parts, deletions and policy violations, which are shown outside collapsible sections."""
    yield from impact_comment.overview(preview.impact)
    yield from _list("Deleted or replaced:", view.losses(preview))
    yield from _list("Policies:", view.offences(preview, Standing.NEW, Standing.TOLD))
    yield from _list("Waived:", view.offences(preview, Standing.WAIVED))


def _stacks(preview: Preview) -> Iterator[str]:
    """Yield a collapsible section for each previewed stack with changes, and lines with the other stacks."""
    for stack in preview.stacks:
        if lines := list(view.of_stack(stack)):
            yield fold(view.summed_up(stack), fenced(cut(lines), "diff"))
    skipped = [stack.stack for stack in preview.stacks if stack.outcome is Outcome.SAME_OBJECTS]
    unchanged = [stack.stack for stack in preview.stacks if stack.outcome is Outcome.UNCHANGED]
    yield from _list("Skipped, base and head render the same objects:", [", ".join(skipped)] if skipped else [])
    yield from _list("Previewed, nothing to apply:", [", ".join(unchanged)] if unchanged else [])


def _last(preview: Preview) -> Iterator[str]:
    """Yield the reasons of each part, policy violations of the base, and drift."""
    yield from impact_comment.reasons(preview.impact)
    before = list(view.offences(preview, Standing.EXISTING, Standing.FIXED))
    if before:
        yield fold(f"{preview.environment}: policy violations of the base", bullets(cut(before)))
    drift = [line for stack in preview.stacks for line in view.of_stack(stack, drift=True)]
    if drift:
        yield fold(f"{preview.environment}: drift ('up' does not revert it)", fenced(cut(drift), "diff"))


def _foot(preview: Preview) -> Iterator[str]:
    digests = ", ".join(f"{name} {digest[:_DIGEST]}" for name, digest in preview.digests.items())
    yield f"\n{code(preview.environment)}: {code(view.facts(preview))}; {code(digests)}"


def _list(title: str, lines: Iterable[str]) -> Iterator[str]:
    if items := list(lines):
        yield "\n".join(["", title, "", bullets(cut(items))])
