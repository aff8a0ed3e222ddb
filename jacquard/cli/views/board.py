"""Progress of several stacks in parallel: the number of finished stacks, then one line per running stack."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from jacquard.cli.console import output
from jacquard.cli.errors import tell
from jacquard.cli.views.progress import Phase, Screen

_AWAITED_SHOWN = 1


class Board(Screen):
    """A screen shared by parallel runs; each message is printed immediately with the name of its stack."""

    def __init__(self, console: Console, total: int, live: Live | None, *, telling: bool) -> None:
        super().__init__(console)
        self._total = total
        self._telling = telling
        self._finished = 0
        self._live = live
        self._pictures: dict[str, RenderableType] = {}
        self._lock = threading.Lock()

    @contextmanager
    def phase(self, title: str, advice: str = "") -> Iterator[Phase]:
        """Show a phase next to others; titles must be unique."""
        if self._live is None and not output.quiet:
            self.console.print(f"{title}: started", soft_wrap=True, markup=False)
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
        """Print the messages of a run on ``stack`` as one block."""
        if lines:
            self.console.print(Text("\n").join([Text(f"{stack}:", "bold"), *lines]), soft_wrap=True)

    def ended(self, failure: Exception | None) -> None:
        """Count a finished stack; if the board was created with ``telling``, print a failure immediately."""
        with self._lock:
            self._finished += 1
        if failure and self._telling:
            tell(failure, self.console)

    def _draw(self, pictures: dict[str, RenderableType], without: str = "") -> None:
        with self._lock:
            self._pictures |= pictures
            self._pictures.pop(without, None)
            head = Text(f"{self._finished} of {self._total} stacks finished", "bold")
            shown = Group(head, *self._pictures.values())
        if self._live:
            self._live.update(shown, refresh=True)


@contextmanager
def board(console: Console, total: int, *, telling: bool) -> Iterator[Board]:
    """Show the progress of ``total`` stacks; with ``telling``, failures are printed immediately."""
    if output.quiet or not console.is_terminal:
        yield Board(console, total, None, telling=telling)
        return
    with Live(Text(), console=console, auto_refresh=False, transient=True) as live:
        yield Board(console, total, live, telling=telling)
