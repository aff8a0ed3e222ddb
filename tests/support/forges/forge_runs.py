"""CI runs that write the comment of one pull request, without real waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from jacquard.forges.pipeline import pipeline
from jacquard.forges.publishing import Outcome, Post, publish
from tests.support.forges.fake_forge import FakeForge

MARK = "<!-- jacquard impact -->"


@dataclass
class Runs:
    """CI runs that write to one pull request."""

    forge: FakeForge
    variables: Callable[..., dict[str, str]]
    waited: list[float] = field(default_factory=list)
    """Requested wait times in seconds; the test does not wait."""

    def write(self, run: str, text: str, *, sleep: Callable[[float], None] | None = None) -> Outcome:
        """Write ``text`` as this run."""
        job = pipeline(self.variables(run=run))
        return publish(
            job.open(job.token), Post(text=f"{MARK}\n{text}", run=job.run), sleep=sleep or self.waited.append
        )

    @property
    def shown(self) -> list[str]:
        """Return the visible text of comments with the marker, with the run that each names."""
        found = [one.body.splitlines() for one in self.forge.comments if one.body.startswith(MARK)]
        return [f"{lines[1].split()[2]}: {' '.join(lines[2:])}" for lines in found]
