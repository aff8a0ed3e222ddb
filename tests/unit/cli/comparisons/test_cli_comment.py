"""``jacquard comment``: text for readers, and exit codes and outputs for CI jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from jacquard.cli.views.changes.impact_comment import comment as impact_comment
from jacquard.cli.views.changes.markdown import LIMIT_BYTES
from jacquard.cli.views.changes.preview_comment import comment as preview_comment
from jacquard.forges import publishing
from tests.support.forges.fake_forge import BOT, TOKEN, Answer, FakeForge, fake_forge

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]


@pytest.fixture
def forge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeForge]:
    """A forge with this process as its job."""
    monkeypatch.setattr(publishing, "_SETTLE_SECONDS", 0.0)
    monkeypatch.delenv("GITLAB_CI", raising=False)
    with fake_forge() as forge:
        for name, value in {**forge.github(run="12.1"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}.items():
            monkeypatch.setenv(name, value)
        yield forge


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "impact.md"
    file.write_text("<!-- jacquard impact -->\n### No running workload is disrupted\n")
    return file


def test_a_comment_is_created_then_updated_and_never_by_an_older_run(
    invoke: Invoke, forge: FakeForge, text: Path
) -> None:
    results = [invoke("comment", str(text), "--run", run) for run in ("12.1", "12.1", "14.1", "13.1")]

    assert [one.exit_code for one in results] == [ExitCode.OK] * 4
    assert [one.stdout for one in results] == [
        "acme/regions#7: comment created\n",
        "acme/regions#7: comment unchanged\n",
        "acme/regions#7: comment updated\n",
        "acme/regions#7: comment of a newer run left unchanged\n",
    ]
    [comment] = forge.comments
    assert comment.author == BOT
    assert comment.body.splitlines() == [
        "<!-- jacquard impact -->",
        "<!-- run 14.1 -->",
        "### No running workload is disrupted",
    ]


@pytest.mark.parametrize("write", [impact_comment, preview_comment])
def test_the_text_of_a_comment_begins_with_a_mark(write: Callable[[list[Any]], str]) -> None:
    assert publishing.marked(write([]))


def test_a_rejected_comment_is_a_warning_and_the_page_of_the_run_has_the_text(
    invoke: Invoke, forge: FakeForge, text: Path, tmp_path: Path
) -> None:
    forge.answer("POST", Answer(403, f"Resource not accessible, {TOKEN}"))
    result = invoke("comment", str(text))

    assert (result.exit_code, result.stdout) == (ExitCode.OK, "")
    assert result.stderr == (
        "warning: acme/regions#7: the comment could not be written: GitHub answered 403 (Resource not accessible, "
        "***): the token may not write comments here, as in a fork; give the job a token with that right\n"
    )
    assert (tmp_path / "summary").read_text() == text.read_text()


def test_an_exit_code_is_returned_on_request(invoke: Invoke, forge: FakeForge, text: Path) -> None:
    forge.answer("POST", Answer(403, "Resource not accessible"))
    result = invoke("comment", str(text), "--required")

    assert result.exit_code == ExitCode.FAILED
    assert result.stderr.startswith("error: acme/regions#7: the comment could not be written: GitHub answered 403")


def test_a_job_of_a_fork_has_no_token_and_sends_no_request(
    invoke: Invoke, forge: FakeForge, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "")
    monkeypatch.delenv("GH_TOKEN", raising=False)
    result = invoke("comment", str(text))

    assert result.exit_code == ExitCode.OK
    assert result.stderr == (
        "warning: acme/regions#7: the comment could not be written: the job has no GITHUB_TOKEN, like all jobs of "
        "forks; provide a token that may write comments\n"
    )
    assert forge.headers == []


def test_an_unreachable_forge_is_a_warning(
    invoke: Invoke, text: Path, forge: FakeForge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "MOST_SECONDS", 0.0)
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("GITHUB_GRAPHQL_URL", "http://127.0.0.1:9/graphql")
    result = invoke("comment", str(text))

    assert (result.exit_code, forge.headers) == (ExitCode.OK, [])
    assert result.stderr == (
        "warning: acme/regions#7: the comment could not be written: GitHub cannot be reached at http://127.0.0.1:9: "
        "[Errno 111] Connection refused\n"
    )


@pytest.mark.usefixtures("forge")
def test_a_file_without_a_mark_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "comment.md"
    file.write_text("### Impact\n<!-- jacquard impact -->\n")
    result = invoke("comment", str(file))

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == (
        f"error: {file}:1: must be a marker that identifies the comment, such as <!-- jacquard impact -->; write "
        f"the file with: jacquard impact --format markdown > {file}\n"
    )


@pytest.fixture
def previews(tmp_path: Path) -> list[Path]:
    """Comments of three regions, the first of which has a long list."""
    files = [tmp_path / name for name in ("one.md", "two.md", "three.md")]
    long = "".join(f"- host {number}\n" for number in range(6000))
    for file, lines in zip(files, (long, "- few\n", "- few\n"), strict=True):
        details = f"\n<details><summary>hosts</summary>\n\n{lines}\n</details>\n"
        file.write_text(f"<!-- jacquard preview -->\n### Safe: {file.stem}\n{details}")
    return files


def test_the_files_of_several_regions_are_one_comment(invoke: Invoke, forge: FakeForge, previews: list[Path]) -> None:
    assert invoke("comment", *map(str, previews[1:])).exit_code == ExitCode.OK

    [comment] = forge.comments
    assert comment.body.count("<!-- jacquard preview -->") == 1
    assert [line for line in comment.body.splitlines() if line.startswith(("###", "- few"))] == [
        "### Safe: two",
        "- few",
        "### Safe: three",
        "- few",
    ]
    assert "omitted" not in comment.body


def test_verdicts_are_kept_if_the_files_are_too_long_together(
    invoke: Invoke, forge: FakeForge, previews: list[Path]
) -> None:
    assert invoke("comment", *map(str, previews)).exit_code == ExitCode.OK

    [comment] = forge.comments
    verdicts = [line for line in comment.body.splitlines() if line.startswith("###")]
    assert verdicts == ["### Safe: one", "### Safe: two", "### Safe: three"]
    assert comment.body.count("<details>") == comment.body.count("</details>") == 2
    assert "1 section omitted (size limit of comments); the files of this run contain all." in comment.body
    assert len(comment.body.encode()) < LIMIT_BYTES


@pytest.mark.usefixtures("forge")
def test_files_of_two_comments_are_refused(invoke: Invoke, text: Path, previews: list[Path]) -> None:
    result = invoke("comment", str(text), str(previews[1]))

    assert (result.exit_code, result.stdout) == (ExitCode.BAD_DATA, "")
    assert result.stderr == (
        f"error: {previews[1]}:1: must be <!-- jacquard impact -->, as in {text} (got <!-- jacquard preview -->); run "
        "'jacquard comment' once for each comment\n"
    )


def test_a_file_that_is_not_there_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("comment", str(tmp_path / "comment.md"))

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == f"error: {tmp_path}/comment.md: no such file or directory\n"


@pytest.mark.usefixtures("forge")
def test_a_job_of_no_pull_request_is_refused(
    invoke: Invoke, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_REF", "refs/heads/main")
    result = invoke("comment", str(text))

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr == (
        "error: no pull request: missing variables: GITHUB_REF as refs/pull/NUMBER/merge; or pass --pull-request\n"
    )
    assert not (tmp_path / "summary").exists()
