"""The example on the page about orders equals the output of the command for the example data."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.docs.documents import DOCS

COMMAND = "$ jacquard place heron-train --dry-run\n"


def test_the_decision_on_the_page_is_that_of_the_command(
    invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = (DOCS / "region" / "orders.md").read_text(encoding="utf-8").partition(COMMAND)[2].partition("```")[0]
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(ENVIRONMENTS))
    monkeypatch.setenv("COLUMNS", "200")

    result = invoke("place", "heron-train", "--dry-run")

    assert result.exit_code == ExitCode.OK, result.output
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[-shown.count("\n") :] == shown.splitlines()
