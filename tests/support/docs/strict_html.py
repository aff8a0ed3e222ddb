"""A strict HTML parser: each element has its end tag, identifiers are unique, and each anchor has a target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "input", "link", "br", "hr", "img"}
_PICTURE = {"rect", "path"}
"""Self-closing elements of SVG."""


@dataclass(slots=True)
class Element:
    """An element of a page."""

    name: str
    attributes: dict[str, str | None]
    children: list[Element | str] = field(default_factory=list)

    def walk(self) -> Iterator[Element]:
        """Yield this element and all its descendants."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    def all(self, name: str, style: str = "") -> list[Element]:
        """Return all elements with a tag name, or with a class."""
        return [
            one for one in self.walk()
            if one.name == name and (not style or style in (one.attributes.get("class") or "").split())
        ]  # fmt: skip

    def by_id(self, identifier: str) -> Element:
        """Return the element with an identifier."""
        [found] = [one for one in self.walk() if one.attributes.get("id") == identifier]
        return found

    @property
    def text(self) -> str:
        """Return the text content, with whitespace normalised."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for child in self.children:
            if isinstance(child, str):
                yield child
            else:
                yield from child._texts()
                yield " " if child.name in {"td", "th", "li", "dt", "dd"} else ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.top = Element("", {})
        self.open = [self.top]
        self.names = list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        keys = [key for key, _ in attrs]
        assert len(keys) == len(set(keys)), f"an attribute twice: {self.get_starttag_text()}"
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _PICTURE, f"only pictures have elements that close themselves: {self.get_starttag_text()}"
        self.open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>, line {self.getpos()[0]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def page(text: str) -> Element:
    """Return the page ``text``, which must be well-formed."""
    assert text.startswith("<!doctype html>\n")
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert len(reader.open) == 1, f"never closed: {[one.name for one in reader.open[1:]]}"
    names = [name for one in reader.top.walk() if (name := one.attributes.get("id"))]
    assert len(names) == len(set(names)), "an identifier twice"
    for one in reader.top.walk():
        link = one.attributes.get("href")
        assert link is None or (link.startswith("#") and link[1:] in names), f"{link} leads nowhere"
    return reader.top
