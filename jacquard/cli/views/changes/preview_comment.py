"""What a preview says, as the Markdown of a comment: the verdict first, bounded, and inert whatever names say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jacquard.cli.views.changes import change as view
from jacquard.cli.views.changes import impact as impact_view
from jacquard.cli.views.changes import impact_comment
from jacquard.cli.views.changes.markdown import bounded, bullets, code, cut, fenced, fold
from jacquard.previews.preview import Outcome, Preview, Standing, Verdict

MARK = "<!-- jacquard preview -->"
"""Begins each comment, so that the next run finds it and writes over it."""
_LEFT_OUT = "{} left out, since a comment has its limit: `preview.json` of this run tells all."

_DIGEST = 16
"""Characters of a digest that tell it from any other."""


def comment(previews: Sequence[Preview]) -> str:
    """Return the comment: the verdict on each environment, then what matters most of all of them."""
    head = [MARK, f"### {_headline(previews)}", ""]
    for one in previews:
        head += [f"**{code(one.environment)}** {code(one.base)} to {code(one.head)}", ""]
        head += [bullets([*view.verdict(one), *impact_view.verdict(one.impact)]), ""]
    sections = [section for kind in (_first, _stacks, _last) for one in previews for section in kind(one)]
    return bounded(head, sections, _LEFT_OUT, foot=[line for one in previews for line in _foot(one)])


def _headline(previews: Sequence[Preview]) -> str:
    match view.worst(previews):
        case Verdict.BLOCKED:
            return "Blocked"
        case Verdict.NEEDS_APPROVAL:
            tenants = dict.fromkeys(tenant for one in previews for tenant in one.approvals_missing)
            return f"Needs approval of {', '.join(map(code, tenants))}"
        case Verdict.UNDECIDED:
            return "Undecided: nobody can tell what this does to something"
        case Verdict.SAFE:
            quiet = not any(map(view.disturbs, previews))
            return "Safe: nothing that runs is disturbed" if quiet else "Safe to apply: nothing speaks against it"


def _first(preview: Preview) -> Iterator[str]:
    """Yield what a change touches, what goes, and what policies say: what nobody should have to click for."""
    yield from impact_comment.overview(preview.impact)
    yield from _list("Goes, or is made anew:", view.losses(preview))
    yield from _list("Policies:", view.offences(preview, Standing.NEW, Standing.TOLD))
    yield from _list("Waived:", view.offences(preview, Standing.WAIVED))


def _stacks(preview: Preview) -> Iterator[str]:
    """Yield a fold for each stack that the engine was asked about, and a line for the others."""
    for stack in preview.stacks:
        if lines := list(view.of_stack(stack)):
            yield fold(view.summed_up(stack), fenced(cut(lines), "diff"))
    quiet = [stack.stack for stack in preview.stacks if stack.outcome is Outcome.SAME_OBJECTS]
    still = [stack.stack for stack in preview.stacks if stack.outcome is Outcome.UNCHANGED]
    yield from _list("Not asked, since base and head render the same:", [", ".join(quiet)] if quiet else [])
    yield from _list("Asked, and nothing is to be applied:", [", ".join(still)] if still else [])


def _last(preview: Preview) -> Iterator[str]:
    """Yield why each part is touched, what was wrong before, and what somebody changed in clusters."""
    yield from impact_comment.reasons(preview.impact)
    before = list(view.offences(preview, Standing.EXISTING, Standing.FIXED))
    if before:
        yield fold(f"{preview.environment}: policies before this change", bullets(cut(before)))
    drift = [line for stack in preview.stacks for line in view.of_stack(stack, drift=True)]
    if drift:
        yield fold(f"{preview.environment}: drift, which 'up' does not put back", fenced(cut(drift), "diff"))


def _foot(preview: Preview) -> Iterator[str]:
    digests = ", ".join(f"{name} {digest[:_DIGEST]}" for name, digest in preview.digests.items())
    yield f"\n{code(preview.environment)}: {code(view.facts(preview))}; {code(digests)}"


def _list(title: str, lines: Iterable[str]) -> Iterator[str]:
    if told := list(lines):
        yield "\n".join(["", title, "", bullets(cut(told))])
