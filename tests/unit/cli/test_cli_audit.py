"""``jacquard audit``: recorded state, live objects and past commits, judged by the current policies."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answering import Answering, answering
from fake_pulumi import FakePulumi
from recorded_region import Resource, exported, recorded_region
from repositories import COMMIT, committed, git
from result_formats import annotations, junit, valid_sarif
from typer.testing import Result

from components.specs.environment import Environment
from jacquard.cli.errors import ExitCode
from jacquard.observe import live_declared, observation
from jacquard.observe.observation import Observation
from jacquard.providers.kube import ApiError, KubeconfigError
from policies.rules import RULES

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
DAY = ("--today", "2026-11-21")
IMAGE = "spec.image"


@pytest.fixture
def recorded(laptop: Environment, pulumi: FakePulumi) -> list[Resource]:
    """The resources of laptop as the last up recorded them; a test may spoil them and calls `record`."""
    resources = copy.deepcopy(recorded_region(laptop))
    record(pulumi, resources)
    return resources


def record(pulumi: FakePulumi, resources: list[Resource], *others: str) -> None:
    pulumi.answer("stack export", stdout=exported(resources))
    pulumi.answer("stack ls", stdout=json.dumps([{"name": name} for name in ("laptop", *others)]))


def of_kind(resources: list[Resource], kind: str) -> Resource:
    return next(item for item in resources if item["type"].rsplit(":", 1)[-1] == kind)


def host(resources: list[Resource]) -> dict[str, Any]:
    """Return the first recorded host."""
    bodies = (body for item in resources for body in item.get("inputs", {}).get("members", {}).values())
    body: dict[str, Any] = next(body for body in bodies if body["kind"] == "BareMetalHost")
    return body


@pytest.mark.usefixtures("recorded")
def test_what_was_applied_from_sound_data_passes(invoke: Invoke, pulumi: FakePulumi) -> None:
    result = invoke("audit", "laptop", *DAY)

    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    assert result.stdout == "laptop: ok, 409 recorded objects in 1 stack\n"
    assert pulumi.verbs == ["stack ls --json", "stack export"]


def test_each_recorded_violation_is_refused_with_its_place(
    invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    spoiled = host(recorded)
    spoiled["spec"]["image"] = {"url": "https://images.example/x.raw"}
    del of_kind(recorded, "kubernetes")["inputs"]["clusterIdentifier"]
    of_kind(recorded, "MachineDeployment")["ignoreChanges"] = ["spec.replicas"]
    record(pulumi, recorded)

    result = invoke("audit", "laptop", *DAY)

    assert result.exit_code == ExitCode.REFUSED
    name = f"{spoiled['metadata']['namespace']}/{spoiled['metadata']['name']}"
    told = [line.strip() for line in result.stderr.splitlines()]
    assert told[0] == "laptop: 3 policy violations, 410 recorded objects in 1 stack"
    at = told.index(f"host-beyond-identity: BareMetalHost {name} in cluster management")
    assert told[at + 1].startswith("in:      recorded state, from environments/laptop/")
    assert told[at + 2] == f"found:   {IMAGE}"
    assert {line.partition(":")[0] for line in told} >= {"ignored-changes", "provider-without-cluster-identifier"}
    assert told[-1] == "refused: laptop: 3 policy violations in the recorded state"


def test_each_format_has_the_violation(invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]) -> None:
    host(recorded)["spec"]["image"] = {"url": "https://images.example/x.raw"}
    record(pulumi, recorded)

    outputs = {form: invoke("audit", "laptop", *DAY, "--format", form) for form in ("sarif", "junit", "github", "json")}

    assert {output.exit_code for output in outputs.values()} == {ExitCode.REFUSED}
    [logged] = valid_sarif(outputs["sarif"].stdout)
    assert (logged["ruleId"], logged["properties"]) == ("host-beyond-identity", {"source": "recorded state"})
    cases = {case.name: case.outcome for case in junit(outputs["junit"].stdout)}
    assert {name for name, outcome in cases.items() if outcome != "passed"} == {"host-beyond-identity"}
    assert cases.keys() == {str(rule.name) for rule in RULES}
    [noted] = annotations(outputs["github"].stdout)
    assert (noted.level, noted.title) == ("error", "host-beyond-identity")
    answer = json.loads(outputs["json"].stdout)
    assert (answer["decision"], answer["stacks"], answer["live"]) == ("refused", {"laptop": 409}, None)
    assert [item["rule"] for item in answer["results"]] == ["host-beyond-identity"]


def test_what_waits_for_its_deletion_or_is_only_read_is_not_judged(
    invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    template = of_kind(recorded, "Metal3MachineTemplate")
    for mark in ("delete", "external"):
        other = copy.deepcopy(template) | {"urn": f"{template['urn']}-{mark}", mark: True}
        other["inputs"]["spec"]["template"]["spec"]["image"] = {"url": "latest"}
        recorded.append(other)
    record(pulumi, recorded)

    assert invoke("audit", "laptop", *DAY).exit_code == ExitCode.OK


def test_a_secret_where_a_policy_reads_is_refused_as_undecided(
    invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    secret = of_kind(recorded, "kubernetes")["inputs"]["kubeconfig"]
    of_kind(recorded, "Metal3MachineTemplate")["inputs"]["spec"]["template"]["spec"]["image"] = secret
    record(pulumi, recorded)

    result = invoke("audit", "laptop", *DAY)

    assert result.exit_code == ExitCode.REFUSED
    assert "is unknown until apply, so the rule cannot decide" in result.stderr


def test_stacks_that_the_data_no_longer_declare_are_judged_too(
    invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    record(pulumi, recorded, "laptop.tenant-gone", "laptop.bootstrap", "other.tenant-acme")

    answer = json.loads(invoke("audit", "laptop", *DAY, "--format", "json").stdout)

    assert list(answer["stacks"]) == ["laptop", "laptop.tenant-gone"]
    assert {item["rule"] for item in answer["results"]} == {"duplicate-object"}
    assert all("of stack laptop, " in item["text"] for item in answer["results"])
    assert all("of stack laptop.tenant-gone\n" in item["text"] for item in answer["results"])


def test_stack_wide_policies_judge_all_recorded_objects_together(
    invoke: Invoke, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    template = of_kind(recorded, "Metal3MachineTemplate")
    record(pulumi, [item for item in recorded if item is not template])

    answer = json.loads(invoke("audit", "laptop", *DAY, "--format", "json").stdout)

    [found] = answer["results"]
    assert (found["rule"], found["source"], answer["decision"]) == ("missing-template", "recorded state", "refused")
    assert template["inputs"]["metadata"]["name"] in found["text"]


def test_a_region_that_was_never_applied_is_no_success(invoke: Invoke, pulumi: FakePulumi) -> None:
    record(pulumi, [])

    result = invoke("audit", "laptop", *DAY)

    assert (result.exit_code, result.stdout) == (ExitCode.FAILED, "")
    assert result.stderr == (
        "error: laptop: no stack has a recorded state, so there is nothing to audit; run 'jacquard up laptop' first, or"
        " correct state.backend in region.yaml\n"
    )


def test_a_stack_that_was_never_applied_is_named(
    invoke: Invoke, data_folder: Path, pulumi: FakePulumi, recorded: list[Resource]
) -> None:
    region = data_folder / "laptop" / "region.yaml"
    text = region.read_text()
    sliced = text.replace("stacks: whole", "stacks: sliced")
    region.write_text(sliced if "stacks:" in text else f"{text}stacks: sliced\n")
    record(pulumi, [])
    pulumi.answer("stack export", stack="laptop.foundation", stdout=exported(recorded))
    missing = "error: no stack named 'laptop.tenant-acme' found"
    pulumi.answer("stack export", stack="laptop.tenant-acme", stderr=missing, code=255)

    result = invoke("audit", "laptop", *DAY)

    assert result.exit_code == ExitCode.OK
    assert "  never applied: laptop.tenant-acme\n" in result.stdout


def test_wrong_policy_settings_are_data_errors(invoke: Invoke, data_folder: Path) -> None:
    (data_folder / "laptop" / "policy.yaml").write_text("schema_version: 1\nrules: {no-such-rule: mandatory}\n")

    result = invoke("audit", "laptop", "--format", "junit")

    assert result.exit_code == ExitCode.BAD_DATA
    assert [(case.name, case.outcome) for case in junit(result.stdout)] == [("policies.unknown-rule", "failed")]


@pytest.fixture
def servers(laptop: Environment, seen: Observation, monkeypatch: pytest.MonkeyPatch) -> dict[str, Answering]:
    """API servers that have all declared objects; a cluster that a test removes is unreachable."""
    found = answering(laptop)
    monkeypatch.setattr(observation, "observe", lambda *_, **__: seen)

    def connect(_: Environment, cluster: str) -> Answering:
        if cluster not in found:
            msg = "no route"
            raise KubeconfigError(msg)
        return found[cluster]

    original = live_declared.live_objects
    monkeypatch.setattr(live_declared, "live_objects", lambda spec, kinds: original(spec, kinds, connect))
    return found


@pytest.mark.usefixtures("recorded")
def test_live_objects_as_declared_pass(invoke: Invoke, servers: dict[str, Answering]) -> None:
    assert servers

    result = invoke("audit", "laptop", *DAY, "--live")

    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    assert result.stdout.startswith("laptop: ok, 409 recorded objects in 1 stack, ")
    assert result.stdout.endswith(" live objects, 0 nodes\n")


def live_host(servers: dict[str, Answering]) -> dict[str, Any]:
    objects = servers["management"].objects
    return next(body for (kind, *_), body in objects.items() if kind == "BareMetalHost")


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(("manager", "code"), [("kubectl-edit", ExitCode.REFUSED), ("capm3", ExitCode.OK)])
def test_a_field_that_a_person_set_is_judged_and_that_of_a_controller_is_not(
    invoke: Invoke, servers: dict[str, Answering], manager: str, code: ExitCode
) -> None:
    body = live_host(servers)
    body["spec"]["image"] = {"url": "https://images.example/x.raw"}
    fields = {"f:spec": {"f:image": {"f:url": {}}}}
    body["metadata"]["managedFields"].append({"manager": manager, "operation": "Update", "fieldsV1": fields})

    result = invoke("audit", "laptop", *DAY, "--live")

    assert result.exit_code == code, result.output
    assert ("live objects, from environments/laptop/" in result.stderr) == (code is ExitCode.REFUSED)


@pytest.mark.usefixtures("recorded")
def test_a_declared_field_is_judged_with_its_live_value(invoke: Invoke, servers: dict[str, Answering]) -> None:
    live_host(servers)["spec"]["bmc"]["address"] = "redfish+http://10.1.1.1/redfish/v1/Systems/1"

    result = invoke("audit", "laptop", *DAY, "--live", "--format", "sarif")

    assert result.exit_code == ExitCode.REFUSED
    assert [(item["ruleId"], item["properties"]["source"]) for item in valid_sarif(result.stdout)] == [
        ("plain-text-bmc", "live objects")
    ]


@pytest.mark.usefixtures("recorded")
def test_what_cannot_be_read_is_unknown_and_no_success(invoke: Invoke, servers: dict[str, Answering]) -> None:
    servers["management"].refused["BareMetalHost"] = ApiError(403, "Forbidden", "no")
    del servers["globex-lab"]

    result = invoke("audit", "laptop", *DAY, "--live")

    assert result.exit_code == ExitCode.UNREACHABLE
    assert "  not read: cluster globex-lab: no route\n" in result.stdout
    assert "  not read: cluster management, BareMetalHost: " in result.stdout


NODE = {
    "metadata": {
        "name": "x1",
        "labels": {
            "node-restriction.kubernetes.io/pool": "train",
            "node-restriction.kubernetes.io/failure-domain": "a01",
        },
    },
    "spec": {},
    "status": {"nodeInfo": {"kernelVersion": "6.8.0-1-generic"}},
}
WAIVER = """
  - {rule: uniformity, subject: acme-train/x1, reason: a test, owner: ops, ticket: OPS-1, expires: EXPIRES}
"""


@pytest.mark.usefixtures("recorded", "servers")
@pytest.mark.parametrize(("expires", "level"), [("", "warning"), ("2026-12-01", "notice"), ("2026-11-20", "warning")])
def test_a_node_that_differs_from_its_pool_is_advice_unless_it_is_waived(
    invoke: Invoke, data_folder: Path, seen: Observation, expires: str, level: str
) -> None:
    seen.objects["acme-train", "Node"] = [NODE]
    if expires:
        waivers = data_folder / "laptop" / "waivers.yaml"
        waivers.write_text(waivers.read_text().rstrip("\n") + WAIVER.replace("EXPIRES", expires))

    command = ("audit", "laptop", *DAY, "--live", "--format")
    text, notes = invoke(*command, "text"), invoke(*command, "github")

    assert (text.exit_code, notes.exit_code) == (ExitCode.OK, ExitCode.OK)
    assert ", 1 node" in text.stdout
    [noted] = annotations(notes.stdout)
    assert (noted.level, noted.title, noted.file) == (level, "uniformity", "environments/laptop/tenants/acme.yaml")
    value = "kernel is 6.8.0-1, but the data require 6.8.0-84"
    assert noted.message.endswith(f"acme-train/x1 of pool acme-train/train: {value}; replace or repair the node")


POLICY = "schema_version: 1\nregistries: [registry.elsewhere.example]\n"


def commit(data_folder: Path, message: str) -> str:
    git(data_folder.parent, "add", "environments")
    git(data_folder.parent, *COMMIT[:-1], message)
    return git(data_folder.parent, "rev-parse", "--short=9", "HEAD")


def test_history_names_each_change_that_a_rule_would_have_stopped(
    data_folder: Path, invoke: Invoke, edit: Edit
) -> None:
    committed(data_folder)
    tenant, policy = data_folder / "laptop" / "tenants" / "acme.yaml", data_folder / "laptop" / "policy.yaml"
    edit(tenant, "vpc: acme", "vpc: acmee")
    first = commit(data_folder, "misspell a VPC")
    edit(tenant, "# ", "# note: ")
    commit(data_folder, "edit a comment, which changes nothing")
    edit(tenant, "vpc: acmee", "vpc: acme")
    commit(data_folder, "correct the VPC")
    policy.write_text(POLICY)
    last = commit(data_folder, "allow another registry only")

    result = invoke("audit", "laptop", "--history", "HEAD~4..HEAD")
    answer = json.loads(invoke("audit", "laptop", "--history", "HEAD~4..HEAD", "--format", "json").stdout)

    assert result.exit_code == ExitCode.OK, result.output
    heads = [line for line in result.stdout.splitlines() if not line.startswith("  ")]
    assert [line.split()[0] for line in heads] == [first, last, "laptop:"]
    assert heads[-1] == "laptop: 4 changes, 2 would have been stopped"
    assert "  references.cluster-references: tenants/acme.yaml:" in result.stdout
    assert "  unlisted-registry: " in result.stdout
    rules = [{item["rule"] for item in change["stopped"]} for change in answer["changes"]]
    assert rules == [{"references.cluster-references"}, set(), set(), {"unlisted-registry"}]


def test_history_says_which_commits_this_version_cannot_read(data_folder: Path, invoke: Invoke, edit: Edit) -> None:
    region = data_folder / "laptop" / "region.yaml"
    edit(region, "stage:", "former_key: x\nstage:")
    committed(data_folder)
    edit(region, "former_key: x", "former_key: y")
    commit(data_folder, "edit data of an earlier format")
    edit(region, "former_key: y\n", "")
    commit(data_folder, "write the current format")

    result = invoke("audit", "laptop", "--history", "HEAD~2..")

    assert result.exit_code == ExitCode.OK
    assert "\n  not judged: this version cannot read the data: region.yaml:" in result.stdout
    assert result.stdout.endswith("laptop: 2 changes, 0 would have been stopped, 1 not judged\n")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--live",), "--live: has no meaning with --history, which judges data only; omit one of them"),
        (
            ("--format", "sarif"),
            "--format sarif: --history has only text and json, because lines of past commits differ; write json",
        ),
        ((), "--history: git could not find the repository of the environments: "),
    ],
)
def test_history_refuses_what_it_cannot_do(invoke: Invoke, options: tuple[str, ...], text: str) -> None:
    result = invoke("audit", "laptop", "--history", "a..b", *options)

    assert result.exit_code == ExitCode.BAD_DATA
    assert text in result.stderr
