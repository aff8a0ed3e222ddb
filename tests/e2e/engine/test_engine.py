"""A region whose slices the Pulumi Kubernetes Operator applies, in a repository of a user with the real engine.

The operator is simulated and runs each slice as a local process, with the token of the slice's account against a real
API server that enforces roles. The tests run in the order of the file on one region: each depends on the state that the
previous one leaves.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.render.region.engine.operator import NAMESPACE
from jacquard.machine import paths
from jacquard.providers.kube import ApiServer, ObjectRef
from tests.support.local_regions.local_region import LocalRegion, deleted_at_exit, leftovers
from tests.support.local_regions.rejected_labels import RejectedLabels

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

NAME = "edge-1"
SLICES = {"inventory-a", "tenant-first", "cluster-first-train"}
REFUSED = "no labels today"
"""Message of a rejection that a preview does not see."""


class Repository(LocalRegion):
    """A user's repository with one region, whose slices an operator applies."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "regions"
        super().__init__(folder, NAME, self.root / "environments")
        for arguments in (("new", NAME, "--repository", str(self.root)), ("allocate", NAME)):
            assert self.jacquard(*arguments).code == 0
        (self.root / ".venv").symlink_to(paths.VENV)
        engine = "stacks: sliced\nengine: {kind: operator, repository: https://git.cloud.example/regions}\n"
        text = (self.environments / NAME / "region.yaml").read_text()
        [line] = (one for one in text.splitlines(keepends=True) if one.startswith("stacks:"))
        self.edit(f"{NAME}/region.yaml", line, engine)
        self.git("init", "-q")
        self.commit()

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.root), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self) -> str:
        """Commit all changes, and return the commit."""
        self.git("add", ".")
        self.git("commit", "-qm", "change")
        return self.git("rev-parse", "HEAD")

    def stacks(self) -> dict[str, dict[str, Any]]:
        """Return the Stacks of the operator by name."""
        return {item["metadata"]["name"]: item for item in self.api().list("pulumi.com/v1", "Stack")}

    def commits(self) -> dict[str, str]:
        """Return the last successful commit of each slice."""
        return {name: item["status"]["lastUpdate"]["lastSuccessfulCommit"] for name, item in self.stacks().items()}

    def may(self, account: str, verb: str, group: str, resource: str, namespace: str) -> bool:
        """Return whether the account of a slice has a permission."""
        attributes = {"verb": verb, "group": group, "resource": resource, "namespace": namespace}
        return _may(self.api(), f"system:serviceaccount:{NAMESPACE}:{account}", attributes)


def _may(api: ApiServer, user: str, attributes: dict[str, str]) -> bool:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": user, "resourceAttributes": attributes},
    }
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    return bool(api.request("POST", path, body=review)["status"]["allowed"])


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    local = Repository(tmp_path_factory.mktemp("engine"))
    with deleted_at_exit(local):
        yield local


def test_the_operator_applies_all_slices_at_the_commit_and_then_nothing(regions: Repository) -> None:
    head = regions.git("rev-parse", "HEAD")

    first = regions.jacquard("up", NAME, "--format", "json")
    second = regions.jacquard("up", NAME, "--format", "json")
    drift = regions.jacquard("drift", NAME)

    assert first.code == 0, first.text
    assert json.loads(first.stdout)["status"]["settled"] is True
    assert regions.commits() == dict.fromkeys(SLICES, head)
    assert second.code == 0, second.text
    assert [changes for changes in json.loads(second.stdout)["changes"].values() if changes] == []
    assert drift.code == 0, drift.text


def test_a_slice_has_no_rights_beyond_its_own(regions: Repository) -> None:
    deployments = ("cluster.x-k8s.io", "machinedeployments")

    assert regions.may("tenant-first", "patch", *deployments, "first-train")
    assert not regions.may("tenant-first", "patch", *deployments, "default")
    assert not regions.may("inventory-a", "patch", *deployments, "first-train")
    assert not regions.may("cluster-first-train", "patch", *deployments, "first-train")
    for account in sorted(SLICES):
        assert not regions.may(account, "list", "", "secrets", "first-train")
        assert not regions.may(account, "patch", "pulumi.com", "stacks", NAMESPACE)
        assert not regions.may(account, "create", "rbac.authorization.k8s.io", "rolebindings", NAMESPACE)


def test_uncommitted_data_are_not_applied(regions: Repository) -> None:
    regions.edit(f"{NAME}/tenants/first.yaml", "h100-ib-8, nodes: 4}", "h100-ib-8, nodes: 4, labels: {stage: one}}")

    outcome = regions.jacquard("up", NAME)

    assert outcome.code == 4, outcome.text
    assert (
        f"{NAME}: nothing was applied: environments/{NAME}/tenants/first.yaml differs from the commit" in outcome.stderr
    )


def test_a_rejected_slice_fails_the_run_and_the_next_run_tries_it_again(regions: Repository) -> None:
    before, head = regions.commits(), regions.commit()
    rejected = RejectedLabels(regions.api(), REFUSED, previews=False)
    rejected.start()

    failed = regions.jacquard("up", NAME)
    rejected.end()
    again = regions.jacquard("up", NAME)

    assert failed.code == 1, failed.text
    assert f"the operator could not apply {NAME}.tenant-first at {head[:12]}: " in failed.stderr
    assert REFUSED in failed.stderr
    assert again.code == 0, again.text
    assert "the operator has given up an earlier run of this commit" in again.stderr
    changed = {name for name, commit in regions.commits().items() if commit != before[name]}
    assert "tenant-first" in changed
    assert "inventory-a" not in changed


def test_a_lost_object_is_created_again_by_an_up_that_refreshes(regions: Repository) -> None:
    lost = ObjectRef("policy/v1", "PodDisruptionBudget", "first-train-control-plane", "first-train")
    regions.api().delete(lost)

    outcome = regions.jacquard("up", NAME, "--refresh")

    assert outcome.code == 0, outcome.text
    assert regions.api().get(lost) is not None


def test_down_leaves_nothing(regions: Repository) -> None:
    outcome = regions.jacquard("down", NAME)

    assert outcome.code == 0, outcome.text
    assert "removed anyway" not in outcome.stderr, outcome.text
    assert leftovers(regions) == []
