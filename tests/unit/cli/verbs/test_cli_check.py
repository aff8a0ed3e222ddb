"""``jacquard check``: all problems of all environments, in each output format, with stable exit codes."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.rules import checks
from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from policies.rules import RULES
from tests.support.checks.places import resolved
from tests.support.checks.sarif_log import place, sarif
from tests.support.data.environment_data import LAPTOP

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]


@pytest.mark.usefixtures("two")
def test_values_that_two_regions_must_not_share_are_reported_and_counted(invoke: Invoke) -> None:
    alone, together = invoke("check", "desk"), invoke("check", "desk", "laptop")

    assert alone.exit_code == ExitCode.OK, alone.output
    assert together.exit_code == ExitCode.BAD_DATA
    problems = together.stderr.count("\n  ") - together.stderr.count("\n  reported by ")
    assert problems > 0
    assert together.stdout.splitlines()[-1] == f"2 environments: 1 ok, {problems} problems, 2 waived"


def test_an_environment_that_is_named_twice_is_checked_once(invoke: Invoke) -> None:
    assert len(json.loads(invoke("check", "laptop", "laptop", "--format", "json").stdout)) == 1


OUTSIDE = "image_channel: candidate"
LAPTOP_HAS = (LAPTOP / "waivers.yaml").read_text(encoding="utf-8")
"""Waivers of laptop, one of which is needed."""
WAIVER = """  - {{rule: image-outside-channel, subject: {}, reason: a vendor's test, owner: ops, ticket: OPS-7,
     expires: 2026-12-15}}
"""


@pytest.fixture
def outside(data_folder: Path, edit: Edit) -> Path:
    """Laptop on a channel without the images of four of its rollout groups; its folder."""
    folder = data_folder / "laptop"
    edit(folder / "region.yaml", "image_channel: stable", OUTSIDE)
    waive(folder, "acme-train/system", "acme-train/train", "acme-train/infer")
    return folder


def waive(folder: Path, *pools: str) -> None:
    entries = "".join(WAIVER.format(pool) for pool in pools)
    (folder / "waivers.yaml").write_text(LAPTOP_HAS + entries)


def on(day: str) -> tuple[str, ...]:
    return ("check", "laptop", "--today", day)


def test_an_expired_image_is_rejected_except_in_a_local_region(invoke: Invoke) -> None:
    before, after = invoke(*on("2026-11-21")), invoke(*on("2027-11-21"))

    assert (before.exit_code, after.exit_code) == (ExitCode.OK, ExitCode.OK), before.output
    assert "advice" not in before.stdout
    assert (
        "  advice: deprecated-image: gpu-2026.11.1, expired since 2027-05-03 (environments/catalog/images.yaml); "
        "move the pool to another image with jacquard promote (3 objects, such as Metal3MachineTemplate globex-lab/"
    ) in after.stdout


def test_waived_violations_are_reported_with_reason_and_counted(invoke: Invoke, outside: Path) -> None:
    del outside
    result = invoke(*on("2026-12-14"))

    assert result.exit_code == ExitCode.OK, result.output
    first, *others = result.stdout.splitlines()
    beside = ("  out of date: ", "  isolation: ", "  waived: networks.unfiltered-hosts: ")
    lines = [line for line in others if not line.startswith(beside)]
    assert f", {len(RULES)} policies, 5 waived, " in first
    assert len(lines) == 2
    assert lines[1].startswith(
        "  waived: image-outside-channel: gpu-2026.10.2 (channel stable); a vendor's test (ops, OPS-7, until "
        "2026-12-15) (3 objects, such as Metal3MachineTemplate acme-train/acme-train-train-a01-"
    )


def test_an_expired_waiver_counts_as_a_violation(invoke: Invoke, outside: Path) -> None:
    del outside
    result = invoke(*on("2026-12-15"))

    assert result.exit_code == ExitCode.REFUSED
    assert result.stderr.splitlines()[0].startswith("laptop: 4 policy violations, ")
    assert result.stderr.count("  waiver:  void since 2026-12-15; fix the violation and remove the waiver from ") == 4


def test_a_waiver_without_a_match_is_reported(invoke: Invoke, data_folder: Path) -> None:
    waive(data_folder / "laptop", "acme-train/train")

    result = invoke(*on("2026-11-21"))

    assert result.exit_code == ExitCode.OK
    assert (
        "  advice: the waiver of image-outside-channel for acme-train/train matches no violation; remove it "
        "from environments/laptop/waivers.yaml"
    ) in result.stdout.splitlines()


def test_the_waiver_that_a_declared_image_requires_is_in_use(invoke: Invoke, data_folder: Path) -> None:
    tenant = data_folder / "laptop" / "tenants" / "acme.yaml"
    tenant.write_text(tenant.read_text().replace("image: channel ", "image: gpu-2026.12.0 "))
    required = "or add a waiver of image-outside-channel for acme-train/train to waivers.yaml"
    assert required in " ".join(invoke(*on("2026-11-21")).stderr.split())
    waive(data_folder / "laptop", "acme-train/train")

    result = invoke(*on("2026-11-21"))

    assert result.exit_code == ExitCode.OK, result.output
    assert "matches no violation" not in result.stdout


def test_json_contains_waived_violations_with_owner_and_unused_waivers(invoke: Invoke, outside: Path) -> None:
    waive(outside, "acme-train/system", "acme-train/train", "acme-train/infer", "globex-lab/lab")

    [answer] = json.loads(invoke(*on("2026-11-21"), "--format", "json").stdout)

    assert (answer["ok"], answer["violations"], answer["advice"], len(answer["waived"])) == (True, [], [], 4)
    assert answer["waived"][0]["waiver"] == {
        "rule": "image-outside-channel",
        "subject": "acme-train/system",
        "reason": "a vendor's test",
        "owner": "ops",
        "second_owner": None,
        "ticket": "OPS-7",
        "expires": "2026-12-15",
    }
    assert [item["subject"] for item in answer["idle_waivers"]] == ["globex-lab/lab"]


def test_sarif_suppresses_waived_results_and_warns_of_unused_waivers(invoke: Invoke, outside: Path) -> None:
    waive(outside, "acme-train/system", "acme-train/train", "acme-train/infer", "globex-lab/lab")

    *waived, idle = sarif(invoke(*on("2026-11-21"), "--format", "sarif"))

    justification = "a vendor's test (ops, OPS-7, until 2026-12-15)"
    *images, hosts = [(item["ruleId"], item["suppressions"]) for item in waived]
    assert images == [("image-outside-channel", [{"kind": "external", "justification": justification}])] * 4
    assert hosts[0] == "networks.unfiltered-hosts"
    assert (idle["ruleId"], idle["level"], "suppressions" in idle) == ("policies.idle-waiver", "warning", False)
    assert place(idle) == ("environments/laptop/waivers.yaml", len(LAPTOP_HAS.splitlines()) + 7)


def test_rules_that_do_not_exist_are_named_with_the_nearest_one(invoke: Invoke, data_folder: Path) -> None:
    folder = data_folder / "laptop"
    (folder / "policy.yaml").write_text("schema_version: 1\nrules:\n  unpined-image: advisory\n")
    unknown = WAIVER.format("a/b").replace("image-outside-channel", "host-beyond")
    (folder / "waivers.yaml").write_text(
        "schema_version: 1\nwaivers:\n" + unknown + LAPTOP_HAS.partition("waivers:\n")[2]
    )

    result = invoke("check", "laptop")

    assert result.exit_code == ExitCode.BAD_DATA
    rules = ", ".join(rule.name for rule in RULES)
    waivable = ", ".join((rules, "uniformity", *checks.waivable()))
    assert result.stderr == resolved(
        "environments/laptop: 2 problems\n"
        f"  policy.yaml:LINE   rules.unpined-image: 'unpined-image' is not a rule (rules: {rules}); remove it or pick "
        "one; did you mean 'unpinned-image'?\n"
        f"  waivers.yaml:LINE  waivers[0].rule: 'host-beyond' is not a rule (rules: {waivable}); remove it or pick "
        "one; did you mean 'host-beyond-identity'?\n"
        "  reported by policies.unknown-rule; for details: jacquard explain policies.unknown-rule\n",
        folder,
    )


def test_a_problem_with_a_misspelt_waiver_is_reported_at_the_waiver_only(invoke: Invoke, data_folder: Path) -> None:
    file = data_folder / "laptop" / "waivers.yaml"
    wrong = file.read_text().replace("rule: networks.unfiltered-hosts", "rule: network.unfiltered-host")
    file.write_text(wrong)

    misspelt = invoke("check", "laptop", "--format", "json")
    file.write_text(wrong.replace("globex", "acme"))
    another = invoke("check", "laptop", "--format", "json")

    assert [item["rule"] for item in json.loads(misspelt.stdout)[0]["problems"]] == ["policies.unknown-rule"]
    assert [item["rule"] for item in json.loads(another.stdout)[0]["problems"]] == [
        "networks.unfiltered-hosts",
        "policies.unknown-rule",
    ]


def test_production_may_not_make_a_critical_rule_advisory(invoke: Invoke, data_folder: Path) -> None:
    folder = data_folder / "lab"
    shutil.copytree(paths.ROOT / "environments" / "eu-south-03a", folder)
    region = folder / "region.yaml"
    region.write_text(region.read_text().replace("region: eu-south-03a", "region: lab"))
    (folder / "policy.yaml").write_text(
        "schema_version: 1\nrules:\n  unpinned-image: advisory\n  unsigned-image: advisory\n"
    )

    result = invoke("check", "lab", "--format", "json")

    [answer] = json.loads(result.stdout)
    [problem] = [item for item in answer["problems"] if item["file"] == "policy.yaml"]
    assert (problem["line"], problem["path"], problem["rule"]) == (3, "rules.unpinned-image", "policies.firm-rule")
    assert problem["text"] == (
        "must stay mandatory in production, since an unpinned image can change, so that two nodes of one pool "
        "would boot different software; remove it, and waive exceptions in waivers.yaml"
    )


def test_an_invalid_day_is_wrong_usage(invoke: Invoke) -> None:
    assert invoke("check", "laptop", "--today", "tomorrow").exit_code == ExitCode.BAD_DATA


def test_a_problem_names_the_rule_it_breaks(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "vpc: acme", "vpc: acmee")

    [answer] = json.loads(invoke("check", "laptop", "--format", "json").stdout)

    [problem] = answer["problems"]
    assert (problem["file"], problem["rule"]) == ("tenants/acme.yaml", "references.cluster-references")


def test_every_rule_describes_its_reports() -> None:
    texts = checks.descriptions()

    assert [name for name, text in texts.items() if not text] == []
    assert "locks.pins" in texts


def test_a_region_checked_separately_shares_no_machine_with_other_regions(
    invoke: Invoke, two: Path, edit: Edit
) -> None:
    for name in ("laptop", "desk"):
        edit(two / name / "region.yaml", "stage: rehearsal", "stage: development")
    hall = two / "desk" / "inventory" / "hall-a.csv"
    hall.write_text(re.sub(r",([A-Z]+26)", r",X\1", hall.read_text()).replace('"02:00', '"06:00'))
    edit(hall, ",XG26A0101,", ",g26a0102,")

    alone = {name: invoke("check", name).stderr for name in ("laptop", "desk")}

    rest = "but a machine is in one region; remove it from the other"
    desk = f"serial: 'G26A0102' is also in desk (../desk/inventory/hall-a.csv:<a01-u01>), {rest}"
    laptop = f"serial: 'g26a0102' is also in laptop (../laptop/inventory/hall-a.csv:<a01-u02>), {rest}"
    assert resolved(desk, two / "laptop") in alone["laptop"]
    assert resolved(laptop, two / "desk") in alone["desk"]
    assert [report.count("is also in") for report in alone.values()] == [1, 1], alone


def test_an_unreadable_inventory_of_another_region_is_left_to_its_own_check(
    invoke: Invoke, two: Path, edit: Edit
) -> None:
    edit(two / "laptop" / "region.yaml", "stage: rehearsal", "stage: development")
    edit(two / "desk" / "region.yaml", "stage: rehearsal", "stage: development")
    (two / "desk" / "inventory" / "hall-a.csv").write_bytes(b'rack,"\n\xff\0"')

    assert "../desk/inventory" not in invoke("check", "laptop").stderr
