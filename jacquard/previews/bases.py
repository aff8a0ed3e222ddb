"""The base that a change is compared with: data of an earlier commit, by git, in a folder that goes away again."""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CODE = "components"
"""What renders objects, at the top of a clone; and in a repository of regions, what it adds itself."""
_SHORT = 9
_WORK_TREE = "work tree"


class BaseError(Exception):
    """There is nothing to compare with; the text says why, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """An earlier commit."""

    environments: Path
    """Folder of all environments, as they were."""
    commit: str
    """Name of the commit, shortened."""
    name: str
    """Name of the commit, whole."""
    head: str
    """Name of the commit that is compared, shortened, or ``work tree`` if something is not committed."""
    head_name: str | None
    """Name of the commit that is compared, whole; None if something is not committed."""
    code: Path | None
    """Root of the repository as it was, if what renders objects was another there; None if the same renders both."""
    installed: bool
    """Whether Jacquard itself is no part of the repository."""
    pinned_otherwise: bool
    """Whether the repository pinned another Jacquard then, which is not installed."""


@contextmanager
def base_at(environments: Path, root: Path, ref: str, pin: str) -> Iterator[Base]:
    """Give the files of the last commit that ``ref`` and the work tree share, until the block ends.

    Args:
        environments: folder of all environments, in a git repository.
        root: where Jacquard lies.
        ref: branch, tag or commit.
        pin: file of a repository of regions that says which Jacquard it is made for.

    Raises:
        BaseError: git is missing, there is no repository, ``ref`` is no commit, or it has no environments.
    """
    home = environments.resolve()
    top = Path(_git(home.parent, "rev-parse", "--show-toplevel", what="find the repository of the environments"))
    commit = _commit(top, ref)
    data = home.relative_to(top).as_posix()
    installed = root.resolve() != top
    head = _head(top, data, CODE, *([pin] if installed else []))
    other = _differs(top, commit, CODE)
    with tempfile.TemporaryDirectory(prefix="jacquard-base-") as name:
        folder = Path(name)
        _extract(top, commit, None if other else data, folder)
        if not (folder / data).is_dir():
            msg = f"{ref} has no {data}; name a commit that has it with --base"
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


def committer(folder: Path) -> str:
    """Return who commits in the repository of ``folder``, as git knows it; nothing where it does not."""
    try:
        name, mail = (_git(folder, "config", key, what="tell who works here") for key in ("user.name", "user.email"))
    except BaseError:
        return ""
    return f"{name} <{mail}>"


def _commit(top: Path, ref: str) -> str:
    try:
        return _git(top, "merge-base", f"{ref}^{{commit}}", "HEAD", what=f"find {ref}")
    except BaseError as error:
        msg = f"{ref} is no commit that the work tree has anything in common with; name another one with --base"
        raise BaseError(msg) from error


def _head(top: Path, *parts: str) -> str | None:
    if _git(top, "status", "--porcelain", "--", *parts, what="look for changes"):
        return None
    return _git(top, "rev-parse", "HEAD", what="name the commit")


def _differs(top: Path, commit: str, part: str) -> bool:
    changed = _git(top, "diff", "--name-only", commit, "--", part, what="compare files")
    return bool(changed or _git(top, "ls-files", "--others", "--exclude-standard", "--", part, what="list files"))


def _extract(top: Path, commit: str, part: str | None, folder: Path) -> None:
    """Write the files of ``commit``, or of one folder of it, into ``folder``."""
    command = ["git", "-C", str(top), "archive", "--format=tar", commit, *(["--", part] if part else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        if process.stdout:
            try:
                with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                    # Python before 3.11.4 has no filters, as that of Debian 12, and takes no argument of that name.
                    archive.extraction_filter = getattr(tarfile, "data_filter", None)
                    archive.extractall(folder)  # noqa: S202 - filtered where Python can
            except tarfile.ReadError:
                pass  # nothing is there, which is told by who looks


def _git(folder: Path, *arguments: str, what: str) -> str:
    try:
        found = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        msg = f"git is not there to {what}; install it"
        raise BaseError(msg) from None
    if found.returncode:
        said = found.stderr.strip().splitlines()
        msg = f"git could not {what}: {said[-1] if said else 'it said nothing'}"
        raise BaseError(msg)
    return found.stdout.strip()
