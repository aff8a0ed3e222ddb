"""``jacquard impact`` in a repository: against a commit, as text and data, with another library, and errors."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.rollout import repair
from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from tests.support.checks.places import resolved
from tests.support.data.delegations import two_regions
from tests.support.data.repositories import COMMIT, committed, git

Invoke = Callable[..., Result]
SUMMARY = (
    "disrupts 10 nodes, 80 GPUs, 1 tenant; at most 2 unavailable at a time; duration unknown without nodes.durations; "
    "needs approval of acme"
)
VERDICT = "replaced: 10 nodes (80 GPUs) of acme-train/train"


@pytest.fixture
def repository(data_folder: Path) -> Path:
    """A repository whose only commit has the data."""
    return committed(data_folder)


def test_a_promotion_is_reported_with_nodes_cause_and_preserved_data(repository: Path, invoke: Invoke) -> None:
    invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--all")
    commit = git(repository, "rev-parse", "HEAD")[:9]

    text = re.sub(r"part [0-9a-f]{12}\b", "part DIGEST", invoke("impact", "laptop").stdout)
    expected = [
        f"laptop: {commit} -> work tree",
        f"  {SUMMARY}",
        f"  {VERDICT}",
        (
            "  occupied by jobs: unknown; no facts; collect them with 'jacquard facts laptop --out FILE' and pass "
            "--facts FILE"
        ),
        "",
        "effect    on     part                        tenant  when     count  GPUs  unavailable  spares left  duration",
        "replaced  nodes  acme-train/train, 2 groups  acme    at once     10    80            2       1 of 1   unknown",
        "",
        "acme-train/train, 2 groups: nodes",
        (
            "  caused by images.lock.yaml:LINE groups.acme-train/train/a01: gpu-2026.10.2@ed2b84974a393e93 -> "
            "gpu-2026.11.1@e06e131809d7e64e"
        ),
        (
            "  and by images.lock.yaml:LINE groups.acme-train/train/a02: gpu-2026.10.2@ed2b84974a393e93 -> "
            "gpu-2026.11.1@e06e131809d7e64e"
        ),
        (
            "  replaced: MachineDeployment spec.template.spec.version, spec.template.spec.bootstrap.configRef.name, "
            "spec.template.spec.infrastructureRef.name, such as management/acme-train/acme-train-train-a01"
        ),
        "    Cluster API replaces every Machine of the group, within maxSurge and maxUnavailable.",
        "",
        "tenants:",
        ("  acme: platform@acme.example must approve part DIGEST; at least 12 of 14 contracted h100-ib-8 available"),
        "",
        (
            "4 objects retained: Metal3MachineTemplate management/acme-train/acme-train-train-a01-cb7141bdfa, "
            "KubeadmConfigTemplate management/acme-train/acme-train-train-a01-d43d9ee633, "
            "Metal3MachineTemplate management/acme-train/acme-train-train-a02-862f7cb42e, "
            "KubeadmConfigTemplate management/acme-train/acme-train-train-a02-d43d9ee633"
        ),
        "",
        "pending promotions:",
        "  acme-train/infer (image), before this change: jacquard promote laptop acme-train/infer --to data",
        "",
        f"next: jacquard approve laptop acme --base {commit}",
    ]
    assert text.splitlines() == [resolved(line, repository / "laptop") for line in expected]


def with_durations(repository: Path) -> None:
    region = repository / "laptop" / "region.yaml"
    steps = "{drain_minutes: 10, deprovision_minutes: 5, boot_minutes: 15, join_minutes: 5}"
    region.write_text(f"{region.read_text()}  durations: {steps}\n", encoding="utf-8")


def test_recorded_durations_of_the_region_estimate_the_time(repository: Path, invoke: Invoke) -> None:
    with_durations(repository)
    invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--all")

    text = invoke("impact", "laptop").stdout
    [found] = json.loads(invoke("impact", "laptop", "--format", "json").stdout)

    assert "at most 2 unavailable at a time; longest 2 h 55 min; needs approval of acme" in text
    assert "1 of 1  2 h 55 min" in text  # Five nodes in sequence, 35 minutes each
    assert "\n  duration: plus the time until running jobs end\n" in text
    rolls = [row["roll"] for row in found["rows"] if row["roll"]]
    assert [(roll["minutes"], roll["minutes_most"], roll["gpu_hours"]) for roll in rolls] == [(175, None, 23.3)] * 2

    tenant = repository / "laptop" / "tenants" / "acme.yaml"
    tenant.write_text(tenant.read_text(encoding="utf-8").replace("strategy: idle, ", ""), encoding="utf-8")
    # At most 85 minutes for each node, if a drain takes its full hour.
    longest = "\n  duration: at most 7 h 05 min, if each drain takes its maximum time\n"
    assert longest in invoke("impact", "laptop").stdout


def test_a_batch_beyond_the_limit_of_a_controller_is_provisioned_in_turns(
    repository: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repair, "PROVISIONED_AT_ONCE", 1)
    with_durations(repository)
    invoke("promote", "laptop", "acme-train/infer", "--to", "gpu-2026.11.1")

    [found] = json.loads(invoke("impact", "laptop", "--format", "json").stdout)

    rolls = [(row["count"], row["roll"]["out_at_once"], row["roll"]["minutes"]) for row in found["rows"] if row["roll"]]
    assert rolls == [(4, 2, 110)]  # Two batches of 10 + 2 turns of 20 + 5 minutes


def test_changed_thresholds_of_alerts_are_listed(repository: Path, invoke: Invoke) -> None:
    region = repository / "laptop" / "region.yaml"
    changed = "  thresholds: [{alert: EtcdNearlyFull, value: 70, reason: slow disks}]\n"
    text = region.read_text(encoding="utf-8")
    region.write_text(text.replace("observability:\n", f"observability:\n{changed}"), encoding="utf-8")

    [found] = json.loads(invoke("impact", "laptop", "--format", "json").stdout)

    assert "\nthresholds of alerts:\n  EtcdNearlyFull: 80 -> 70 %\n" in invoke("impact", "laptop").stdout
    assert found["thresholds"] == [{"alert": "EtcdNearlyFull", "before": 80, "after": 70, "unit": "%"}]


def test_no_effect_is_reported_explicitly(repository: Path, invoke: Invoke) -> None:
    commit = git(repository, "rev-parse", "HEAD")[:9]
    verdict = ["  no running workload is affected"]
    assert invoke("impact", "laptop").stdout.splitlines()[:2] == [f"laptop: {commit} -> {commit}", *verdict]


def test_changes_merged_meanwhile_on_the_base_are_excluded(repository: Path, invoke: Invoke) -> None:
    home = repository.parent
    git(home, "checkout", "-q", "-b", "change")
    invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--all")
    git(home, "add", "."), git(home, *COMMIT), git(home, "checkout", "-q", "main")
    region = repository / "laptop" / "region.yaml"
    region.write_text(region.read_text().replace("nconnect=8]", "nconnect=4]"), encoding="utf-8")
    git(home, "add", "."), git(home, *COMMIT), git(home, "checkout", "-q", "change")

    [found] = json.loads(invoke("impact", "laptop", "--base", "main", "--format", "json").stdout)

    assert {row["effect"] for row in found["rows"]} == {"replaced"}
    assert found["head"] == git(home, "rev-parse", "HEAD")[:9]


def test_a_base_without_environments_is_refused(repository: Path, invoke: Invoke) -> None:
    home = repository.parent
    git(home, "checkout", "-q", "--orphan", "bare"), git(home, "rm", "-rq", "--cached", ".")
    git(home, *COMMIT, "--allow-empty"), git(home, "tag", "empty")
    git(home, "add", "environments"), git(home, *COMMIT)

    result = invoke("impact", "laptop", "--base", "empty")

    message = "error: empty does not contain environments; pass a commit that contains it to --base\n"
    assert (result.stderr, result.exit_code) == (message, ExitCode.BAD_DATA)


def test_data_that_are_in_no_repository_are_refused(invoke: Invoke) -> None:
    result = invoke("impact", "laptop")

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr.startswith("error: git could not find the repository of the environments: fatal: not a git")


def test_an_environment_that_is_new_has_nothing_that_runs(repository: Path, invoke: Invoke) -> None:
    shutil.copytree(paths.ROOT / "environments" / "lab", repository / "lab")

    result = invoke("impact", "lab")

    commit = git(repository, "rev-parse", "HEAD")[:9]
    message = f"error: lab is new: {commit} does not contain it, so nothing of it can run yet\n"
    assert (result.stderr, result.exit_code) == (message, ExitCode.FAILED)


def test_a_change_that_adds_an_environment_reports_the_others(repository: Path, invoke: Invoke) -> None:
    shutil.copytree(paths.ROOT / "environments" / "lab", repository / "lab")

    result = invoke("impact", "--format", "json")

    commit = git(repository, "rev-parse", "HEAD")[:9]
    note = f"note: lab is new: {commit} does not contain it, so nothing of it can run yet\n"
    assert (result.stderr, result.exit_code) == (note, ExitCode.OK)
    assert [one["environment"] for one in json.loads(result.stdout)] == ["laptop"]


def test_effects_of_the_catalogue_on_other_regions_are_reported(repository: Path, invoke: Invoke) -> None:
    shutil.copytree(paths.ROOT / "environments" / "lab", repository / "lab")
    git(repository.parent, "add", "."), git(repository.parent, *COMMIT)
    versions = repository / "catalog" / "versions.yaml"
    text = (
        versions.read_text().replace("version: 0.27.0", "version: 0.27.1").replace("sha256:0c9c8079", "sha256:0c9c8070")
    )
    versions.write_text(text, encoding="utf-8")

    commit = git(repository, "rev-parse", "HEAD")[:9]
    text = invoke("impact", "laptop").stdout
    all_of_them = json.loads(invoke("impact", "--format", "json").stdout)

    others = "\nother environments that read the changed files:\n  lab: effect unknown; see: jacquard impact lab\n"
    assert text.endswith(f"{others}\nnext: jacquard preview laptop --base {commit}\n")
    assert [(one["environment"], one["shared"]) for one in all_of_them] == [("lab", []), ("laptop", [])]


def test_effects_of_another_region_on_the_home_of_the_fleet_are_reported(repository: Path, invoke: Invoke) -> None:
    shutil.copytree(paths.ROOT / "environments" / "lab", repository / "lab")
    two_regions(repository)
    fleet = repository / "fleet.yaml"
    fleet.write_text(fleet.read_text().replace("\ndns:", "\n  lab: {status: building}\ndns:"), encoding="utf-8")
    git(repository.parent, "add", "."), git(repository.parent, *COMMIT)
    region = repository / "palmtop" / "region.yaml"
    region.write_text(region.read_text().replace("ns.provider.example", "ns.other.example"), encoding="utf-8")

    text = invoke("impact", "lab").stdout

    assert "read the changed files:\n  laptop: worst effect: in place; see: jacquard impact laptop\n" in text


@pytest.fixture
def clone(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that contains the library next to the data, and from which the library is loaded."""
    folder = data_folder.parent / "clone"
    for part in ("components", "jacquard"):
        shutil.copytree(paths.ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("catalog", "laptop"):
        shutil.copytree(paths.ROOT / "environments" / part, folder / "environments" / part)
    git(folder, "init", "-q", "-b", "main"), git(folder, "add", "."), git(folder, *COMMIT)
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder / "environments"))
    monkeypatch.setattr(paths, "ROOT", folder)
    return folder


def test_the_library_of_the_base_renders_the_base(clone: Path, invoke: Invoke) -> None:
    """The base has the other library here; this process runs the library of the head."""
    module = clone / "components/render/pools/pool_health.py"
    text = module.read_text(encoding="utf-8")
    module.write_text(text.replace('EqualTo": brake', 'EqualTo": brake + 1'), encoding="utf-8")
    git(clone, "add", "."), git(clone, *COMMIT)
    module.write_text(text, encoding="utf-8")

    [found] = json.loads(invoke("impact", "laptop", "--format", "json").stdout)

    assert found["code"] is True
    assert {row["part"] for row in found["rows"]} == {
        "acme-train/infer", "acme-train/system", "acme-train/train", "globex-lab/lab"
    }  # fmt: skip
    assert {row["effect"] for row in found["rows"]} == {"in place"}
    assert all(row["causes"] == [] for row in found["rows"])


def test_an_unusable_library_of_the_base_makes_all_effects_unknown(clone: Path, invoke: Invoke) -> None:
    module = clone / "components/render/pools/pool_health.py"
    text = module.read_text(encoding="utf-8")
    module.write_text(f"{text}\nraise SystemExit(1)\n", encoding="utf-8")
    git(clone, "add", "."), git(clone, *COMMIT)
    module.write_text(text, encoding="utf-8")

    result = invoke("impact", "laptop")

    assert "unknown: platform of everything" in result.stdout
    why = "The base uses another version of Jacquard, which cannot render here; both sides are rendered by this "
    assert f"{why}version." in result.stdout
