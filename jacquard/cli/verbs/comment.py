"""``jacquard comment``: puts what ``impact`` or ``preview`` wrote into the one comment of a pull request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from jacquard.cli.console import stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.forges.forge import ForgeError
from jacquard.forges.pipeline import Pipeline, PipelineError, pipeline
from jacquard.forges.publishing import Outcome, Post, marked, publish
from jacquard.machine.errors import explained

_SUMMARY = "GITHUB_STEP_SUMMARY"
_TOLD = {
    Outcome.CREATED: "{}: comment written",
    Outcome.UPDATED: "{}: comment written anew",
    Outcome.UNCHANGED: "{}: the comment says so already",
    Outcome.OLDER: "{}: a newer run wrote the comment, which is left as it is",
}

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="Begins with its mark, as what 'impact --format markdown' writes.")
]
NumberOption = Annotated[
    int | None,
    typer.Option(
        "--pull-request", min=1, metavar="NUMBER", help="Default: the one that the job runs for.", show_default=False
    ),
]
RunOption = Annotated[
    str | None,
    typer.Option(
        "--run",
        metavar="N[.M]",
        help="Which run this is, and which attempt; a lower one never writes over a higher. Default: the job's own.",
        show_default=False,
    ),
]
RequiredOption = Annotated[
    bool, typer.Option("--required", help="End with 1 when the comment cannot be written; else that is a warning.")
]


def comment(
    file: FileArgument, *, pull_request: NumberOption = None, run: RunOption = None, required: RequiredOption = False
) -> None:
    """Write a text into the one comment of a pull request, at GitHub or GitLab.

    Runs in a job of GitHub Actions or GitLab CI, whose variables say which pull request it is. The token is read from
    GITHUB_TOKEN or GITLAB_TOKEN. The comment of an earlier run, found by its mark and its author, is written over; that
    of a later run never is. A forge that is busy is asked again, for five minutes at most. Without a token, or when
    the forge refuses, a warning says so and the exit code stays 0. The page of a run at GitHub shows the text as well.
    """
    text = _read(file)
    if not marked(text):
        msg = (
            f"{file}:1: is no mark by which the comment could be found again, like <!-- jacquard impact -->; write the "
            f"file by: jacquard impact --format markdown > {file}"
        )
        raise Stop(msg, ExitCode.BAD_DATA)
    try:
        job = pipeline(os.environ, pull_request=pull_request, run=run)
    except PipelineError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None
    _show_on_page(text)
    try:
        outcome = _published(job, text)
    except ForgeError as error:
        msg = f"{job.place}: the comment is not written: {error}"
        if required:
            raise Stop(msg) from None
        show(msg, "warning")
        return
    stdout().print(_TOLD[outcome].format(job.place), soft_wrap=True, markup=False)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Stop(explained(error), ExitCode.BAD_DATA) from None


def _published(job: Pipeline, text: str) -> Outcome:
    if not job.token:
        msg = f"the job has no {job.token_variable}, as no job of a fork has; give it one that may write comments"
        raise ForgeError(msg)
    return publish(job.open(job.token), Post(text=text, run=job.run))


def _show_on_page(text: str) -> None:
    """Add ``text`` to the page of the run, where GitHub Actions names a file for that."""
    if page := os.environ.get(_SUMMARY):
        with Path(page).open("a", encoding="utf-8") as summary:
            summary.write(f"{text.rstrip()}\n")
