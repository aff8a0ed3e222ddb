"""Context of a stack: the data of its environment, or a context that allows nothing if the data is unavailable."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from policies.facts import Context
from policies.pack.analyzer import context_of

NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize("stack", ["laptop", "laptop.tenant-acme"])
def test_a_stack_is_evaluated_with_its_environment(stack: str) -> None:
    context = context_of(stack, NOW, dry_run=True)

    assert (context.stack, context.environment, context.channel) == (stack, "laptop", "stable")
    assert context.dry_run


@pytest.mark.parametrize("stack", ["catalog", "nowhere", "nowhere.tenant-acme"])
def test_a_stack_of_no_environment_allows_nothing(stack: str) -> None:
    assert context_of(stack, NOW, dry_run=False) == Context(stack=stack, now=NOW)


def test_data_that_cannot_be_read_allows_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "region.yaml").write_text("region: broken\n")
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(tmp_path))

    assert context_of("broken.foundation", NOW, dry_run=False) == Context(stack="broken.foundation", now=NOW)
