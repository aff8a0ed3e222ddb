"""A secret in any text of an environment, added or changed: no output of the commands contains it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import Result

from components.rules import checks
from components.specs.locks import LockFile
from components.specs.reading.kinds import data_files
from components.specs.reading.loader import load_environment
from jacquard.cli import data
from jacquard.cli.console import ImpactFormat
from jacquard.cli.errors import ExitCode
from tests.support.data.canaries import CANARY, accepted, put, secret_in
from tests.support.data.canaries import Path as Place
from tests.support.data.repositories import committed

Invoke = Callable[..., Result]
NEW_FILES = {
    "out_of_service.yaml": "schema_version: 1\nhosts:\n  a03-u04: {state: triage, since: 2026-11-01, reason: link}\n",
    "policy.yaml": (
        "schema_version: 1\nfreezes:\n"
        "  - {name: december, from: 2026-12-20T00:00:00Z, to: 2027-01-04T00:00:00Z, reason: peak}\n"
    ),
    "approvals.yaml": (
        "schema_version: 1\napprovals:\n"
        f"  - {{tenant: acme, digest: {'ab' * 32}, by: me, day: 2026-11-01, reason: a}}\n"
    ),
}
"""Optional files that the laptop does not have."""
REFUSED = {
    ("storage",),
    ("clusters", "flux"),
    ("clusters", "pools", "taints"),
    ("clusters", "namespaces"),
    ("clusters", "oidc", "admin_group"),
    ("instance_types", "root_device", "device_name"),
    ("firmware_baselines", "components", "nic", "version"),
    ("waivers", "subject"),
    ("charts", "revoked"),
    ("images", "contents", "containerd"),
    ("images", "contents", "gpu_driver"),
    ("images", "revoked"),
}
"""Fields whose type accepts any text, but which rules or other fields restrict."""
TREES = ("region", "tenants", "hosts", "images", "waivers", "policy", "versions", "firmware")
REPORTS = ("capacity", "images", "map", "network", "offerings", "prerequisites", "uniformity", "upgrades")


@pytest.fixture
def with_secrets(data_folder: Path) -> Path:
    """Laptop with a secret in each text, after a commit without them."""
    committed(data_folder)
    for name, text in NEW_FILES.items():
        (data_folder / "laptop" / name).write_text(text)
    number = 0
    for path, kind in data_files(data_folder, ["laptop"]):
        if not issubclass(kind.model, LockFile):
            document = yaml.safe_load(path.read_text())
            places = [(place, form) for place, form in accepted(kind.model, document) if not _refused(place)]
            for place, form in places:
                put(document, place, form)
            for pool in (pool for cluster in document.get("clusters", ()) for pool in cluster["pools"]):
                pool["annotations"] = {"acme.example/owner": f"https://bot:{CANARY}@acme.example"}
            path.write_text(yaml.safe_dump(document, sort_keys=False, width=4000))
            number += len(places)
    assert number > 50
    return data_folder


def _refused(place: Place) -> bool:
    steps = tuple(step for step in place if isinstance(step, str))
    return any(steps[: len(other)] == other for other in REFUSED)


def test_no_output_shows_a_secret(
    with_secrets: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spec = load_environment("laptop", with_secrets)
    assert CANARY in spec.model_dump_json()
    monkeypatch.setattr(data, "load", lambda _: spec)
    monkeypatch.setattr(checks, "CHANGES", ())  # The texts include versions, whose digests are unchanged.
    page = tmp_path / "page.html"
    runs = [
        *(("check", "laptop", "--format", form) for form in ("text", "json", "sarif", "junit", "github", "gitlab")),
        ("check", "laptop", "--diff"),
        *(("impact", "laptop", "--html", str(page), "--format", form) for form in ImpactFormat),
        *(("render", "laptop", "--base", "HEAD", "--format", form) for form in ("text", "json", "markdown")),
        *(("show", "laptop", name) for name in (*TREES, *REPORTS)),
        *(("show", "laptop", name, "--format", "json") for name in (*TREES, *REPORTS) if name != "map"),
    ]
    shown = {run: invoke(*run) for run in runs}

    assert {run: line for run, result in shown.items() if (line := secret_in(result.output))} == {}
    assert {run: result.output for run, result in shown.items() if result.exit_code} == {}
    assert secret_in(page.read_text()) == ""
    everything = "".join(result.output for result in shown.values())
    assert everything.count("[secret]") > len(runs)


def test_check_advises_on_texts_that_look_like_credentials(
    data_folder: Path, invoke: Invoke, edit: Callable[[Path, str, str], None]
) -> None:
    tenant, waivers = data_folder / "laptop/tenants/acme.yaml", data_folder / "laptop/waivers.yaml"
    edit(tenant, "{workload: training}", "{workload: training, token: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln}")
    edit(waivers, "CHG-3102", "https://me:hunter2@tickets.example/CHG-3102  # glpat-hunter2hunter2hunter2")
    edit(data_folder / "catalog/add_ons.yaml", "schema_version: 1\n", "schema_version: 1\n# AKIAIOSFODNN7EXAMPLE\n")

    result = invoke("check", "laptop", "--today", "2026-11-10")
    [answer] = json.loads(invoke("check", "laptop", "--today", "2026-11-10", "--format", "json").stdout)
    sarif = json.loads(invoke("check", "laptop", "--today", "2026-11-10", "--format", "sarif").stdout)

    like = "contains what looks like"
    remedy = "remove it, replace it at its issuer, and store the new one in a Secret"
    advice = [line.strip() for line in result.stdout.splitlines() if "looks like" in line]
    assert [re.sub(":[0-9]+", ":LINE", line) for line in advice] == [
        f"advice: tenants/acme.yaml:LINE clusters[0].pools[1].labels.token: {like} a JSON Web Token; {remedy}",
        f"advice: waivers.yaml:LINE {like} a GitLab token; {remedy}",
        f"advice: waivers.yaml:LINE waivers[0].ticket: {like} a URL with a login; {remedy}",
        f"advice: ../catalog/add_ons.yaml:LINE {like} an AWS access key ID; {remedy}",
    ]
    assert (answer["ok"], [item["rule"] for item in answer["secrets"]]) == (True, ["data.secret"] * 4)
    found = [item["level"] for item in sarif["runs"][0]["results"] if item["ruleId"] == "data.secret"]
    assert found == ["warning"] * 4
    assert "hunter2" not in result.output


def test_the_trace_of_a_bug_has_no_secret(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    message = f"input_value='https://bot:{CANARY}@images.example'"

    def broken() -> list[str]:
        raise RuntimeError(message)

    monkeypatch.setattr(data, "names", broken)
    result = invoke("--debug", "status", "edge-1")

    assert result.exit_code == ExitCode.BUG
    assert result.stderr.count("input_value='https://[secret]@images.example'") == 2  # Trace and report
    assert secret_in(result.output) == ""
