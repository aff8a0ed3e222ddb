"""Determines the pull request, run and token of a CI job from environment variables."""

import re
from collections.abc import Mapping
from typing import Protocol

from components.specs.struct import Struct
from jacquard.forges.forge import Forge
from jacquard.forges.github import GitHub
from jacquard.forges.gitlab import GitLab
from jacquard.forges.publishing import Run

_MERGE_REF = re.compile(r"refs/pull/(\d+)/(?:merge|head)")
_RUN = re.compile(r"\d{1,18}(?:\.\d{1,18})*")


class PipelineError(Exception):
    """The variables do not identify a pull request; the message is lower case, without a full stop, with the remedy."""


class Opened(Protocol):
    """Opens a pull request at its forge with a token."""

    def __call__(self, token: str) -> Forge:
        """Return the pull request with the rights of ``token``."""


class Pipeline(Struct):
    """A CI job of a pull request."""

    place: str
    """Readable name of the pull request."""
    run: Run
    token: str
    """Token; empty if the job has none, as in a fork."""
    token_variable: str
    open: Opened


def pipeline(variables: Mapping[str, str], *, pull_request: int | None = None, run: str | None = None) -> Pipeline:
    """Return the CI job with these environment variables.

    Args:
        variables: environment variables of GitHub Actions or GitLab CI.
        pull_request: number of the pull request, if the variables do not contain it.
        run: number of the run, such as ``12`` or ``12.1``, which overrides the variables.

    Raises:
        PipelineError: the variables belong to neither system, or some are missing; the message lists all of them.
    """
    if run is not None and not _RUN.fullmatch(run):
        msg = f"--run '{run}': must be a number; write 12, or 12.1 with the attempt after the dot"
        raise PipelineError(msg)
    if variables.get("GITLAB_CI"):
        return _gitlab(_Variables(variables), pull_request, run)
    if variables.get("GITHUB_REPOSITORY"):
        return _github(_Variables(variables), pull_request, run)
    msg = (
        "no pull request: neither GitHub Actions nor GitLab CI runs this; elsewhere set the GitHub Actions variables "
        "GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_GRAPHQL_URL, GITHUB_REF, GITHUB_RUN_NUMBER, GITHUB_TOKEN"
    )
    raise PipelineError(msg)


class _Variables:
    """Reads variables and records the missing ones."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._missing: list[str] = []

    def get(self, *names: str, default: str | None = None) -> str:
        """Return the value of the first set variable of ``names``, or the default; record a variable without either."""
        value = next((self._variables[name] for name in names if self._variables.get(name)), default)
        if value is None:
            self._missing.append(names[0])
        return value or ""

    def run(self, override: str | None, number: str, attempt: str) -> Run:
        """Return the run from ``override``, or from the two variables."""
        text = override or f"{self.get(number)}.{self.get(attempt, default='1')}"
        return tuple(map(int, text.split("."))) if _RUN.fullmatch(text) else ()

    def require(self, *more: str) -> None:
        """Check that no variable is missing.

        Raises:
            PipelineError: a variable is missing.
        """
        if missing := [*self._missing, *more]:
            msg = f"no pull request: missing variables: {', '.join(missing)}"
            raise PipelineError(msg)


def _github(variables: _Variables, pull_request: int | None, run: str | None) -> Pipeline:
    repository = variables.get("GITHUB_REPOSITORY")
    merged = _MERGE_REF.fullmatch(variables.get("GITHUB_REF", default=""))
    number = pull_request or (int(merged[1]) if merged else 0)
    api = variables.get("GITHUB_API_URL", default="https://api.github.com").rstrip("/")
    graphql = variables.get("GITHUB_GRAPHQL_URL", default=f"{api}/graphql")
    current = variables.run(run, "GITHUB_RUN_NUMBER", "GITHUB_RUN_ATTEMPT")
    variables.require(*([] if number else ["GITHUB_REF as refs/pull/NUMBER/merge; or pass --pull-request"]))

    def opened(token: str) -> Forge:
        return GitHub(api=api, graphql=graphql, repository=repository, pull_request=number, token=token)

    return Pipeline(
        place=f"{repository}#{number}",
        run=current,
        token=variables.get("GITHUB_TOKEN", "GH_TOKEN", default=""),
        token_variable="GITHUB_TOKEN",  # noqa: S106 - the name of a variable
        open=opened,
    )


def _gitlab(variables: _Variables, merge_request: int | None, run: str | None) -> Pipeline:
    # In a pipeline of a fork, the current project is the fork, and the merge request belongs to the target project.
    project = variables.get("CI_MERGE_REQUEST_PROJECT_ID", "CI_PROJECT_ID")
    api = variables.get("CI_API_V4_URL").rstrip("/")
    number = merge_request or int(variables.get("CI_MERGE_REQUEST_IID") or 0)
    current = variables.run(run, "CI_PIPELINE_IID", "CI_JOB_ID")
    variables.require()

    def opened(token: str) -> Forge:
        return GitLab(api=api, project=project, merge_request=number, token=token)

    return Pipeline(
        place=f"{variables.get('CI_MERGE_REQUEST_PROJECT_PATH', 'CI_PROJECT_PATH', default=project)}!{number}",
        run=current,
        token=variables.get("GITLAB_TOKEN", default=""),
        token_variable="GITLAB_TOKEN",  # noqa: S106 - the name of a variable
        open=opened,
    )
