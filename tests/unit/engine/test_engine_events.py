"""Event logs of the engine (pulumi 3.259, without debug messages).

They are of a small example, two commands in a component, except ``bump``: changes of a pool with another image.
"""

from __future__ import annotations

from jacquard.engine.events import plain
from jacquard.engine.urns import Urn
from tests.support.engine.fake_pulumi import replay

TRAIN_A = "urn:pulumi:toy::jacquard::jacquard:components:NodePool$command:local:Command::train-a"
TRAIN_B = "urn:pulumi:toy::jacquard::jacquard:components:NodePool$command:local:Command::train-b"


def test_a_create_counts_objects_and_neither_components_nor_providers() -> None:
    progress = replay("create")

    assert progress.changes == {"create": 2}
    assert progress.settled == 2
    assert (progress.finished, progress.preview, progress.awaited(), progress.failed) == (True, False, [], {})


def test_unfinished_operations_are_awaited_longest_first() -> None:
    begun = next(
        number
        for number in range(1, 20)
        if {str(item.urn) for item in replay("create", number).awaited()} == {"Command train-a", "Command train-b"}
    )

    awaited = replay("create", begun).awaited()

    assert [str(item.urn) for item in awaited] == ["Command train-a", "Command train-b"]
    assert [item.operation for item in awaited] == ["create", "create"]


def test_a_replacement_is_one_change_with_one_word() -> None:
    progress = replay("preview")

    assert progress.preview
    assert progress.done[TRAIN_A] == "update"
    assert progress.done[TRAIN_B] == "replace"
    assert progress.changes == {"update": 1, "replace": 1}


def test_a_retained_object_is_not_reported_as_deleted() -> None:
    progress = replay("bump")

    assert progress.changes == {"create": 2, "update": 1, "retain": 2}


def test_a_resource_belongs_to_its_component() -> None:
    progress = replay("preview")

    assert str(progress.component(TRAIN_A)) == "NodePool train"


def test_a_violation_is_kept_with_its_message_and_level() -> None:
    [violation] = replay("refused").refused

    assert violation.policy == "forbidden-word"
    assert violation.urn == Urn(TRAIN_A)
    assert violation.message == "No forbidden words.\nfound: forbidden\n  fix: say something else"


def test_errors_of_program_and_provider_are_kept_in_order() -> None:
    gate = [error.message for error in replay("gate").errors]
    fail = [(str(error.urn), error.message) for error in replay("fail").errors if error.urn.text]

    assert gate == [
        "waiting: stack toy has 1 missing prerequisite\n  control plane\nresume with: pulumi up -s toy",
        "an unhandled error occurred: the program ended with exit code 1",
    ]
    assert fail == [
        ("Command train-b", "the create command failed with exit code 3: echo b; exit 3\nits output:\nb"),
    ]
    assert replay("fail").failed == {TRAIN_B: "replace"}


def test_half_a_line_of_a_killed_engine_is_passed_over() -> None:
    progress = replay("create")
    progress.see('{"sequence": 60, "resOutpu', 99.0)

    assert progress.changes == {"create": 2}


def test_colour_directives_are_removed_from_messages() -> None:
    assert plain("<{%fg 1%}>error: <{%reset%}>no such kind") == "error: no such kind"


def test_a_state_that_was_not_written_is_known_also_from_a_run_that_calls_itself_succeeded() -> None:
    progress = replay("unrecorded")

    assert progress.finished
    assert progress.unrecorded
    assert not replay("fail").unrecorded
