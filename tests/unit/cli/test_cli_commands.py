"""Commands from the perspective of users: exit codes, exact texts, and no unrequested files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.region.policy import Enforcement
from jacquard.cli.errors import ExitCode
from jacquard.cli.verbs.env import exports
from jacquard.machine import paths
from policies import Judgement, Violation
from policies.facts import Fact
from policies.rules import RULES
from policies.verdict import violation
from tests.support.checks.places import resolved
from tests.support.data.environment_data import LAPTOP

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
VERBS = (
    "up",
    "preview",
    "down",
    "status",
    "logs",
    "env",
    "check",
    "render",
    "allocate",
    "promote",
    "doctor",
    "gc",
    "show",
    "migrate",
    "upgrade",
    "schema",
)
TODAY = ("--today", "2026-11-21")
"""Fixed day, since images of the data expire."""


def test_help_names_all_verbs_and_the_exit_codes(invoke: Invoke) -> None:
    result = invoke("--help")

    assert result.exit_code == 0
    assert all(f" {verb} " in result.output for verb in VERBS)
    text = " ".join(result.output.split())
    assert "Exit codes: 0 ok, 1 failed, 2 wrong usage or data, 3 waiting for a gate, 4 refused by a policy" in text
    assert "5 confirmation required, 6 drift, 7 cluster unreachable, 70 bug in Jacquard, 130 interrupted." in text


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(invoke: Invoke, verb: str) -> None:
    result = invoke(verb, "--help")

    assert result.exit_code == 0
    assert f"Usage: jacquard {verb}" in result.output.replace("root", "jacquard")


def test_the_version_is_that_of_the_package(invoke: Invoke) -> None:
    assert invoke("--version").output == "jacquard 0.1.0\n"


@pytest.mark.parametrize(
    "verb", ["up", "preview", "down", "status", "logs", "env", "allocate", "check", "show", "migrate"]
)
def test_an_unknown_environment_is_named_with_the_nearest_one(invoke: Invoke, verb: str) -> None:
    result = invoke(verb, "latpop")

    assert result.exit_code == 2
    assert result.stderr == "error: environment 'latpop' is unknown (known: laptop); did you mean 'laptop'?\n"


def test_an_environment_like_no_other_is_refused_with_the_remedy(invoke: Invoke, data_folder: Path) -> None:
    result = invoke("status", "moon")

    assert result.exit_code == 2
    assert result.stderr == (
        "error: environment 'moon' is unknown (known: laptop); "
        f"an environment is a folder of {data_folder} with a region.yaml\n"
    )


def test_check_prints_one_line_for_each_environment(invoke: Invoke) -> None:
    result = invoke("check", *TODAY)

    assert result.exit_code == 0, result.output
    line, waived, isolation, behind = result.stdout.splitlines()
    assert line.startswith("laptop: ok, ")
    assert f" objects, {len(RULES)} policies, 1 waived, " in line
    assert waived.startswith("  waived: networks.unfiltered-hosts: ")
    assert "add a waiver" not in waived, "the remedy is not repeated for what is accepted"
    assert isolation == resolved(
        "  isolation: dpf-ovn is a tech preview, which upstream does not recommend for production"
        " (NVIDIA/doca-platform:docs/public/user-guides/zero-trust/use-cases/vpc); VPC globex"
        " (tenants/globex.yaml:<vpcs.globex.isolation>)",
        LAPTOP,
    )
    assert behind == resolved(
        "  out of date: acme-train/train and 1 more: image is gpu-2026.10.2, data has gpu-2026.11.1"
        " (../catalog/images.yaml:<images.gpu-2026.11.1>); to update: jacquard promote laptop acme-train/train",
        LAPTOP,
    )


def test_check_answers_as_data(invoke: Invoke) -> None:
    [answer] = json.loads(invoke("check", "laptop", *TODAY, "--format", "json").stdout)

    lists = ["problems", "warnings", "existing", "violations", "advice", "waived", "waived_checks", "idle_waivers"]
    notes = ["behind", "control_planes_behind", "unmet_contracts", "ended_contracts", "caveats"]
    notes += ["large_canaries", "overdue_hosts", "secrets", "unused"]
    assert list(answer) == ["environment", "ok", "objects", "policies", "seconds", "results", *lists, *notes]
    assert [(item["isolation"], item["isolates_hosts"]) for item in answer["caveats"]] == [("dpf-ovn", True)]
    assert [item["pool"] for item in answer["behind"]] == ["acme-train/train", "acme-train/infer"]
    assert answer["behind"][0]["differences"] == [
        {
            "field": "image",
            "pinned": "gpu-2026.10.2",
            "data": "gpu-2026.11.1",
            "where": resolved("../catalog/images.yaml:<images.gpu-2026.11.1>", LAPTOP),
        }
    ]
    assert (answer["environment"], answer["ok"]) == ("laptop", True)
    found = {name: [one["rule"] for one in answer[name]] for name in lists}
    assert {name: rules for name, rules in found.items() if rules} == {"waived_checks": ["networks.unfiltered-hosts"]}


def test_check_reports_all_problems_together(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "laptop" / "region.yaml", "image_channel: stable", "image_channels: stable")
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "nodes: 10", "nodes: none")

    result = invoke("check")

    assert result.exit_code == 2
    assert result.stdout == ""
    report = result.stderr.splitlines()
    assert report[0].startswith("environments/laptop: ")
    assert any("region.yaml" in line and "image_channels" in line for line in report)
    assert any("tenants/acme.yaml" in line and "nodes" in line for line in report)


def test_check_without_environments_names_the_searched_folder(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(tmp_path / "nowhere"))

    result = invoke("check")

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: {tmp_path / 'nowhere'} contains no environment; an environment is a folder with a region.yaml\n"
    )


def test_policy_violations_exit_with_4_and_nothing_is_applied(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULES[0]
    fact = Fact(kind="Machine", title="Machine a/b of cluster management", body={})
    found = Violation(
        rule=rule,
        fact=fact,
        finding=violation(found="f", allowed="a", fix="x"),
        level=Enforcement.MANDATORY,
        environment="laptop",
    )
    for asker in ("jacquard.cli.verbs.check", "jacquard.cli.runs.policy_gate"):
        monkeypatch.setattr(f"{asker}.judge", lambda *_, **__: Judgement(refused=(found,)))

    check, up = invoke("check", "laptop", *TODAY), invoke("up", "laptop")

    assert (check.exit_code, up.exit_code) == (4, 4)
    assert check.stderr.startswith("laptop: 1 policy violation, ")
    assert f"  {rule.name}: Machine a/b of cluster management\n    found:   f\n" in check.stderr
    assert up.stderr == f"refused: laptop: 1 policy violation, nothing was applied\n{found}\n"


@pytest.mark.parametrize(
    "arguments", [("env", "laptop"), ("down", "laptop"), ("render", "laptop", "--out", "FILE/out")]
)
def test_operating_system_errors_are_one_line(
    invoke: Invoke, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("JACQUARD_HOME", str(file / "home"))
    monkeypatch.setenv("JACQUARD_TOOLCHAIN", "build")

    result = invoke(*(argument.replace("FILE", str(file)) for argument in arguments))

    assert result.exit_code == 1
    [line] = result.stderr.splitlines()
    assert line.startswith(f"error: {file}/")
    assert line.endswith(": not a directory")


def test_an_invalid_setting_is_reported_before_any_action(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_SPEED", "fast")
    monkeypatch.setenv("JACQUARD_CLUSTER", "banana")

    result = invoke("up", "laptop")

    assert result.exit_code == 2
    assert result.stderr == (
        "error: JACQUARD_CLUSTER: 'banana' is unknown; write kwok, kind or context:NAME\n"
        "JACQUARD_SPEED: 'fast' is not a number above 0; write 1 for the declared durations, 10 for a tenth\n"
    )


@pytest.mark.parametrize("redirections", ["| head -n 1", ">&-", "2>&-", ">&- 2>&- <&-"])
def test_a_closed_output_is_no_crash(redirections: str) -> None:
    program = "from jacquard.cli.app import main; main()"
    script = f'"$0" -c "{program}" check laptop {" ".join(TODAY)} --format json {redirections}'

    done = subprocess.run(
        ["bash", "-c", script, sys.executable], cwd=paths.ROOT, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_allocate_has_no_changes_if_the_lock_files_match(invoke: Invoke) -> None:
    result = invoke("allocate", "laptop", "--check")

    assert (result.exit_code, result.output) == (0, "laptop: everything is allocated, nothing to change\n")


def test_promote_to_an_unknown_image_writes_nothing(invoke: Invoke, data_folder: Path) -> None:
    before = (data_folder / "laptop" / "images.lock.yaml").read_text()

    result = invoke("promote", "laptop", "acme-train/train", "--to", "gpu-9999")

    assert result.exit_code == 2
    assert result.stderr.startswith("error: --to gpu-9999: is not declared in ../catalog/images.yaml (declared: ")
    assert (data_folder / "laptop" / "images.lock.yaml").read_text() == before


def test_status_of_a_missing_region_names_the_command_to_create_it(invoke: Invoke) -> None:
    result = invoke("status", "laptop")

    text = "unreachable: laptop: 3 clusters cannot be read, so the state is unknown\n"
    assert (result.exit_code, result.stderr) == (ExitCode.UNREACHABLE, text)
    assert "laptop: not settled" in result.stdout
    assert result.stdout.endswith("no cluster is reachable; start the region with: jacquard up laptop\n")


def test_status_of_a_region_that_is_not_there_is_data_as_well(invoke: Invoke) -> None:
    answer = json.loads(invoke("status", "laptop", "--format", "json").stdout)

    assert answer["settled"] is False
    assert set(answer["unreachable"]) == {"management", "acme-train", "globex-lab"}


def test_exports_are_quoted_for_the_shell() -> None:
    wild = {"PLAIN": "/a/b", "WILD": 'it\'s $HOME `id` "x"\nsecond line; exit 1 #'}
    script = exports(wild) + 'printf "%s\\0%s" "$PLAIN" "$WILD"'

    shown = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)

    assert shown.stdout.split("\0") == list(wild.values())


def test_env_prints_the_variables_of_the_toolchain(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {"PULUMI_HOME": "/a b", "KUBECONFIG": "/k"}
    monkeypatch.setattr("jacquard.lab.toolchain.environment.engine", lambda name, backend_url: variables)  # noqa: ARG005 - its signature

    assert invoke("env", "laptop").stdout == "export PULUMI_HOME='/a b'\nexport KUBECONFIG=/k\n"
    assert json.loads(invoke("env", "laptop", "--format", "json").stdout) == variables
