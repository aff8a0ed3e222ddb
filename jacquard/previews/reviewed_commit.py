"""The commit of this clone that an operator is to apply: everything that decides about objects must be in it."""

from jacquard.machine import paths
from jacquard.previews.base_commits import BaseError, git, repository_of
from jacquard.previews.bases import CODE, EXTENSIONS

_SETTINGS = ":(exclude,glob)**/Pulumi.*.yaml"
"""Settings of stacks, which contain keys of the state. The first `up` writes them, before they can be committed."""


def reviewed_commit() -> str:
    """Return the commit that is checked out.

    Raises:
        BaseError: there is no repository, or files of the data or the program differ from the commit.
    """
    home = paths.environments().resolve()
    top = repository_of(home.parent)
    code = [CODE] if paths.own() is None else [EXTENSIONS, paths.PROJECT_FILE, paths.policy_pack(), "program"]
    parts = [home.relative_to(top).as_posix(), *code, _SETTINGS]
    changed = git(top, "status", "--porcelain", "--", *parts, what="list changes").splitlines()
    if changed:
        others = f" and {len(changed) - 1} more differ" if len(changed) > 1 else " differs"
        msg = (
            f"{changed[0][2:].strip()}{others} from the commit that is checked out, and the operator applies only"
            " commits; commit and push the changes"
        )
        raise BaseError(msg)
    return git(top, "rev-parse", "HEAD", what="resolve the commit")
