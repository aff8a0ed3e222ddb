"""``jacquard comment``: publishes the output of ``impact`` or ``preview`` as a comment of a pull request."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from jacquard.cli.console import stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.views.changes.joined_comment import joined
from jacquard.forges.forge import ForgeError
from jacquard.forges.pipeline import Pipeline, PipelineError, pipeline
from jacquard.forges.publishing import Outcome, Post, marked, publish
from jacquard.machine.errors import explained

_SUMMARY = "GITHUB_STEP_SUMMARY"
_MESSAGES = {
    Outcome.CREATED: "{}: comment created",
    Outcome.UPDATED: "{}: comment updated",
    Outcome.UNCHANGED: "{}: comment unchanged",
    Outcome.OLDER: "{}: comment of a newer run left unchanged",
}

FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Texts that start with the same marker, such as the output of 'impact --format markdown'.",
    ),
]
NumberOption = Annotated[
    int | None,
    typer.Option(
        "--pull-request",
        min=1,
        metavar="NUMBER",
        help="Number of the pull request. Default: the pull request of the job.",
        show_default=False,
    ),
]
RunOption = Annotated[
    str | None,
    typer.Option(
        "--run",
        metavar="N[.M]",
        help="Run and attempt; an older run never overwrites a newer run's comment. Default: from the job.",
        show_default=False,
    ),
]
RequiredOption = Annotated[
    bool, typer.Option("--required", help="Exit with 1 if the comment cannot be written, instead of a warning.")
]


def comment(
    files: FilesArgument, *, pull_request: NumberOption = None, run: RunOption = None, required: RequiredOption = False
) -> None:
    """Create or update the comment of a pull request, at GitHub or GitLab.

    Runs in a job of GitHub Actions or GitLab CI, whose variables identify the pull request. The token is read from
    GITHUB_TOKEN or GITLAB_TOKEN. The comment of an earlier run, identified by marker and author, is updated; the
    comment of a later run is left unchanged. Requests are retried for at most five minutes if the forge limits their
    rate. Without a token, or if the forge rejects the request, a warning is printed and the exit code is 0. At GitHub,
    the text is also added to the summary page of the run.

    Several files, such as the previews of several regions, become one comment. If they are too long together, details
    are omitted before verdicts.
    """
    text = joined(_texts(files))
    try:
        job = pipeline(os.environ, pull_request=pull_request, run=run)
    except PipelineError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None
    _show_on_page(text)
    try:
        outcome = _published(job, text)
    except ForgeError as error:
        msg = f"{job.place}: the comment could not be written: {error}"
        if required:
            raise Stop(msg) from None
        show(msg, "warning")
        return
    stdout().print(_MESSAGES[outcome].format(job.place), soft_wrap=True, markup=False)


def _texts(files: Sequence[Path]) -> list[str]:
    """Return the texts of ``files``, which belong to one comment."""
    texts = [_read(file) for file in files]
    for file, text in zip(files, texts, strict=True):
        if not marked(text):
            msg = (
                f"{file}:1: must be a marker that identifies the comment, such as <!-- jacquard impact -->; write the "
                f"file with: jacquard impact --format markdown > {file}"
            )
            raise Stop(msg, ExitCode.BAD_DATA)
        if (mark := _mark(text)) != _mark(texts[0]):
            msg = (
                f"{file}:1: must be {_mark(texts[0])}, as in {files[0]} (got {mark}); run 'jacquard comment' once for "
                "each comment"
            )
            raise Stop(msg, ExitCode.BAD_DATA)
    return texts


def _mark(text: str) -> str:
    return text.partition("\n")[0].rstrip()


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Stop(explained(error), ExitCode.BAD_DATA) from None


def _published(job: Pipeline, text: str) -> Outcome:
    if not job.token:
        msg = f"the job has no {job.token_variable}, like all jobs of forks; provide a token that may write comments"
        raise ForgeError(msg)
    return publish(job.open(job.token), Post(text=text, run=job.run))


def _show_on_page(text: str) -> None:
    """Append ``text`` to the summary page of the run, in GitHub Actions."""
    if page := os.environ.get(_SUMMARY):
        with Path(page).open("a", encoding="utf-8") as summary:
            summary.write(f"{text.rstrip()}\n")
