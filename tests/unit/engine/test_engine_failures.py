"""Selection of the errors that contain the cause of a failure, from recorded events."""

from __future__ import annotations

from jacquard.engine.failures import causes, unmet_gate
from tests.support.engine.fake_pulumi import replay


def test_consequential_errors_are_no_cause() -> None:
    errors = replay("fail").errors

    assert [str(error.urn) for error in causes(errors)] == ["Command train-b"]
    assert len(errors) > 1
    assert unmet_gate(errors) is None


def test_an_unmet_gate_names_the_prerequisites() -> None:
    assert unmet_gate(replay("gate").errors) == (
        "stack toy has 1 missing prerequisite\n  control plane\nresume with: pulumi up -s toy"
    )
