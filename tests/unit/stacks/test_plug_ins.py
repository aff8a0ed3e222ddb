"""Plug-ins that wrote a stack last, by its record or by the form of its objects, and those that may continue."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from google.protobuf.json_format import MessageToDict
from pulumi.runtime.proto import provider_pb2

from jacquard.lab.toolchain.serving import PlugIn
from jacquard.machine import paths
from jacquard.machine.kind import Kind
from stacks import program, provider_record
from stacks.errors import StackError
from stacks.provider_migration import RECORD, others, refusal, writers
from tests.support.engine.recorded_states import older

STATES = paths.ROOT / "tests" / "support" / "engine" / "recorded_states"
VENDOR = {
    "kubernetes": PlugIn(kind=Kind.VENDOR, version="4.34.2"),
    "command": PlugIn(kind=Kind.VENDOR, version="1.2.1"),
}
STAND_INS = {name: PlugIn(kind=Kind.STAND_IN, version=one.version) for name, one in VENDOR.items()}


def resources(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return a state from before the record of plug-ins existed."""
    state = json.loads((STATES / f"{name}.json").read_text())
    return [(item["type"], item.get("outputs") or {}) for item in state["deployment"]["resources"]]


def note(**outputs: str) -> tuple[str, dict[str, Any]]:
    return RECORD, dict(outputs)


def test_a_state_without_a_record_is_identified_by_its_objects() -> None:
    assert writers(resources("stand_ins")) == {"kubernetes": PlugIn(kind=Kind.STAND_IN)}
    assert writers(resources("vendor")) == {"kubernetes": PlugIn(kind=Kind.VENDOR)}


def test_every_object_of_an_older_state_identifies_the_stand_ins() -> None:
    objects = older()

    assert len(objects) > 100
    for one in objects:
        assert writers([("kubernetes:core/v1:Any", one.outputs)]) == {"kubernetes": PlugIn(kind=Kind.STAND_IN)}


def test_a_state_completed_by_a_refresh_of_the_stand_ins_is_still_identified() -> None:
    completed = [
        (type_, outputs | {"__initialApiVersion": "v1", "__inputs": {}})
        for type_, outputs in resources("stand_ins")
        if type_.startswith("kubernetes:")
    ]

    assert writers(completed) == {"kubernetes": PlugIn(kind=Kind.STAND_IN)}


def test_an_unmanaged_object_of_the_vendors_does_not_hide_the_writer_of_others() -> None:
    bare = ("kubernetes:core/v1:ServiceAccount", {"__initialApiVersion": "v1", "metadata": {"name": "a"}})

    assert writers([bare, *resources("vendor")]) == {"kubernetes": PlugIn(kind=Kind.VENDOR)}


def test_components_identify_no_plug_ins() -> None:
    groups = [("kubernetes:yaml:ConfigFile", {"resources": {}}), ("kubernetes:kustomize/v2:Directory", {})]

    assert writers([*groups, *resources("vendor")]) == {"kubernetes": PlugIn(kind=Kind.VENDOR)}
    assert writers(groups) == {}


def test_a_state_of_both_is_the_stand_ins_whose_objects_the_vendors_provider_would_replace() -> None:
    mixed = [*resources("vendor"), *resources("stand_ins")]

    assert writers(mixed) == {"kubernetes": PlugIn(kind=Kind.STAND_IN)}


@pytest.mark.parametrize("state", [[], [("pulumi:pulumi:Stack", {})], [("command:local:Command", {"stdout": ""})]])
def test_a_state_without_objects_has_no_writer(state: list[tuple[str, dict[str, Any]]]) -> None:
    assert writers(state) == {}


def test_a_record_precedes_the_form_of_objects() -> None:
    resource = note(kubernetes="vendor 4.34.2", command="vendor 1.2.1")

    assert writers([*resources("stand_ins"), resource]) == VENDOR


def test_an_unknown_record_of_a_later_version_is_no_error() -> None:
    assert writers([note(kubernetes="somebody's 5.0.0", command="vendor 1.2.1")]) == {"command": VENDOR["command"]}


def test_another_version_of_the_same_kind_is_accepted() -> None:
    newer = VENDOR | {"kubernetes": PlugIn(kind=Kind.VENDOR, version="4.35.0")}

    assert others(VENDOR, newer) is None
    assert refusal("laptop", VENDOR, newer) is None


def test_another_kind_is_refused_with_both_ways_on() -> None:
    assert refusal("laptop.foundation", STAND_INS, VENDOR) == (
        "stack laptop.foundation was last written by the stand-ins (command 1.2.1, kubernetes 4.34.2), but the "
        "vendor's plug-ins would continue here and may replace unchanged objects; to continue with the former: "
        "JACQUARD_TOOLCHAIN=build jacquard up laptop (for plain pulumi: JACQUARD_TOOLCHAIN=build jacquard env laptop); "
        "to migrate, after a review: jacquard up laptop --migrate-providers vendor"
    )
    unrecorded = refusal("laptop", writers(resources("vendor")), STAND_INS)
    assert unrecorded is not None
    assert unrecorded.startswith("stack laptop was last written by the vendor's plug-ins, but the stand-ins would")
    assert "JACQUARD_TOOLCHAIN=vendor jacquard up laptop (" in unrecorded
    assert unrecorded.endswith("jacquard up laptop --migrate-providers stand-in")


def test_only_the_named_kind_takes_over() -> None:
    assert refusal("laptop", STAND_INS, VENDOR, migrate_to=Kind.VENDOR) is None
    assert refusal("laptop", STAND_INS, VENDOR, migrate_to=Kind.STAND_IN) is not None


def test_one_provider_of_another_kind_is_enough() -> None:
    assert others(STAND_INS, STAND_INS | {"command": VENDOR["command"]}) is Kind.VENDOR


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[tuple[str, dict[str, Any]]]], None]:
    """Serve the vendor's plug-ins, with the given state."""

    def state(found: list[tuple[str, dict[str, Any]]]) -> None:
        monkeypatch.setattr(provider_record, "serving", lambda: VENDOR)
        state = [provider_record.Resource(type_, "r", outputs) for type_, outputs in found]
        monkeypatch.setattr(provider_record, "_recorded", lambda _: iter(state))

    return state


@pytest.mark.parametrize(
    ("variable", "is_former"), [("JACQUARD_MIGRATE_PROVIDERS", False), ("JACQUARD_SWITCH_TO", True)]
)
def test_the_program_registers_nothing_of_a_stack_that_others_wrote(
    recorded: Any, run: Callable[..., list[Any]], monkeypatch: pytest.MonkeyPatch, variable: str, *, is_former: bool
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(provider_record.pulumi, "warn", warnings.append)
    recorded(resources("stand_ins"))
    for name in ("JACQUARD_MIGRATE_PROVIDERS", "JACQUARD_SWITCH_TO"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(StackError, match="last written by the stand-ins, but the vendor"):
        run(lambda: provider_record.keep("laptop"))

    monkeypatch.setenv(variable, "vendor")
    [made] = run(lambda: provider_record.keep("laptop"))
    assert warnings == ([f"{variable} is deprecated; use JACQUARD_MIGRATE_PROVIDERS"] if is_former else [])
    assert (made.type, made.inputs) == (RECORD, {"kubernetes": "vendor 4.34.2", "command": "vendor 1.2.1"})
    assert made.protect


def test_the_program_reads_its_own_stack_and_names_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    found = {"a": note(kubernetes="vendor 4.34.2"), "b": ("kubernetes:core/v1:Secret", {"data": {"x": "y"}})}

    class Monitor:
        def Invoke(self, request: Any) -> Any:  # noqa: N802 - named by the protocol
            asked.append({"tok": request.tok, **MessageToDict(request.args)})
            answer = provider_pb2.InvokeResponse()
            outputs = {urn: {"type": type_, "outputs": outputs} for urn, (type_, outputs) in found.items()}
            getattr(answer, "return").update({"outputs": outputs})
            return answer

    monkeypatch.setattr(provider_record, "get_monitor", Monitor)

    assert list(provider_record._recorded("laptop")) == [
        (RECORD, "a", {"kubernetes": "vendor 4.34.2"}),
        ("kubernetes:core/v1:Secret", "b", {"data": {"x": None}}),
    ]
    assert asked == [{"tok": "pulumi:pulumi:readStackResourceOutputs", "stackName": "laptop"}]


@pytest.mark.parametrize("stack", ["laptop", "laptop.bootstrap"])
def test_the_program_checks_before_any_registration_or_request(
    run: Callable[..., list[Any]], monkeypatch: pytest.MonkeyPatch, stack: str
) -> None:
    def refuse(name: str) -> None:
        message = f"{name}: others wrote it"
        raise StackError(message)

    monkeypatch.setattr(program, "keep", refuse)
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(paths.ROOT / "environments"))

    with pytest.raises(pulumi.RunError, match=f"^{stack}: others wrote it$"):
        run(program.run, stack=stack)
