"""Marks of values in lines of text: without effect on a terminal, code spans in comments of pull requests."""

from collections.abc import Iterator

from rich.style import Style
from rich.text import Text

VALUE = Style.from_meta({"value": True})
"""Style of a value from data, such as a path or a name."""


def pieces(line: Text) -> Iterator[tuple[str, bool]]:
    """Yield the consecutive pieces of ``line``, and whether each is a value."""
    spans = [span for span in line.spans if isinstance(span.style, Style) and span.style.meta.get("value")]
    done = 0
    for span in spans:
        yield line.plain[done : span.start], False
        yield line.plain[span.start : span.end], True
        done = span.end
    yield line.plain[done:], False
