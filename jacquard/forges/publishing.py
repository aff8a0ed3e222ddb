"""Writes one comment repeatedly, identified by mark and author; an older run never overwrites a newer run.

No forge supports conditional writes of comments. The comment is therefore read immediately before each write and again
a moment later. If an older run has overwritten the comment, it is written again. Of several comments, the newest run's
comment is kept.
"""

import re
import time
from collections.abc import Callable
from enum import StrEnum

from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from components.specs.secret_text import masked_forms
from components.specs.struct import Struct
from jacquard.forges.forge import Busy, Comment, Forge, ForgeError, Gone

MOST_SECONDS = 300.0
"""Maximum total waiting time for a forge."""
_ATTEMPTS = 6
_ROUNDS = 5
"""Maximum number of writes of a comment that other runs keep overwriting."""
_SETTLE_SECONDS = 2.0
"""Delay between a write and the next read: longer than another run takes from its read to its write."""
_BACKOFF = wait_exponential_jitter(initial=1, max=30, jitter=1)
_MARK = re.compile(r"<!-- jacquard [a-z]+ -->")
_RUN = re.compile(r"<!-- run (\d{1,18}(?:\.\d{1,18})*) -->")

Run = tuple[int, ...]
"""Order of runs: number of the run, then number of the attempt."""


class Outcome(StrEnum):
    """Result for a comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    OLDER = "older"
    """A newer run has written the comment, so it was not changed."""


class Post(Struct):
    """Text of a comment.

    Args:
        text: starts with the mark, a line by which later runs find the comment.
        run: run that produced the text.
    """

    text: str
    run: Run

    @property
    def mark(self) -> str:
        """Return the first line."""
        return self.text.partition("\n")[0].rstrip()

    @property
    def body(self) -> str:
        """Return the text to write, with the run in an invisible second line, and with secrets masked."""
        _, _, rest = self.text.partition("\n")
        return f"{self.mark}\n<!-- run {'.'.join(map(str, self.run))} -->\n{masked_forms(rest)}"


def marked(text: str) -> bool:
    """Return whether ``text`` starts with a mark."""
    return _MARK.fullmatch(text.partition("\n")[0].rstrip()) is not None


def publish(forge: Forge, post: Post, *, sleep: Callable[[float], None] = time.sleep) -> Outcome:
    """Make ``post`` the only comment with its mark, unless a newer run has written it.

    Args:
        forge: the pull request.
        post: comment to write.
        sleep: waits for a number of seconds.

    Raises:
        ForgeError: the comment cannot be written.
    """
    retrying = _retrying(sleep)
    outcome = Outcome.UNCHANGED
    for _ in range(_ROUNDS):
        step = retrying(_converge, forge, post)
        if step is Outcome.UNCHANGED:
            return outcome
        if step is Outcome.OLDER:
            return step
        outcome = step if outcome is Outcome.UNCHANGED else outcome
        sleep(_SETTLE_SECONDS)
    msg = f"other runs keep writing the comment of {post.mark}; run one job at a time for each pull request"
    raise ForgeError(msg)


def _converge(forge: Forge, post: Post) -> Outcome:
    """Perform the next write towards a single comment of the newest run."""
    comments = sorted(
        (comment for comment in forge.own_comments() if _lines(comment.body)[0] == post.mark),
        key=lambda comment: (_run(comment), -comment.number),
    )
    for surplus in comments[:-1]:
        _delete(forge, surplus)
    if not comments:
        forge.create(post.body)
        return Outcome.CREATED
    newest = comments[-1]
    if _run(newest) > post.run:
        return Outcome.OLDER
    if _lines(newest.body) == _lines(post.body):
        return Outcome.UNCHANGED
    try:
        forge.update(newest.number, post.body)
    except Gone as gone:  # another run deleted it, or the token has no access to its own comment
        raise Busy(str(gone)) from None
    return Outcome.UPDATED


def _delete(forge: Forge, surplus: Comment) -> None:
    try:
        forge.delete(surplus.number)
    except Gone:
        return  # another run deleted it first


def _run(comment: Comment) -> Run:
    """Return the run that wrote a comment; a comment without a run sorts before all others."""
    second = _lines(comment.body)[1:2]
    match = _RUN.fullmatch(second[0]) if second else None
    return tuple(map(int, match[1].split("."))) if match else ()


def _lines(body: str) -> list[str]:
    """Return the lines of a body in comparable form, because forges change line ends."""
    return [line.rstrip() for line in body.strip().splitlines()] or [""]


def _retrying(sleep: Callable[[float], None]) -> Retrying:
    """Return the retry policy for rate-limited requests, bounded by total wait time."""
    waited = 0.0

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        requested = error.seconds if isinstance(error, Busy) else None
        return _BACKOFF(state) if requested is None else requested

    def enough(state: RetryCallState) -> bool:
        return state.attempt_number >= _ATTEMPTS or waited + state.upcoming_sleep > MOST_SECONDS

    def rest(seconds: float) -> None:
        nonlocal waited
        waited += seconds
        sleep(seconds)

    return Retrying(retry=retry_if_exception_type(Busy), wait=wait, stop=enough, sleep=rest, reraise=True)
