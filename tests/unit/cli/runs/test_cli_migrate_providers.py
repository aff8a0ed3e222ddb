"""Confirmation in ``up`` and ``preview`` for stacks that other provider plug-ins wrote."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from typer.testing import Result

from tests.support.changes.planned_steps import deleted, replaced
from tests.support.engine.fake_pulumi import FakePulumi

Invoke = Callable[..., Result]
LOST = (replaced("Secret", "a", namespace="n"), deleted("Namespace", "operators"))


@pytest.mark.parametrize("verb", ["up", "preview"])
@pytest.mark.parametrize("wrote", [{"kubernetes": "stand-in 4.34.2"}, {}], ids=["recorded", "before records"])
def test_other_plug_ins_than_those_that_wrote_a_stack_do_not_go_on_with_it(
    invoke: Invoke, pulumi: FakePulumi, verb: str, wrote: dict[str, str]
) -> None:
    pulumi.record(**wrote)

    result = invoke(verb, "laptop")

    assert result.exit_code == 5
    assert "was last written by the stand-ins" in result.stderr
    assert result.stderr.endswith("jacquard up laptop --migrate-providers vendor\n")
    assert pulumi.runs == []


OPTION, SETTING = "--migrate-providers", "JACQUARD_MIGRATE_PROVIDERS"
FORMER = {"--switch-to": OPTION, "JACQUARD_SWITCH_TO": SETTING}


@pytest.mark.parametrize("name", [OPTION, SETTING, *FORMER])
def test_a_stack_is_migrated_by_a_refresh_and_a_plan_first(
    invoke: Invoke, pulumi: FakePulumi, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pulumi.record(kubernetes="stand-in 4.34.2")
    pulumi.plan(*LOST)
    option = (name, "vendor") if name.startswith("--") else ()
    if not option:
        monkeypatch.setenv(name, "vendor")

    result = invoke("up", "laptop", *option)

    assert result.exit_code == 5
    warnings = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
    assert warnings == ([f"warning: {name} is deprecated; use {FORMER[name]}"] if name in FORMER else [])
    note = "note: laptop.bootstrap: provider migration to the vendor's plug-ins, which first refresh the state"
    assert note in result.stderr
    assert pulumi.runs == ["refresh laptop.bootstrap", "preview laptop.bootstrap"]


@pytest.mark.parametrize("name", [SETTING, "JACQUARD_SWITCH_TO"])
def test_an_unknown_kind_of_plug_ins_is_refused(invoke: Invoke, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "vendors")

    result = invoke("up", "laptop")

    assert result.exit_code == 2
    assert result.stderr == f"error: {name}: 'vendors' is unknown; write vendor or stand-in\n"
