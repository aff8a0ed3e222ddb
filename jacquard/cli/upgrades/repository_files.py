"""Files around the data of a user's repository: their unedited texts, and merges with a new version."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from components.specs.reading.problems import listed
from components.specs.struct import Struct
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.failures import PROGRAM
from jacquard.machine.pins import PIN_FILE, repinned
from jacquard.previews.base_commits import BaseError, answer, content
from jacquard.starters.merges import Labels, Outcome, merged
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


class Plan(Struct):
    """Result of an upgrade before it is written."""

    outcomes: Mapping[str, Outcome]
    """Outcome of each file, by path; files that stay as they are are omitted."""
    changes: Mapping[str, str | None]
    """New text of each changed file, by path; None for a removed file."""


def planned(root: Path, base: Written, new: Written, migrated: Mapping[str, str]) -> Plan:
    """Return the merges of all files that the library writes, and the migrated files of regions.

    Args:
        root: folder of the repository.
        base: unedited files of the older version.
        new: files of the new version.
        migrated: texts of the data files that are in older formats, by path.

    Raises:
        Stop: a file is not UTF-8.
    """
    known = {*base.texts, *new.texts}
    current = {path: text for path in known | migrated.keys() if (text := _text(root, path)) is not None}
    before, ours = dict(base.texts), {path: text for path, text in {**current, **migrated}.items() if path in known}
    for texts in (before, ours):
        if PIN_FILE in texts:
            texts[PIN_FILE] = repinned(texts[PIN_FILE])
    found = merged(before, ours, new.texts, Labels(ours="yours", base=label(base), theirs=label(new)))
    results = {**migrated, **{merge.path: merge.text for merge in found}}
    changes = {path: text for path, text in results.items() if text != current.get(path)}
    outcomes = {merge.path: merge.outcome for merge in found if merge.outcome is not Outcome.CURRENT}
    return Plan(outcomes=dict.fromkeys(changes, Outcome.UPDATED) | outcomes, changes=changes)


def _text(root: Path, path: str) -> str | None:
    """Return the text of a file; None if there is no file."""
    try:
        return (root / path).read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        msg = f"{path}: is not UTF-8; convert it, then run this again; nothing was written"
        raise Stop(msg, ExitCode.BAD_DATA) from None


def refuse_uncommitted(root: Path, changed: Iterable[str]) -> None:
    """Refuse to overwrite files whose content git does not have.

    Raises:
        Stop: there are such files, or the folder is not in a git repository.
    """
    files = [path for path in changed if (root / path).exists()]
    if not files:
        return
    command = ("status", "--porcelain", "--no-renames", "-z", "--")
    try:
        status = content(root, *command, *files, what="read the status")
    except BaseError as error:
        msg = f"{error}; commit the repository first, so that you can review and undo the upgrade"
        raise Stop(msg, ExitCode.BAD_DATA) from None
    if status:
        dirty = sorted(entry[3:] for entry in status.split("\0") if entry)
        msg = f"uncommitted changes in {listed(dirty)}; commit or stash them first, nothing was written"
        raise Stop(msg, ExitCode.BAD_DATA)
