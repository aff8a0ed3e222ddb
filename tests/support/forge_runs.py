"""Runs of a CI system that write the comment of one pull request, without ever waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fake_forge import FakeForge

from jacquard.forges.pipeline import pipeline
from jacquard.forges.publishing import Outcome, Post, publish

MARK = "<!-- jacquard impact -->"


@dataclass
class Runs:
    """Runs of a CI system that write to one pull request."""

    forge: FakeForge
    variables: Callable[..., dict[str, str]]
    waited: list[float] = field(default_factory=list)
    """Seconds of each wait, none of which was waited."""

    def write(self, run: str, text: str, *, sleep: Callable[[float], None] | None = None) -> Outcome:
        """Write ``text`` as this run does."""
        job = pipeline(self.variables(run=run))
        return publish(
            job.open(job.token), Post(text=f"{MARK}\n{text}", run=job.run), sleep=sleep or self.waited.append
        )

    @property
    def shown(self) -> list[str]:
        """Return what a reader sees of comments with the mark, with the run that each names."""
        found = [one.body.splitlines() for one in self.forge.comments if one.body.startswith(MARK)]
        return [f"{lines[1].split()[2]}: {' '.join(lines[2:])}" for lines in found]
