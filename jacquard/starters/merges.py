"""Three-way merges of a user's edits with the edits between two versions of the library."""

import subprocess
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from components.specs.struct import Struct


class Outcome(StrEnum):
    """Result for one file."""

    CURRENT = "current"
    """The file remains as it is: the library did not change it, or it has the new text."""
    ADDED = "added"
    """The new version has a further file."""
    UPDATED = "updated"
    """The unedited file has the new text."""
    MERGED = "merged"
    """The file has the edits of the user and of the library."""
    CONFLICT = "conflict"
    """Both edited the same lines; the file contains both, between conflict markers."""
    REMOVED = "removed"
    """The new version does not have the unedited file."""
    KEPT = "kept"
    """The new version does not have the file, which the user edited."""
    LEFT_OUT = "left out"
    """The user removed the file, which the library changed."""
    UNMERGED = "unmerged"
    """The unedited text is unknown, so that the file remains as it is."""


class Merge(Struct):
    """Merge of one file."""

    path: str
    outcome: Outcome
    text: str | None
    """Text of the file after the upgrade; None if there is no file."""


class Labels(Struct):
    """Names of the two sides and of their base in conflict markers."""

    ours: str
    base: str
    theirs: str


def merged(
    base: Mapping[str, str], ours: Mapping[str, str], theirs: Mapping[str, str], labels: Labels
) -> tuple[Merge, ...]:
    """Return the merge of each file, by path.

    Args:
        base: unedited texts that an older version wrote.
        ours: current texts, with the user's edits.
        theirs: texts of the new version.
        labels: names of the three in conflict markers.
    """
    paths = sorted({*base, *theirs})
    return tuple(_merge(path, base.get(path), ours.get(path), theirs.get(path), labels) for path in paths)


def _merge(path: str, base: str | None, ours: str | None, theirs: str | None, labels: Labels) -> Merge:
    if ours is None:
        outcome, text = _without_ours(base, theirs)
    elif theirs is None:
        outcome, text = (Outcome.REMOVED, None) if ours == base else (Outcome.KEPT, ours)
    elif theirs in {base, ours}:
        outcome, text = Outcome.CURRENT, ours
    elif base is None:
        outcome, text = Outcome.UNMERGED, ours
    elif ours == base:
        outcome, text = Outcome.UPDATED, theirs
    else:
        text, has_conflict = _lines_merged(base, ours, theirs, labels)
        outcome = Outcome.CONFLICT if has_conflict else Outcome.MERGED
    return Merge(path=path, outcome=outcome, text=text)


def _without_ours(base: str | None, theirs: str | None) -> tuple[Outcome, str | None]:
    if theirs is None or theirs == base:
        return Outcome.CURRENT, None
    return (Outcome.ADDED, theirs) if base is None else (Outcome.LEFT_OUT, None)


def _lines_merged(base: str, ours: str, theirs: str, labels: Labels) -> tuple[str, bool]:
    """Return the merged text, and whether it contains conflicts (git-merge-file(1))."""
    with tempfile.TemporaryDirectory() as temporary:
        files = [Path(temporary, name) for name in ("ours", "base", "theirs")]
        for file, text in zip(files, (ours, base, theirs), strict=True):
            file.write_bytes(text.encode())
        names = [word for name in (labels.ours, labels.base, labels.theirs) for word in ("-L", name)]
        done = subprocess.run(
            ["git", "merge-file", "-p", "--diff3", *names, *map(str, files)], capture_output=True, check=False
        )
    if done.returncode < 0 or done.returncode > _MOST_CONFLICTS:
        raise OSError(done.returncode, done.stderr.decode(errors="replace").strip(), "git merge-file")
    return done.stdout.decode(), done.returncode > 0


_MOST_CONFLICTS = 127
"""Highest exit code that counts conflicts; higher ones are errors."""
