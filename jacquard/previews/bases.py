"""Base of a comparison: the data of an earlier commit, extracted by git into a temporary folder."""

import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components.specs.struct import Struct
from jacquard.previews.base_commits import BaseError, git, merge_base, repository_of

CODE = "components"
"""Folder of a clone with the code that renders objects."""
EXTENSIONS = "extensions"
"""Folder of a user's repository with the code that renders additional objects."""
_SHORT = 9
_WORK_TREE = "work tree"


class Base(Struct):
    """An earlier commit."""

    environments: Path
    """Folder of all environments at the base commit."""
    commit: str
    """Short hash of the base commit."""
    name: str
    """Full hash of the base commit."""
    head: str
    """Short hash of the head commit, or ``work tree`` with uncommitted changes."""
    head_name: str | None
    """Full hash of the head commit; None with uncommitted changes."""
    code: Path | None
    """Root of the repository at the base commit if the rendering code differs; None if base and head share the code."""
    installed: bool
    """Whether Jacquard is installed separately, instead of being part of the repository."""
    pinned_otherwise: bool
    """Whether the base commit pins another version of Jacquard, which is not installed."""


@contextmanager
def base_at(environments: Path, root: Path, ref: str, pin: str) -> Iterator[Base]:
    """Extract the files of the merge base of ``ref`` and the work tree until the block ends.

    Args:
        environments: folder of all environments, in a git repository.
        root: root folder of Jacquard.
        ref: branch, tag or commit.
        pin: file of a user's repository that pins the version of Jacquard.

    Raises:
        BaseError: git is missing, there is no repository, ``ref`` is not a commit, or it has no environments.
    """
    home = environments.resolve()
    top = repository_of(home.parent)
    commit = merge_base(top, ref)
    data = home.relative_to(top).as_posix()
    installed = root.resolve() != top
    code = EXTENSIONS if installed else CODE
    head = _head(top, data, code, *([pin] if installed else []))
    other = _differs(top, commit, code)
    with tempfile.TemporaryDirectory(prefix="jacquard-base-") as name:
        folder = Path(name)
        _extract(top, commit, None if other else data, folder)
        if not (folder / data).is_dir():
            msg = f"{ref} does not contain {data}; pass a commit that contains it to --base"
            raise BaseError(msg)
        yield Base(
            environments=folder / data,
            commit=commit[:_SHORT],
            name=commit,
            head=head[:_SHORT] if head else _WORK_TREE,
            head_name=head,
            code=folder if other else None,
            installed=installed,
            pinned_otherwise=installed and _differs(top, commit, pin),
        )


@contextmanager
def data_at(top: Path, data: str, commit: str) -> Iterator[Path]:
    """Extract the folder of all environments at ``commit`` until the block ends; empty if it does not exist there.

    Args:
        top: root of the repository.
        data: path of the folder of all environments, relative to ``top``.
        commit: full hash of a commit.
    """
    with tempfile.TemporaryDirectory(prefix="jacquard-commit-") as name:
        _extract(top, commit, data, Path(name))
        yield Path(name) / data


def committer(folder: Path) -> str:
    """Return the committer configured for the repository of ``folder``, as ``name <mail>``; empty if not configured."""
    try:
        name, mail = (git(folder, "config", key, what="read the committer") for key in ("user.name", "user.email"))
    except BaseError:
        return ""
    return f"{name} <{mail}>"


def _head(top: Path, *parts: str) -> str | None:
    if git(top, "status", "--porcelain", "--", *parts, what="list changes"):
        return None
    return git(top, "rev-parse", "HEAD", what="resolve the commit")


def _differs(top: Path, commit: str, part: str) -> bool:
    changed = git(top, "diff", "--name-only", commit, "--", part, what="compare files")
    return bool(changed or git(top, "ls-files", "--others", "--exclude-standard", "--", part, what="list files"))


def _extract(top: Path, commit: str, part: str | None, folder: Path) -> None:
    """Write the files of ``commit``, or of one folder of it, into ``folder``."""
    command = ["git", "-C", str(top), "archive", "--format=tar", commit, *(["--", part] if part else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        if process.stdout:
            try:
                with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                    # Python before 3.11.4, such as in Debian 12, has no filters and no `filter` argument.
                    archive.extraction_filter = getattr(tarfile, "data_filter", None)
                    archive.extractall(folder)  # noqa: S202 - filtered if Python supports it
            except tarfile.ReadError:
                pass  # the archive is empty; the caller reports the missing folder
