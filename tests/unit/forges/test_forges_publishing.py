"""A single comment, despite other comments, other runs, failures and rate limits at the forge."""

from __future__ import annotations

import threading

import pytest

from jacquard.forges.forge import ForgeError
from jacquard.forges.publishing import MOST_SECONDS, Outcome
from tests.support.forges.fake_forge import BOT, TOKEN, Answer
from tests.support.forges.forge_runs import Runs


def test_the_first_run_creates_a_comment_and_later_ones_write_over_it(runs: Runs) -> None:
    assert runs.write("1.1", "first") is Outcome.CREATED
    [first] = runs.forge.comments
    assert (first.author, first.body) == (BOT, "<!-- jacquard impact -->\n<!-- run 1.1 -->\nfirst")

    assert runs.write("2.1", "second\nline") is Outcome.UPDATED
    assert [one.number for one in runs.forge.comments] == [first.number]
    assert runs.shown == ["2.1: second line"]


def test_an_unchanged_comment_is_not_written_again(runs: Runs) -> None:
    runs.write("1.1", "first\nline  ")
    runs.write("2.1", "first\nline")
    written = runs.forge.requested("POST", "PATCH", "PUT")

    assert runs.write("2.1", "first\nline\n") is Outcome.UNCHANGED
    assert runs.forge.requested("POST", "PATCH", "PUT") == written


def test_a_run_is_recorded_even_with_the_result_of_the_previous_one(runs: Runs) -> None:
    runs.write("5.1", "blocked")
    assert runs.write("7.1", "blocked") is Outcome.UPDATED
    assert runs.write("6.1", "safe") is Outcome.OLDER
    assert runs.shown == ["7.1: blocked"]


@pytest.mark.parametrize(("older", "newer"), [("1.1", "2.1"), ("9.1", "10.1"), ("3.1", "3.2"), ("3.9", "4.1")])
def test_an_older_run_never_writes_over_a_newer_one(runs: Runs, older: str, newer: str) -> None:
    runs.write(newer, "new")

    assert runs.write(older, "old") is Outcome.OLDER
    assert runs.shown == [f"{newer}: new"]
    assert len(runs.forge.requested("POST", "PATCH", "PUT")) == 1


def test_the_comment_is_found_after_hundreds_of_others(runs: Runs) -> None:
    for number in range(250):
        runs.forge.add(f"remark {number}")
    runs.write("1.1", "first")
    for number in range(250, 300):
        runs.forge.add(f"remark {number}")

    assert runs.write("2.1", "second") is Outcome.UPDATED
    assert (len(runs.forge.comments), runs.shown) == (301, ["2.1: second"])


def test_as_many_comments_as_fill_pages_end(runs: Runs) -> None:
    for number in range(200):
        runs.forge.add(f"remark {number}")

    assert runs.write("1.1", "first") is Outcome.CREATED


def test_the_mark_in_comments_of_others_is_ignored(runs: Runs) -> None:
    copied = runs.forge.add("<!-- jacquard impact -->\n<!-- run 999.1 -->\nsafe to merge", author="mallory")
    runs.forge.add("> <!-- jacquard impact -->", author=BOT)
    runs.forge.add("<!-- jacquard preview -->\n<!-- run 999.1 -->\nanother", author=BOT)

    assert runs.write("1.1", "blocked") is Outcome.CREATED
    assert runs.write("2.1", "blocked still") is Outcome.UPDATED
    assert (copied.body.splitlines()[2], copied.edits, len(runs.forge.comments)) == ("safe to merge", 0, 4)


def test_a_mark_or_a_run_in_the_text_is_nothing_but_text(runs: Runs) -> None:
    runs.write("1.1", "<!-- run 999.1 -->\n<!-- jacquard impact -->\n<!-- run 999.1 -->\n```\n</details> @all \x1b[31m")

    assert runs.write("2.1", "second") is Outcome.UPDATED
    assert runs.shown == ["2.1: second"]


def test_a_comment_that_names_no_run_is_older_than_any(runs: Runs) -> None:
    runs.forge.add("<!-- jacquard impact -->\nby hand", author=BOT)

    assert runs.write("1.1", "first") is Outcome.UPDATED
    assert runs.shown == ["1.1: first"]


def test_two_runs_that_both_see_no_comment_end_with_one(runs: Runs) -> None:
    runs.forge.before("POST", lambda: runs.write("6.1", "new"))

    assert runs.write("5.1", "old") is Outcome.OLDER
    assert runs.shown == ["6.1: new"]


def test_of_two_parallel_first_runs_the_newer_comment_remains(runs: Runs) -> None:
    runs.forge.before("POST", lambda: runs.write("5.1", "old"))

    assert runs.write("6.1", "new") is Outcome.CREATED
    assert runs.shown == ["6.1: new"]


def test_a_comment_overwritten_by_an_older_run_is_written_again(runs: Runs) -> None:
    runs.write("1.1", "first")
    [comment] = runs.forge.comments

    def late(_: float) -> None:
        if comment.edits == 1:  # The older run had read before the newer one wrote, and writes only now.
            comment.body, comment.edits = "<!-- jacquard impact -->\n<!-- run 2.1 -->\nold", 2

    assert runs.write("3.1", "new", sleep=late) is Outcome.UPDATED
    assert runs.shown == ["3.1: new"]


def test_surplus_comments_are_deleted_and_the_newest_is_kept(runs: Runs) -> None:
    for run in ("3.1", "8.1", "5.1"):
        runs.forge.add(f"<!-- jacquard impact -->\n<!-- run {run} -->\nfrom {run}", author=BOT)

    assert runs.write("7.1", "late") is Outcome.OLDER
    assert runs.shown == ["8.1: from 8.1"]


def test_a_comment_that_another_run_deletes_first_is_no_fault(runs: Runs) -> None:
    first = runs.forge.add("<!-- jacquard impact -->\n<!-- run 3.1 -->\nfirst", author=BOT)
    runs.forge.add("<!-- jacquard impact -->\n<!-- run 4.1 -->\nsecond", author=BOT)
    runs.forge.before("DELETE", lambda: runs.forge.comments.remove(first))

    assert runs.write("5.1", "new") is Outcome.UPDATED
    assert runs.shown == ["5.1: new"]


def test_a_comment_that_vanishes_while_it_is_written_is_created_again(runs: Runs) -> None:
    first = runs.forge.add("<!-- jacquard impact -->\n<!-- run 3.1 -->\nfirst", author=BOT)
    for method in ("PATCH", "PUT"):
        runs.forge.before(method, lambda: runs.forge.comments.remove(first))

    assert runs.write("5.1", "new") is Outcome.CREATED
    assert runs.shown == ["5.1: new"]


def test_eight_parallel_runs_result_in_one_comment_of_the_newest(runs: Runs) -> None:
    together = threading.Barrier(8)

    def one(run: int) -> None:
        together.wait()
        runs.write(f"{run}.1", f"from {run}", sleep=lambda _: None)

    threads = [threading.Thread(target=one, args=(run,)) for run in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert runs.write("9.1", "last") in {Outcome.CREATED, Outcome.UPDATED}
    assert runs.shown == ["9.1: last"]


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408])
def test_a_temporary_failure_of_the_forge_is_retried(runs: Runs, status: int) -> None:
    for _ in range(2):
        runs.forge.answer("GET", Answer(status, "try again"))

    assert runs.write("1.1", "first") is Outcome.CREATED
    assert len(runs.waited) == 3
    assert all(0 < seconds < MOST_SECONDS for seconds in runs.waited)


def test_a_comment_whose_answer_was_lost_is_not_written_twice(runs: Runs) -> None:
    runs.forge.answer("POST", Answer(502, after=True))

    runs.write("1.1", "first")
    assert (runs.shown, runs.forge.requested("POST")) == (["1.1: first"], ["POST"])


def test_it_waits_as_long_as_the_forge_asks(runs: Runs) -> None:
    runs.forge.answer("POST", Answer(429, "slow down", {"Retry-After": "42"}))
    runs.forge.answer("POST", Answer(429, "slow down", {"Retry-After": "Sun, 22 Nov 2026 16:00:30 GMT"}))
    runs.forge.answer("POST", Answer(403, "API rate limit exceeded", {**_SPENT, "X-RateLimit-Reset": str(_NOW + 90)}))

    assert runs.write("1.1", "first") is Outcome.CREATED
    assert runs.waited[:3] == [42.0, 30.0, 90.0]


def test_a_rate_limit_without_an_end_lasts_a_minute(runs: Runs) -> None:
    runs.forge.answer("POST", Answer(403, "You have exceeded a secondary rate limit. Please wait a few minutes."))

    assert runs.write("1.1", "first") is Outcome.CREATED
    assert runs.waited[0] == 60.0


def test_another_run_that_writes_during_a_wait_is_detected(runs: Runs) -> None:
    runs.forge.answer("POST", Answer(429, "slow down", {"Retry-After": "42"}))

    def meanwhile(seconds: float) -> None:
        if seconds == 42.0:
            runs.write("6.1", "new")

    assert runs.write("5.1", "old", sleep=meanwhile) is Outcome.OLDER
    assert runs.shown == ["6.1: new"]


def test_a_wait_that_is_too_long_is_not_begun(github: Runs) -> None:
    github.forge.answer("GET", Answer(429, "slow down", {"Retry-After": "200"}))
    github.forge.answer("GET", Answer(429, "slow down", {"Retry-After": "101"}))

    with pytest.raises(ForgeError) as caught:
        github.write("1.1", "first")
    assert str(caught.value) == "GitHub answered 429 (slow down): too many requests; retry in 101 s"
    assert github.waited == [200.0]


def test_retries_at_a_failing_forge_are_limited(github: Runs) -> None:
    for _ in range(20):
        github.forge.answer("GET", Answer(502, "Bad Gateway"))

    with pytest.raises(ForgeError) as caught:
        github.write("1.1", "first")
    assert str(caught.value) == "GitHub answered 502 (Bad Gateway)"
    assert (len(github.waited), sum(github.waited) < MOST_SECONDS) == (5, True)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            Answer(403, "Resource not accessible by integration"),
            (
                "GitHub answered 403 (Resource not accessible by integration): the token may not write comments here, "
                "as in a fork; give the job a token with that right"
            ),
        ),
        (
            Answer(401, "Bad credentials"),
            "GitHub answered 401 (Bad credentials): the token is invalid or expired; give the job a valid token",
        ),
        (
            Answer(404, "Not Found"),
            (
                "GitHub answered 404 (Not Found): the pull request or comment does not exist, or the token has no "
                "access to it"
            ),
        ),
        (
            Answer(301, "Moved", {"Location": "http://127.0.0.1:1/"}),
            "GitHub answered 301 (Moved): is {address} the address of its API?",
        ),
        (
            Answer(422, f"odd \x1b[31m\n::error::{TOKEN} " + "x" * 300),
            "GitHub answered 422 (odd \\x1b[31m ::error::*** " + "x" * 174 + "...): a text of 47 "
            "bytes was rejected; publish long texts as an artefact",
        ),
    ],
    ids=["403", "401", "404", "301", "422"],
)
def test_permanent_errors_are_reported_immediately(github: Runs, answer: Answer, message: str) -> None:
    github.forge.answer("POST", answer)

    with pytest.raises(ForgeError) as caught:
        github.write("1.1", "first")
    assert str(caught.value) == message.format(address=github.forge.address)
    assert github.waited == []


def test_a_text_that_is_too_long_is_reported_with_its_size(github: Runs) -> None:
    with pytest.raises(ForgeError) as caught:
        github.write("1.1", "x" * 70_000)
    assert str(caught.value) == (
        "GitHub answered 422 (Body is too long (maximum is 65536 characters)): a text of 70,042 "
        "bytes was rejected; publish long texts as an artefact"
    )


_SPENT = {"X-RateLimit-Remaining": "0"}
_NOW = 1_795_363_200
"""The forge's own time, in seconds since 1970."""
