"""Progress of several stacks at once: a picture for each that runs, below how many are through."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from jacquard.cli.errors import tell
from jacquard.cli.views.progress import Phase, Screen

_AWAITED_SHOWN = 1


class Board(Screen):
    """A screen that several runs share; what one says is printed at once and names its stack."""

    def __init__(self, console: Console, total: int, live: Live | None, *, telling: bool) -> None:
        super().__init__(console)
        self._total = total
        self._telling = telling
        self._through = 0
        self._live = live
        self._pictures: dict[str, RenderableType] = {}
        self._lock = threading.Lock()

    @contextmanager
    def phase(self, title: str, advice: str = "") -> Iterator[Phase]:
        """Show a phase among others, which have other titles."""
        if self._live is None:
            self.console.print(f"{title}: begins", soft_wrap=True, markup=False)
            yield Phase(self.console, title, advice, draw=None)
            return
        try:
            yield Phase(
                self.console,
                title,
                advice,
                draw=lambda picture: self._draw({title: picture}),
                awaited_shown=_AWAITED_SHOWN,
            )
        finally:
            self._draw({}, without=title)

    def tell(self, stack: str, lines: Sequence[Text]) -> None:
        """Print what a run on ``stack`` has to say, in one piece."""
        if lines:
            self.console.print(Text("\n").join([Text(f"{stack}:", "bold"), *lines]), soft_wrap=True)

    def ended(self, failure: Exception | None) -> None:
        """Count a stack, and tell at once why the work on it failed where that is wanted."""
        with self._lock:
            self._through += 1
        if failure and self._telling:
            tell(failure, self.console)

    def _draw(self, pictures: dict[str, RenderableType], without: str = "") -> None:
        with self._lock:
            self._pictures |= pictures
            self._pictures.pop(without, None)
            head = Text(f"{self._through} of {self._total} stacks are through", "bold")
            shown = Group(head, *self._pictures.values())
        if self._live:
            self._live.update(shown, refresh=True)


@contextmanager
def board(console: Console, total: int, *, telling: bool) -> Iterator[Board]:
    """Show ``total`` stacks from the begin of the first to the end of the last; ``telling`` why one failed at once."""
    if not console.is_terminal:
        yield Board(console, total, None, telling=telling)
        return
    with Live(Text(), console=console, auto_refresh=False, transient=True) as live:
        yield Board(console, total, live, telling=telling)
