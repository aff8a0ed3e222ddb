"""Progress output: a live display on a terminal, one line per interval in a log."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TypeAlias

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from components.specs.keys import pool_key
from jacquard.cli.console import output, seconds
from jacquard.engine.events import Progress
from jacquard.observe.region_status import RegionStatus

_AWAITED_SHOWN = 5
_LOG_EVERY_SECONDS = 10.0
_FRAMES_PER_SECOND = 5
_STILL_SECONDS = 60.0


Draw: TypeAlias = Callable[[RenderableType], None]
"""Draws a phase on the terminal."""


class Phase:
    """One phase of the progress output; call `engine` or `region` on each update."""

    def __init__(
        self, console: Console, title: str, advice: str, *, draw: Draw | None, awaited_shown: int = _AWAITED_SHOWN
    ) -> None:
        self._console = console
        self._title = title
        self._draw_picture = draw
        self._advice = advice
        self._awaited_shown = awaited_shown
        self._started = time.monotonic()
        self._drawn = self._started
        self._moved = self._warned = self._started
        self._seen: object = None

    @property
    def duration_seconds(self) -> float:
        """Return the time since the phase started."""
        return time.monotonic() - self._started

    def engine(self, progress: Progress, total: int, what: str) -> None:
        """Show a run of the engine with ``total`` items of kind ``what``; 0 if the total is unknown."""
        now = time.monotonic()
        awaited = [
            (str(item.urn), f"{item.operation}, {seconds(now - item.since)}")
            for item in progress.awaited()[: self._awaited_shown]
        ]
        self._draw(progress.settled, max(total, progress.settled) if total else 0, what, awaited)

    def awaited(self, name: str, reason: str) -> None:
        """Show a phase without a count that waits for ``reason``."""
        self._draw(0, 1, "runs", [(name, reason)])

    def region(self, status: RegionStatus) -> None:
        """Show the readiness of node pools."""
        groups = [group for pool in status.pools for group in pool.groups]
        awaited = [
            (f"{pool_key(pool.cluster, pool.name)} {group.failure_domain}", group.why[0])
            for pool in status.pools
            for group in pool.groups
            if group.why
        ]
        awaited += [("", reason) for reason in status.why] if not awaited else []
        ready, total = sum(group.ready for group in groups), sum(group.total for group in groups)
        self._draw(ready, total, "nodes ready", awaited[: self._awaited_shown])

    def _draw(self, done: int, total: int, what: str, awaited: list[tuple[str, str]]) -> None:
        now = time.monotonic()
        waits = "; ".join(f"{name} ({state})" if name else state for name, state in awaited)
        waits = f"waiting for: {waits}" if waits else ""
        self._warn_if_stalled(now, (done, total, [name for name, _ in awaited]), waits)
        interval = 1 / _FRAMES_PER_SECOND if self._draw_picture else _LOG_EVERY_SECONDS
        if now - self._drawn < interval:
            return
        self._drawn = now
        if self._draw_picture:
            self._draw_picture(_picture(self._title, self.duration_seconds, done, total, what, awaited))
            return
        line = f"{self._title}: {_share(done, total)} {what}, {seconds(self.duration_seconds)}"
        self._console.print(f"{line}, {waits}" if waits else line, soft_wrap=True, markup=False)

    def _warn_if_stalled(self, now: float, seen: object, waits: str) -> None:
        """Warn once a minute, with the cause as far as it is known and the advice, while there is no progress."""
        if seen != self._seen:
            self._seen, self._moved = seen, now
        still = now - max(self._moved, self._warned)
        if self._advice and still >= _STILL_SECONDS:
            self._warned = now
            stalled = f"no progress for {seconds(now - self._moved)}"
            line = f"{self._title}: " + "; ".join(part for part in (stalled, waits, self._advice) if part)
            self._console.print(Text(line, "yellow"), soft_wrap=True)


@contextmanager
def phase(console: Console, title: str, advice: str = "") -> Iterator[Phase]:
    """Show a phase until the block ends; ``advice`` is printed after each minute without progress."""
    if output.quiet:
        yield Phase(console, title, advice, draw=_nothing)
        return
    if not console.is_terminal:
        console.print(f"{title}: started", soft_wrap=True, markup=False)
        yield Phase(console, title, advice, draw=None)
        return
    with Live(Text(title, "bold"), console=console, auto_refresh=False, transient=True) as live:
        yield Phase(console, title, advice, draw=partial(live.update, refresh=True))


class Screen:
    """Screen for sequential runs of the engine."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def phase(self, title: str, advice: str = "") -> AbstractContextManager[Phase]:
        """Show a phase; see `phase`."""
        return phase(self.console, title, advice)

    def tell(self, stack: str, lines: Sequence[Text]) -> None:
        """Print the messages of a run on ``stack``."""
        del stack  # runs are sequential, so the name is not needed
        for line in lines:
            self.console.print(line, soft_wrap=True)

    def ended(self, failure: Exception | None) -> None:
        """Record that a stack is finished; the caller reports its failure."""


def ended(console: Console, title: str, duration_seconds: float, outcome: str) -> None:
    """Print the final line of a phase, unless the output is quiet."""
    if output.quiet:
        return
    line = Text.assemble(("done ", "green"), (title, "bold"), f": {outcome}, {seconds(duration_seconds)}")
    console.print(line, soft_wrap=True)


def _nothing(picture: RenderableType) -> None:
    """Draw nothing, for quiet output; warnings about missing progress are still printed."""
    del picture


def _share(done: int, total: int) -> str:
    return f"{done} of {total}" if total else str(done)


def _picture(
    title: str, duration: float, done: int, total: int, what: str, awaited: list[tuple[str, str]]
) -> RenderableType:
    head = Table.grid(padding=(0, 2, 0, 0))
    bar = ProgressBar(total=total or None, completed=done, width=30)
    head.add_row(Text(title, "bold"), bar, f"{_share(done, total)} {what}", Text(seconds(duration), "dim"))
    if not awaited:
        return head
    rows = Table.grid(padding=(0, 2, 0, 2))
    for name, state in awaited:
        rows.add_row(Text(name, no_wrap=True, overflow="ellipsis"), Text(state, "dim", overflow="ellipsis"))
    return Group(head, rows)
