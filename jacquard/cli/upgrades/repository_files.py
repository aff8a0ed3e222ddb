"""Files around the data of a user's repository: their unedited texts, merges with a new version, and writing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from components.specs.reading.problems import listed
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.failures import PROGRAM
from jacquard.machine import paths
from jacquard.machine.edits import Edit
from jacquard.machine.files import replace_text
from jacquard.machine.pins import PIN_FILE, repinned
from jacquard.previews.base_commits import BaseError, answer, content
from jacquard.starters.merges import Labels, Merge, Outcome, merged
from jacquard.starters.region import catalogue, repository
from jacquard.starters.written_files import FILE, ArchiveError, Written, read

_FIRST = "the first commit"
"""Version of files that were written before there was an archive."""


def label(written: Written) -> str:
    """Return the readable name of the version that wrote the files."""
    return written.version if written.version == _FIRST else f"{PROGRAM} {written.version}"


def unedited(root: Path, region: str | None, names: Sequence[str]) -> Written:
    """Return the unedited files of the version that wrote the repository.

    Args:
        root: folder of the repository.
        region: region of the workflows, for a repository without an archive.
        names: names of all regions of the repository.

    Raises:
        Stop: the archive is invalid, or there is none and the region is ambiguous.
    """
    try:
        return read(root / FILE)
    except ArchiveError as error:
        msg = f"{FILE}: is not an archive of 'jacquard new' ({error}); restore it: git checkout HEAD -- {FILE}"
        raise Stop(msg, ExitCode.BAD_DATA) from None
    except FileNotFoundError:
        pass
    chosen = [region] if region else list(names)
    if len(chosen) != 1 or chosen[0] not in names:
        msg = f"--region: must be the region of the workflows, because there is no {FILE} (known: {listed(names)})"
        raise Stop(msg, ExitCode.BAD_DATA)
    files = repository(chosen[0]) | catalogue()
    texts = {path: text for path in files if (text := _first(root, path)) is not None}
    return Written(version=_FIRST, region=chosen[0], texts=texts)


def _first(root: Path, path: str) -> str | None:
    """Return the text of ``path`` in the commit that added it; None if the clone has no such commit."""
    commits = answer(root, "log", "--format=%H", "--diff-filter=A", "--", path).split()
    return content(root, "show", f"{commits[-1]}:./{path}", what="read the first version") if commits else None


def merges(root: Path, base: Written, new: Written, migrated: Mapping[str, str]) -> list[Merge]:
    """Return the merges of all files that the library writes, and the migrated files of regions.

    Args:
        root: folder of the repository.
        base: unedited files of the older version.
        new: files of the new version.
        migrated: texts of the data files in current formats, by path.
    """
    known = {*base.texts, *new.texts}
    ours = {path: text for path in known if (text := migrated.get(path, _text(root / path))) is not None}
    before = dict(base.texts)
    for texts in (before, ours):
        if PIN_FILE in texts:
            texts[PIN_FILE] = repinned(texts[PIN_FILE])
    found = [*merged(before, ours, new.texts, Labels(ours="yours", base=label(base), theirs=label(new)))]
    found += [
        Merge(path=path, outcome=Outcome.CURRENT, text=text) for path, text in migrated.items() if path not in known
    ]
    return [
        replace(merge, outcome=Outcome.UPDATED)
        if merge.outcome is Outcome.CURRENT and merge.text != _text(root / merge.path)
        else merge
        for merge in found
    ]


def changes(root: Path, found: Iterable[Merge]) -> dict[str, str | None]:
    """Return the new text of each file that a merge changes, by path; None for a removed file."""
    return {merge.path: merge.text for merge in found if merge.text != _text(root / merge.path)}


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None


def refuse_uncommitted(root: Path, changed: Iterable[str]) -> None:
    """Refuse to overwrite files whose content git does not have.

    Raises:
        Stop: there are such files, or the folder is not in a git repository.
    """
    files = [path for path in changed if (root / path).exists()]
    try:
        status = content(root, "status", "--porcelain", "-z", "--", *files, what="read the status") if files else ""
    except BaseError as error:
        msg = f"{error}; commit the repository first, so that you can review and undo the upgrade"
        raise Stop(msg, ExitCode.BAD_DATA) from None
    if status:
        dirty = sorted(entry[3:] for entry in status.split("\0") if entry)
        msg = f"uncommitted changes in {listed(dirty)}; commit or stash them first, nothing was written"
        raise Stop(msg, ExitCode.BAD_DATA)


def write(root: Path, edit: Edit, changed: Mapping[str, str | None]) -> None:
    """Write the new texts, by path, and remove files without a text; data files are written all or none."""
    inside = {path: text for path, text in changed.items() if path.startswith(f"{paths.DATA}/")}
    edit.write({root / path: text for path, text in inside.items() if text is not None})
    for path, text in changed.items():
        if text is None:
            (root / path).unlink()
        elif path not in inside:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            replace_text(root / path, text)
