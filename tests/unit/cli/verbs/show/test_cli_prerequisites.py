"""Output of ``jacquard show ENV prerequisites``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from tests.support.data.environment_data import REFERENCES, copy_data, root_of_all

Invoke = Callable[..., Any]


@pytest.fixture
def everywhere(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``jacquard`` on the reference environments, which these tests only read."""
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(root_of_all()))
    return invoke


@pytest.fixture
def by_hand(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``jacquard`` on a copy of us-east-04a with manually created Secrets."""
    folder = copy_data(tmp_path / "others", "us-east-04a")
    region = folder / "us-east-04a" / "region.yaml"
    before, _, after = region.read_text(encoding="utf-8").partition("secrets:\n")
    region.write_text(f"{before}context:{after.partition('context:')[2]}", encoding="utf-8")
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder))
    return invoke


def test_with_a_store_its_entries_are_on_the_list(everywhere: Invoke) -> None:
    lines = everywhere("show", "us-east-04a", "prerequisites").stdout.splitlines()

    [entries] = [line for line in lines if "entries of the region's secret store: " in line]
    assert "us-east-04a/aurelia-train/metrics-sink" in entries
    assert [line for line in lines if "logins of BMCs" in line] == []


def test_each_form_is_one_paragraph_with_its_count(by_hand: Invoke) -> None:
    lines = by_hand("show", "us-east-04a", "prerequisites").stdout.splitlines()

    answer = json.loads(by_hand("show", "us-east-04a", "prerequisites", "--format", "json").stdout)
    total = sum(len(form["items"]) for form in answer["forms"])
    kinds = len(answer["forms"])
    assert lines[0] == f"us-east-04a requires {total} prerequisites of {kinds} kinds, which Jacquard does not create"
    assert total > 100
    first = next(place for place, line in enumerate(lines) if line.startswith("   606  "))
    some = "aurelia-train/bmc-a129, aurelia-train/bmc-b129, aurelia-train/bmc-b130"
    files = "--from-file=username=FILE --from-file=password=FILE"
    assert lines[first : first + 5] == [
        (
            f"   606  logins of BMCs, one for each rack in each namespace with its hosts: {some} and 603 more"
            " in 18 namespaces of cluster management"
        ),
        "        Ironic boots and wipes hosts through their BMCs; without it a host never registers.",
        "        used by  6000 BareMetalHost, the first BareMetalHost aurelia-train/a129-u01",
        "        form     Opaque; keys password, username",
        f"        create   kubectl -n NAMESPACE create secret generic NAME {files}",
    ]
    assert [line for line in lines if line and not line.startswith(" ")][1:] == [
        "secrets",
        "objects",
        "software",
        "artefacts",
        "addresses",
        "networks",
        "actions",
    ]
    # A paragraph has at most five lines, and groups have a heading between two empty lines.
    assert len(lines) < 6 * kinds


@pytest.mark.parametrize("name", REFERENCES)
def test_its_json_keeps_its_schema_and_has_each_thing(everywhere: Invoke, name: str) -> None:
    answer = json.loads(everywhere("show", name, "prerequisites", "--format", "json").stdout)

    schema = json.loads((paths.ROOT / "schemas" / "prerequisites.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(answer, schema)
    assert answer["environment"] == name
    assert "unexplained" not in {form["name"] for form in answer["forms"]}
    [charts] = [form for form in answer["forms"] if form["name"] == "charts"]
    assert charts["sources"][0] == "fluxcd/source-controller v1.9.1: docs/spec/v1/ocirepositories.md"
    assert charts["items"][0]["kind"] == "artefact"
    assert (charts["items"][0]["cluster"], charts["items"][0]["keys"]) == (None, [])


def test_it_is_a_table(invoke: Invoke) -> None:
    result = invoke("show", "laptop", "prerequisites", "--format", "yaml")

    assert (result.exit_code, result.stderr) == (
        ExitCode.BAD_DATA,
        "error: --format yaml: prerequisites has no YAML output; write text or json\n",
    )
