"""A region that does not exist has the same exit code with every verb that reads it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from jacquard.cli.panels import VERBS
from tests.support.engine.fake_pulumi import FakePulumi

Invoke = Callable[..., Result]

READ: dict[str, list[tuple[str, ...]]] = {
    "status": [()],
    "facts": [(), ("--metrics", "http://127.0.0.1:1")],
    "drift": [()],
    "gc": [(), ("--dry-run",)],
    "audit": [(), ("--live",)],
    "logs": [(), ("apiserver",), ("--follow",)],
    "reconcile-hosts": [(), ("--write",)],
    "show": [("enrolment", "--live"), ("health", "--live"), ("uniformity", "--live")],
}
"""Arguments after the environment with which each verb reads the region."""
NOT_READ = {
    "up": "creates the region",
    "preview": "previews the creation of the region",
    "down": "removes the region, so an absent one is the result",
    "fleet": "reports data",
    "backstage": "reports data",
    "place": "edits data",
    "campaign": "edits data; facts of clusters come from files",
    "impact": "compares data; facts of clusters come from a file",
    "comment": "reads a file",
    "approve": "edits data",
    "env": "prints variables for a region that may be created later",
    "new": "edits data",
    "check": "judges data",
    "explain": "describes rules",
    "render": "renders data",
    "allocate": "edits data",
    "rehearse": "copies data",
    "host": "edits data",
    "promote": "edits data; evidence comes from a file",
    "migrate": "edits data",
    "upgrade": "edits data",
    "schema": "describes data",
    "inventory": "edits data",
    "setup": "needs no region",
    "doctor": "needs no region",
}
"""Verbs that read no region, and why."""
CASES = [(verb, arguments) for verb, forms in READ.items() for arguments in forms]


def test_each_verb_is_in_a_table() -> None:
    assert sorted([*READ, *NOT_READ]) == sorted(VERBS)


@pytest.mark.usefixtures("pulumi")
@pytest.mark.parametrize(("verb", "arguments"), CASES, ids=[" ".join([verb, *more]) for verb, more in CASES])
def test_an_absent_region_is_unreachable(
    invoke: Invoke, pulumi: FakePulumi, verb: str, arguments: tuple[str, ...]
) -> None:
    pulumi.answer("stack ls", stdout="[]")

    result = invoke(verb, "laptop", *arguments)

    assert result.exit_code == ExitCode.UNREACHABLE, result.output
    assert any(line.startswith("unreachable: ") for line in result.stderr.splitlines())


@pytest.mark.parametrize("arguments", [("drift",), ("gc",), ("reconcile-hosts",), ("show", "enrolment", "--live")])
def test_an_absent_region_without_an_answer_is_an_error_in_json(invoke: Invoke, arguments: tuple[str, ...]) -> None:
    verb, *more = arguments

    result = invoke(verb, "laptop", *more, "--format", "json")

    document = json.loads(result.stdout)
    assert result.exit_code == ExitCode.UNREACHABLE
    assert document.get("unread") or document["error"]["code"] == "unreachable"
