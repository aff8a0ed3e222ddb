"""Writes one comment over and over: found by its mark and its author, and never an older run over a newer one.

No forge writes a comment only if nobody else did meanwhile. So it is read right before each writing and again a moment
after: what an older run wrote over is written again, and of several comments the newest run's stays.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from jacquard.forges.forge import Busy, Comment, Forge, ForgeError, Gone

MOST_SECONDS = 300.0
"""Longest that a run waits for a forge, all waits together."""
_ATTEMPTS = 6
_ROUNDS = 5
"""How often a comment is written before it is given up that others write it, too."""
_SETTLE_SECONDS = 2.0
"""How long after a writing it is read again: longer than another run takes from reading to writing."""
_BACKOFF = wait_exponential_jitter(initial=1, max=30, jitter=1)
_MARK = re.compile(r"<!-- jacquard [a-z]+ -->")
_RUN = re.compile(r"<!-- run (\d{1,18}(?:\.\d{1,18})*) -->")

Run = tuple[int, ...]
"""Which of two runs is the newer one: the number of the run, then that of the attempt."""


class Outcome(StrEnum):
    """What became of a comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    OLDER = "older"
    """A newer run has written it, so that it was left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A text that is to stand in a comment.

    Args:
        text: begins with its mark, a line of its own by which later runs find it.
        run: the run that found it.
    """

    text: str
    run: Run

    @property
    def mark(self) -> str:
        """Return the first line."""
        return self.text.partition("\n")[0].rstrip()

    @property
    def body(self) -> str:
        """Return what is written: the text, with the run in a second line that nobody sees."""
        _, _, rest = self.text.partition("\n")
        return f"{self.mark}\n<!-- run {'.'.join(map(str, self.run))} -->\n{rest}"


def marked(text: str) -> bool:
    """Tell whether ``text`` begins with a mark by which a comment can be found again."""
    return _MARK.fullmatch(text.partition("\n")[0].rstrip()) is not None


def publish(forge: Forge, post: Post, *, sleep: Callable[[float], None] = time.sleep) -> Outcome:
    """Make ``post`` the one comment of its mark, unless a newer run has written it.

    Args:
        forge: the pull request.
        post: what to write.
        sleep: waits for a number of seconds.

    Raises:
        ForgeError: it cannot be written.
    """
    patience = _patience(sleep)
    outcome = Outcome.UNCHANGED
    for _ in range(_ROUNDS):
        found = patience(_converge, forge, post)
        if found is Outcome.UNCHANGED:
            return outcome
        if found is Outcome.OLDER:
            return found
        outcome = found if outcome is Outcome.UNCHANGED else outcome
        sleep(_SETTLE_SECONDS)
    msg = f"other runs keep writing the comment of {post.mark}; let one run at a time of a pull request write it"
    raise ForgeError(msg)


def _converge(forge: Forge, post: Post) -> Outcome:
    """Bring what is there one writing nearer to one comment of the newest run."""
    found = sorted(
        (one for one in forge.own_comments() if _lines(one.body)[0] == post.mark),
        key=lambda one: (_run(one), -one.number),
    )
    for surplus in found[:-1]:
        _delete(forge, surplus)
    if not found:
        forge.create(post.body)
        return Outcome.CREATED
    newest = found[-1]
    if _run(newest) > post.run:
        return Outcome.OLDER
    if _lines(newest.body) == _lines(post.body):
        return Outcome.UNCHANGED
    try:
        forge.update(newest.number, post.body)
    except Gone as gone:  # another run deleted it, unless the token may not see what it wrote itself
        raise Busy(str(gone)) from None
    return Outcome.UPDATED


def _delete(forge: Forge, surplus: Comment) -> None:
    try:
        forge.delete(surplus.number)
    except Gone:
        return  # another run saw the same and was first


def _run(comment: Comment) -> Run:
    """Return the run that wrote a comment; before all others when it does not say."""
    second = _lines(comment.body)[1:2]
    found = _RUN.fullmatch(second[0]) if second else None
    return tuple(map(int, found[1].split("."))) if found else ()


def _lines(body: str) -> list[str]:
    """Return the lines of a body in the one form in which two can be compared: forges change what ends a line."""
    return [line.rstrip() for line in body.strip().splitlines()] or [""]


def _patience(sleep: Callable[[float], None]) -> Retrying:
    """Return what asks a busy forge again, as long as all waits together are bearable."""
    waited = 0.0

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        said = error.seconds if isinstance(error, Busy) else None
        return _BACKOFF(state) if said is None else said

    def enough(state: RetryCallState) -> bool:
        return state.attempt_number >= _ATTEMPTS or waited + state.upcoming_sleep > MOST_SECONDS

    def rest(seconds: float) -> None:
        nonlocal waited
        waited += seconds
        sleep(seconds)

    return Retrying(retry=retry_if_exception_type(Busy), wait=wait, stop=enough, sleep=rest, reraise=True)
