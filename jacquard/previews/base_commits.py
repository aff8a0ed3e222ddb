"""Commits to compare with, and why git cannot find one: a typing error, a shallow clone, or a branch not fetched."""

import os
import re
import subprocess
from pathlib import Path

from components.specs.reading.problems import listed, nearest, shown, suggestion

_UNSHALLOW = "git fetch --unshallow"
_BEHIND = re.compile("^[0-9a-f]{7,64}$|[~^]")
"""A hash, or an ancestor of a commit."""
_MAX_LISTED = 8


class BaseError(Exception):
    """The base cannot be determined; the message contains the reason and the remedy."""


def repository_of(folder: Path) -> Path:
    """Return the root of the repository that contains ``folder``.

    Raises:
        BaseError: git is missing, or there is no repository.
    """
    return Path(git(folder, "rev-parse", "--show-toplevel", what="find the repository of the environments"))


def merge_base(top: Path, ref: str) -> str:
    """Return the full hash of the newest common ancestor of ``ref`` and the head of the repository ``top``.

    Raises:
        BaseError: there is no such commit or ancestor, or this clone lacks it.
    """
    if not _commit(top, "HEAD"):
        msg = "the repository of the environments has no commit to compare with; commit the data first"
        raise BaseError(msg)
    commit = _commit(top, ref)
    ancestor = answer(top, "merge-base", commit, "HEAD") if commit else ""
    if ancestor:
        return ancestor
    if not commit:
        msg = _why_unknown(top, ref)
    elif _is_shallow(top):
        msg = f"this shallow clone lacks the common ancestor of {ref} and HEAD; fetch it with: {_UNSHALLOW}"
    else:
        msg = f"{ref} and HEAD have no common ancestor; pass a commit of the history of HEAD"
    raise BaseError(msg)


def commit_of(top: Path, ref: str) -> str:
    """Return the full hash of the commit ``ref``.

    Raises:
        BaseError: this clone has no such commit.
    """
    if commit := _commit(top, ref):
        return commit
    raise BaseError(_why_unknown(top, ref))


def _why_unknown(top: Path, ref: str) -> str:
    """Return why ``ref`` is not a commit of this clone, with the remedy."""
    remote, _, branch = ref.partition("/")
    known = _branches(top)
    if branch and remote in _lines(top, "remote"):
        names = [name.removeprefix(f"{remote}/") for name in known if name.startswith(f"{remote}/")]
        near = nearest(branch, names)
        fetch = f"fetch it with: git fetch {remote} {branch}:refs/remotes/{ref}"
        did_you_mean = f"did you mean '{remote}/{near}'? Otherwise " if near else ""
        return f"this clone has no {ref} (branches of {remote}: {listed(names, _MAX_LISTED)}); {did_you_mean}{fetch}"
    if _is_shallow(top) and _BEHIND.search(ref):
        return f"this shallow clone has no commit {ref}; fetch it with: {_UNSHALLOW}"
    text = f"{shown(ref)} is not a branch, tag or commit (known: {listed(known, _MAX_LISTED)})"
    return text + (suggestion(ref, known) or "; pass one of them, or a commit")


def _branches(top: Path) -> list[str]:
    """Return the names of branches and tags, without the heads of remotes."""
    names = _lines(top, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags")
    heads = {head for remote in _lines(top, "remote") for head in (remote, f"{remote}/HEAD")}
    return [name for name in names if name not in heads]


def _is_shallow(top: Path) -> bool:
    return answer(top, "rev-parse", "--is-shallow-repository") == "true"


def _commit(top: Path, ref: str) -> str:
    return "" if ref.startswith("-") else answer(top, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")


def _lines(top: Path, *arguments: str) -> list[str]:
    return answer(top, *arguments).splitlines()


def answer(top: Path, *arguments: str) -> str:
    """Return the output of a git command; empty if it fails."""
    try:
        return git(top, *arguments, what=arguments[0])
    except BaseError:
        return ""


def git(folder: Path, *arguments: str, what: str) -> str:
    """Return the output of a git command in ``folder``, without white space around it; see `content`."""
    return content(folder, *arguments, what=what).strip()


def content(folder: Path, *arguments: str, what: str) -> str:
    """Return the complete output of a git command in ``folder``.

    Args:
        folder: folder in a repository.
        arguments: arguments of git.
        what: purpose of the command, for messages.

    Raises:
        BaseError: git is missing, or the command failed.
    """
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except FileNotFoundError:
        msg = f"git is required to {what}, but was not found; install it"
        raise BaseError(msg) from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        output = "; ".join(dict.fromkeys([*lines[:1], *lines[-1:]])) or "no error output"
        msg = f"git could not {what}: {output}"
        raise BaseError(msg)
    return done.stdout
