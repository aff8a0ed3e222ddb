"""A console that hides secrets and wraps lines at words; apart from `console`, because rich takes time to load."""

import re
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from components.specs.secret_text import masked_forms

_HANGING = 2
"""Additional indentation of the lines that continue a wrapped line."""
_WORD = re.compile(r"\S+\s*")


def safe(item: Any) -> Any:
    """Return a text, plain or styled, without secrets; a text with a secret loses its inner styles."""
    if isinstance(item, Text):
        plain = masked_forms(item.plain)
        return item if plain == item.plain else Text(plain, item.style)
    return masked_forms(item) if isinstance(item, str) else item


class WrappingConsole(Console):
    """Console that wraps text printed with ``soft_wrap`` at words on a terminal, and nowhere in pipes and files."""

    def print(self, *objects: Any, soft_wrap: bool | None = None, **options: Any) -> None:
        """Print ``objects`` without secrets; words that are longer than a line, such as paths, stay whole."""
        objects = tuple(map(safe, objects))
        if soft_wrap and self.file.isatty():
            markup = options.get("markup")
            texts = (self.render_str(item, markup=markup) if isinstance(item, str) else item for item in objects)
            objects = tuple(self._wrapped(item) if isinstance(item, Text) else item for item in texts)
            soft_wrap = all(isinstance(item, Text) for item in objects)  # Tables fold their cells.
        super().print(*objects, soft_wrap=soft_wrap, **options)

    def _wrapped(self, text: Text) -> Text:
        return Text("\n").join(part for line in text.split("\n", allow_blank=True) for part in self._parts(line))

    def _parts(self, line: Text) -> list[Text]:
        """Return a line in parts that fit the terminal, with the indentation of the line."""
        indent = len(line.plain) - len(line.plain.lstrip(" "))
        if line.cell_len <= self.width:
            return [line]
        first, *others = _divided(line[indent:], self.width - indent - _HANGING)
        hanging = " " * (indent + _HANGING)
        return [Text(" " * indent).append_text(first), *(Text(hanging).append_text(part) for part in others)]


def _divided(text: Text, width: int) -> list[Text]:
    """Return ``text`` in parts of whole words; a part is wider than ``width`` only if it is a single word."""
    starts = [0]
    for word in _WORD.finditer(text.plain):
        if word.start() > starts[-1] and cell_len(text.plain[starts[-1] : word.end()].rstrip()) > width:
            starts.append(word.start())
    parts = text.divide(starts[1:])
    for part in parts:
        part.rstrip()
    return list(parts)
