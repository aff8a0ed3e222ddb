"""A pull request from its first commit to the applied merge; only the forge is simulated."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jacquard.cli.errors import ExitCode
from jacquard.previews.attestations.attestation import FILE as STATEMENT
from jacquard.previews.attestations.signing import SUFFIX
from tests.support.data.repositories import COMMIT, git
from tests.support.forges.fake_forge import BOT, FakeForge, fake_forge
from tests.support.local_regions.local_region import ENVIRONMENT, JACQUARD, LocalRegion
from tests.support.local_regions.region_contents import changed, commit, machines, predicted
from tests.support.machine.outcome import Outcome

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER, POOL = "acme-train", "infer"
IMAGES = ("gpu-2026.11.1", "gpu-2026.10.2")
"""Images of the pool; the first one other than the current image is used."""
OTHERS_FILE = f"{ENVIRONMENT}/tenants/globex.yaml"


class PullRequest:
    """A branch of the region's repository, the folder of its preview, and the forge with its comment."""

    def __init__(self, region: LocalRegion, forge: FakeForge, folder: Path) -> None:
        """Create a branch of the applied commit, and an SSH key for its CI system."""
        self.region, self.forge, self.out, self.key = region, forge, folder / "preview", folder / "ci"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ci", "-f", self.key], check=True)
        (folder / "signers").write_text(f"ci@example {self.key.with_suffix('.pub').read_text()}")
        commit(region)
        self.git("branch", "-M", "main")
        self.git("checkout", "-q", "-B", "bump")

    def git(self, *arguments: str) -> str:
        return git(self.region.environments.parent, *arguments)

    def commit(self) -> None:
        self.git("add", self.region.environments.name)
        self.git(*COMMIT)

    def done(self, *command: str) -> str:
        outcome = self.region.jacquard(*command)
        assert outcome.code == 0, outcome.text
        return outcome.stdout

    def preview(self, run: str) -> str:
        """Preview the branch as a CI run does, and return the resulting comment of the forge."""
        self.done("preview", ENVIRONMENT, "--base", "main", "--out", str(self.out), "--sign", str(self.key))
        job = (f"{name}={value}" for name, value in self.forge.github(run=run).items())
        posted = self.region.run("env", *job, JACQUARD, "comment", str(self.out / "comment.md"), "--required")
        assert posted.code == 0, posted.text
        [comment] = (one for one in self.forge.comments if one.author == BOT)
        return comment.body

    def up(self) -> Outcome:
        """Apply the previewed changes only."""
        signers = str(self.key.with_name("signers"))
        return self.region.jacquard("up", ENVIRONMENT, "--preview", str(self.out), "--signers", signers)

    def refused(self) -> str:
        """Return the reason for which nothing is applied."""
        outcome = self.up()
        assert outcome.code == ExitCode.REFUSED, outcome.text
        assert f"{ENVIRONMENT}: differs from the preview in {self.out}, nothing was applied" in outcome.stderr
        return outcome.stderr


@pytest.fixture
def pull_request(running: LocalRegion, tmp_path: Path) -> Iterator[PullRequest]:
    if not shutil.which("ssh-keygen"):
        pytest.skip("NOT TESTED: a pull request from edit to apply, since there is no ssh-keygen to sign it")
    with fake_forge() as forge:
        forge.add("Looks good", author="ann")
        yield PullRequest(running, forge, tmp_path)


def test_a_pull_request_is_previewed_approved_merged_and_applied(pull_request: PullRequest) -> None:
    region, before = pull_request.region, machines(pull_request.region)
    [pool] = (one for one in region.status()["pools"] if (one["cluster"], one["name"]) == (CLUSTER, POOL))
    image = next(one for one in IMAGES if one not in pool["images"])

    # An edit, its comment, and a tenant without approval.
    pull_request.done("promote", ENVIRONMENT, f"{CLUSTER}/{POOL}", "--to", image)
    expected = predicted(region)
    pull_request.commit()
    comment = pull_request.preview(run="1.1")
    assert expected == {f"{CLUSTER}/{POOL}/a03": (4, 4)}
    assert comment.splitlines()[2] == "### Approval required from `acme`"
    assert "replaced: 4 nodes (32 GPUs) of `acme-train/infer`" in comment
    assert {STATEMENT, f"{STATEMENT}{SUFFIX}", "report.html"} <= {path.name for path in pull_request.out.iterdir()}
    assert "acme has not approved part " in pull_request.refused()

    # The tenant approves: the same comment states it.
    pull_request.done("approve", ENVIRONMENT, "acme", "--base", "main", "--by", "Ann")
    pull_request.commit()
    assert pull_request.preview(run="2.1").splitlines()[2] == "### Safe to apply: all checks passed"
    assert [(one.author, one.edits) for one in pull_request.forge.comments] == [("ann", 0), (BOT, 1)]

    # A commit after the preview is rejected even without effect, since it was not reviewed.
    region.edit(OTHERS_FILE, "tenant: globex\n", "tenant: globex   # a word\n")
    pull_request.commit()
    moved = pull_request.refused()
    assert f"  environments/{OTHERS_FILE}: was " in moved
    assert "has not approved" not in moved
    assert machines(region) == before
    pull_request.git("reset", "-q", "--hard", "HEAD~1")

    # The merge, another commit of the same files, equals the preview, and can be applied once.
    pull_request.git("checkout", "-q", "main")
    pull_request.git("merge", "-q", "--squash", "bump")
    pull_request.git(*COMMIT)
    applied = pull_request.up()
    assert applied.code == 0, applied.text
    assert f"the preview in {pull_request.out} is signed by ci@example" in applied.stderr
    assert changed(before, machines(region)) == expected
    assert f"  state of stack {ENVIRONMENT}: was " in pull_request.refused()
    again = pull_request.done("preview", ENVIRONMENT, "--base", "HEAD~1")
    assert f"{ENVIRONMENT}: no changes" in again
    assert again.endswith("  unchanged: nothing to apply\n")
