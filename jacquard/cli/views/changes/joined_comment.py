"""Joins the comments of several runs of one command, such as a preview of each region, into one comment."""

import re
from collections.abc import Sequence

from jacquard.cli.views.changes.markdown import LIMIT_BYTES, bounded

_SECTION = re.compile(r"^(?=<details>)", re.MULTILINE)
_LEFT_OUT = "{} omitted (size limit of comments); the files of this run contain all."


def joined(texts: Sequence[str]) -> str:
    """Return one comment of ``texts``, all of which start with the same line.

    If the texts are too long together, their verdicts have priority over their collapsible sections.
    """
    if len(texts) == 1:
        return texts[0]
    mark, bodies = texts[0].partition("\n")[0].rstrip(), [text.partition("\n")[2].rstrip() for text in texts]
    whole = "\n".join([mark, *bodies, ""])
    if len(whole.encode()) <= LIMIT_BYTES:
        return whole
    parts = [_SECTION.split(body) for body in bodies]
    verdicts = [verdict.rstrip() for verdict, *_ in parts]
    sections = [f"\n{section.rstrip()}" for _, *sections in parts for section in sections]
    return bounded([mark], [*verdicts, *sections], _LEFT_OUT)
