"""Pull request of a CI job, determined from its variables only."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from jacquard.forges.pipeline import PipelineError, pipeline
from tests.support.forges.fake_forge import TOKEN, FakeForge


@pytest.mark.parametrize(
    ("change", "place", "run"),
    [
        ({}, "acme/regions#7", (12, 2)),
        ({"GITHUB_REF": "refs/pull/8/head"}, "acme/regions#8", (12, 2)),
        ({"GITHUB_RUN_ATTEMPT": ""}, "acme/regions#7", (12, 1)),
    ],
)
def test_github_variables_identify_the_pull_request(
    forge: FakeForge, change: Mapping[str, str], place: str, run: tuple[int, ...]
) -> None:
    job = pipeline({**forge.github(run="12.2"), **change})

    assert (job.place, job.run, job.token) == (place, run, TOKEN)


def test_a_pipeline_of_a_fork_is_for_the_merge_request_of_the_other_project(forge: FakeForge) -> None:
    more = {"CI_PROJECT_ID": "99", "CI_MERGE_REQUEST_PROJECT_ID": "5", "CI_MERGE_REQUEST_PROJECT_PATH": "acme/regions"}
    job = pipeline({**forge.gitlab(run="12.3456"), **more})

    assert (job.place, job.run) == ("acme/regions!7", (12, 3456))
    job.open(job.token).create("text")
    assert forge.requests == [("POST", "/projects/5/merge_requests/7/notes")]


def test_options_complement_variables(forge: FakeForge) -> None:
    job = pipeline({**forge.github(), "GITHUB_REF": "refs/heads/main"}, pull_request=9, run="5")

    assert (job.place, job.run) == ("acme/regions#9", (5,))


def test_a_job_without_a_token_is_one(forge: FakeForge) -> None:
    job = pipeline({**forge.github(), "GITHUB_TOKEN": ""})

    assert (job.token, job.token_variable) == ("", "GITHUB_TOKEN")


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {},
            (
                "no pull request: neither GitHub Actions nor GitLab CI runs this; elsewhere set the GitHub Actions "
                "variables GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_GRAPHQL_URL, GITHUB_REF, GITHUB_RUN_NUMBER, "
                "GITHUB_TOKEN"
            ),
        ),
        (
            {"GITHUB_REPOSITORY": "acme/regions", "GITHUB_REF": "refs/heads/main"},
            (
                "no pull request: missing variables: GITHUB_RUN_NUMBER, GITHUB_REF as refs/pull/NUMBER/merge; or "
                "pass --pull-request"
            ),
        ),
        (
            {"GITLAB_CI": "true", "CI_PROJECT_ID": "5"},
            "no pull request: missing variables: CI_API_V4_URL, CI_MERGE_REQUEST_IID, CI_PIPELINE_IID",
        ),
    ],
    ids=["nowhere", "github", "gitlab"],
)
def test_all_missing_values_are_reported_together(variables: Mapping[str, str], message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        pipeline(variables)
    assert str(caught.value) == message


@pytest.mark.parametrize("run", ["", "x", "1.", "-1", "1" * 40, "1\n2"])
def test_a_run_is_a_number(forge: FakeForge, run: str) -> None:
    with pytest.raises(PipelineError) as caught:
        pipeline(forge.github(), run=run)
    assert str(caught.value) == f"--run '{run}': must be a number; write 12, or 12.1 with the attempt after the dot"
