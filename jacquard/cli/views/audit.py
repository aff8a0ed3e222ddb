"""Text output of ``jacquard audit``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jacquard.cli.console import plural
from jacquard.cli.views.results.places import path
from policies.results import Result

if TYPE_CHECKING:
    from jacquard.audits.audit import Audit
    from jacquard.audits.history import Replayed


def lines(audit: Audit) -> Iterator[str]:
    """Yield the result of an audit: blocking violations in full, all others as one line each."""
    refused = [result for result in audit.results if result.blocks]
    parts = [plural(len(refused), "policy violation") if refused else "ok"]
    parts.append(f"{plural(sum(audit.stacks.values()), 'recorded object')} in {plural(len(audit.stacks), 'stack')}")
    parts += [] if audit.live is None else [plural(audit.live, "live object")]
    parts += [] if audit.nodes is None else [plural(audit.nodes, "node")]
    parts += [f"{count} waived"] if (count := sum(result.waiver is not None for result in audit.results)) else []
    yield f"{audit.environment}: {', '.join(parts)}"
    for result in refused:
        yield from (f"  {line}" for line in _block(result))
    alike = Counter((_word(result), result.rule, result.source.value) for result in audit.results if not result.blocks)
    firsts = {(_word(result), result.rule, result.source.value): result for result in reversed(audit.results)}
    for kind, count in alike.items():
        word, rule, source = kind
        yield f"  {word}: {rule}: {plural(count, 'object')} in {source}, such as {firsts[kind].subject}"
    yield from (f"  never applied: {stack}" for stack in audit.missing)
    yield from (f"  not read: {text}" for text in audit.unread)


def _word(result: Result) -> str:
    return "waived" if result.waiver else "advice"


def _block(result: Result) -> list[str]:
    """Return the lines of a violation, with its source after the first line."""
    first, *rest = result.text.splitlines()
    return [first, f"  in:      {result.source}, from {path(result)}:{result.line}", *rest]


def history_lines(name: str, changes: Sequence[Replayed]) -> Iterator[str]:
    """Yield the past changes of an environment that the current rules would have stopped, and a summary."""
    stopped = [change for change in changes if change.stopped]
    unreadable = [change for change in changes if change.unreadable]
    for change in changes:
        head = f"{change.commit} {change.at:%Y-%m-%d} {change.subject}"
        if change.stopped:
            yield head
            yield from (f"  {rule}: {text}" for rule, text in _rules(change.stopped))
        elif change.unreadable:
            yield f"{head}\n  not judged: this version cannot read the data: {change.unreadable}"
    parts = [f"{len(stopped)} would have been stopped"]
    parts += [f"{len(unreadable)} not judged"] if unreadable else []
    yield f"{name}: {plural(len(changes), 'change')}, {', '.join(parts)}"


def _rules(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Yield each rule with its first violation, and the number of further ones."""
    for rule, count in Counter(result.rule for result in results).items():
        first = next(result for result in results if result.rule == rule)
        yield rule, f"{first.file}:{first.line} {first.summary}{f' and {count - 1} more' if count > 1 else ''}"
