"""Fixes of ``jacquard check --fix`` as lines and as a diff."""

import difflib
import os
from collections.abc import Iterator

from components.specs.reading.fixes import FixedFile
from components.specs.reading.problems import visible


def fix_lines(item: FixedFile, home: str) -> Iterator[str]:
    """Yield a line for each fix in one file of ``home``."""
    for fix in item.fixes:
        place = _name(item, home) + (f":{fix.line}" if fix.line else "")
        yield visible(f"{place}  {fix.before} -> {fix.after}")


def diff_text(item: FixedFile, home: str) -> Iterator[str]:
    """Yield the lines of a unified diff of one file of ``home``; invisible characters are escaped."""
    name = _name(item, home)
    before, after = item.before.split("\n"), item.after.split("\n")
    for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm=""):
        yield visible(line)


def _name(item: FixedFile, home: str) -> str:
    return os.path.normpath(f"{home}/{item.file}")
