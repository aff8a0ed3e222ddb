"""Which pull request a CI job runs for, which run it is, and by which token it may speak: from variables alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from jacquard.forges.forge import Forge
from jacquard.forges.github import GitHub
from jacquard.forges.gitlab import GitLab
from jacquard.forges.publishing import Run

_MERGE_REF = re.compile(r"refs/pull/(\d+)/(?:merge|head)")
_RUN = re.compile(r"\d{1,18}(?:\.\d{1,18})*")


class PipelineError(Exception):
    """The variables do not say where to post: lower case, no full stop, with what to set."""


class Opened(Protocol):
    """Opens a pull request at its forge, given a token."""

    def __call__(self, token: str) -> Forge:
        """Return the pull request as the owner of ``token`` sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A CI job that runs for a pull request."""

    place: str
    """The pull request, as people write it."""
    run: Run
    token: str
    """Empty when the job has none, as that of a fork."""
    token_variable: str
    open: Opened


def pipeline(variables: Mapping[str, str], *, pull_request: int | None = None, run: str | None = None) -> Pipeline:
    """Return the job that runs with these environment variables.

    Args:
        variables: those of GitHub Actions or of GitLab CI.
        pull_request: its number, where the variables do not say it.
        run: which run this is, such as ``12`` or ``12.1``, where the variables are not to say it.

    Raises:
        PipelineError: they are of neither, or some are missing; all of them are told.
    """
    if run is not None and not _RUN.fullmatch(run):
        msg = f"--run '{run}': is no number; write it like 12, or 12.1 with the attempt behind the dot"
        raise PipelineError(msg)
    if variables.get("GITLAB_CI"):
        return _gitlab(_Variables(variables), pull_request, run)
    if variables.get("GITHUB_REPOSITORY"):
        return _github(_Variables(variables), pull_request, run)
    msg = (
        "no pull request: neither GitHub Actions nor GitLab CI runs this; elsewhere set what GitHub Actions would: "
        "GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_GRAPHQL_URL, GITHUB_REF, GITHUB_RUN_NUMBER, GITHUB_TOKEN"
    )
    raise PipelineError(msg)


class _Variables:
    """Reads variables and remembers which are missing."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._missing: list[str] = []

    def get(self, *names: str, default: str | None = None) -> str:
        """Return the first of ``names`` that is set, else the default; without one it is missing."""
        found = next((self._variables[name] for name in names if self._variables.get(name)), default)
        if found is None:
            self._missing.append(names[0])
        return found or ""

    def run(self, given: str | None, number: str, attempt: str) -> Run:
        """Return the run that was given, else what two variables say."""
        text = given or f"{self.get(number)}.{self.get(attempt, default='1')}"
        return tuple(map(int, text.split("."))) if _RUN.fullmatch(text) else ()

    def require(self, *more: str) -> None:
        """Pass when nothing is missing.

        Raises:
            PipelineError: something is.
        """
        if missing := [*self._missing, *more]:
            msg = f"no pull request: the job does not say {', '.join(missing)}"
            raise PipelineError(msg)


def _github(variables: _Variables, pull_request: int | None, run: str | None) -> Pipeline:
    repository = variables.get("GITHUB_REPOSITORY")
    merged = _MERGE_REF.fullmatch(variables.get("GITHUB_REF", default=""))
    number = pull_request or (int(merged[1]) if merged else 0)
    api = variables.get("GITHUB_API_URL", default="https://api.github.com").rstrip("/")
    graphql = variables.get("GITHUB_GRAPHQL_URL", default=f"{api}/graphql")
    found = variables.run(run, "GITHUB_RUN_NUMBER", "GITHUB_RUN_ATTEMPT")
    variables.require(*([] if number else ["GITHUB_REF as refs/pull/NUMBER/merge; or give --pull-request"]))

    def opened(token: str) -> Forge:
        return GitHub(api=api, graphql=graphql, repository=repository, pull_request=number, token=token)

    return Pipeline(
        place=f"{repository}#{number}",
        run=found,
        token=variables.get("GITHUB_TOKEN", "GH_TOKEN", default=""),
        token_variable="GITHUB_TOKEN",  # noqa: S106 - the name of a variable
        open=opened,
    )


def _gitlab(variables: _Variables, merge_request: int | None, run: str | None) -> Pipeline:
    # In a pipeline of a fork the project is the fork, and the merge request is the other project's.
    project = variables.get("CI_MERGE_REQUEST_PROJECT_ID", "CI_PROJECT_ID")
    api = variables.get("CI_API_V4_URL").rstrip("/")
    number = merge_request or int(variables.get("CI_MERGE_REQUEST_IID") or 0)
    found = variables.run(run, "CI_PIPELINE_IID", "CI_JOB_ID")
    variables.require()

    def opened(token: str) -> Forge:
        return GitLab(api=api, project=project, merge_request=number, token=token)

    return Pipeline(
        place=f"{variables.get('CI_MERGE_REQUEST_PROJECT_PATH', 'CI_PROJECT_PATH', default=project)}!{number}",
        run=found,
        token=variables.get("GITLAB_TOKEN", default=""),
        token_variable="GITLAB_TOKEN",  # noqa: S106 - the name of a variable
        open=opened,
    )
