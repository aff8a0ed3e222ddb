"""``jacquard check --baseline``: a file of known violations that only shrinks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
LATER = ("--today", "2030-01-01")
"""Day on which the images of laptop are deprecated, and its waiver has expired."""
CRITICAL = "registries: [registry.elsewhere.example]\n"
POLICY = "schema_version: 1\nrules: {deprecated-image: mandatory}\n"


@pytest.fixture
def policy(data_folder: Path) -> Path:
    """The policy of a region with violations of a policy and of a cross-check."""
    file = data_folder / "laptop" / "policy.yaml"
    file.write_text(POLICY)
    return file


@pytest.fixture
def check(invoke: Invoke, policy: Path, tmp_path: Path) -> Callable[..., Result]:
    """Check laptop against a baseline."""
    assert policy.exists()
    return lambda *options: invoke("check", "laptop", *LATER, "--baseline", str(tmp_path / "known.yaml"), *options)


@pytest.fixture
def file(check: Callable[..., Result], tmp_path: Path) -> Path:
    """A baseline with all violations."""
    assert check("--write-baseline").exit_code == ExitCode.OK
    return tmp_path / "known.yaml"


def test_a_baseline_lists_each_violation_in_one_line_and_tolerates_it(
    invoke: Invoke, check: Callable[..., Result], file: Path
) -> None:
    strict, tolerant = invoke("check", "laptop", *LATER), check()

    assert (strict.exit_code, tolerant.exit_code) == (ExitCode.BAD_DATA, ExitCode.OK), tolerant.output
    existing = [line for line in tolerant.stdout.splitlines() if line.startswith("  existing: ")]
    entries = [line for line in file.read_text().splitlines() if line.startswith("  - ")]
    assert len(entries) == len(existing) > 1
    assert {line.split("rule: ")[1].split(",")[0] for line in entries} == {
        "networks.unfiltered-hosts",
        "deprecated-image",
    }
    assert '  - {environment: laptop, rule: networks.unfiltered-hosts, violation: "' in file.read_text()


def test_a_new_violation_blocks_and_is_not_added(
    check: Callable[..., Result], file: Path, data_folder: Path, edit: Edit
) -> None:
    before = file.read_text()
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "nodes: 14", "nodes: 13")

    result = check("--write-baseline")

    assert result.exit_code == ExitCode.BAD_DATA
    assert "reported by contracts.contracted-nodes" in result.stderr
    assert file.read_text() == before


def test_an_entry_of_a_fixed_violation_is_an_error_that_names_its_line(
    check: Callable[..., Result], file: Path, policy: Path
) -> None:
    lines = file.read_text().splitlines()
    gone = [str(number) for number, line in enumerate(lines, 1) if "rule: deprecated-image" in line]
    policy.write_text("schema_version: 1\n")

    refused, written, passed = check(), check("--write-baseline"), check()

    assert refused.exit_code == ExitCode.BAD_DATA
    assert refused.stderr.endswith(
        f"error: {file}: no violation matches line {', '.join(gone)}; delete these lines, or add --write-baseline to"
        " do so\n"
    )
    assert (written.exit_code, passed.exit_code) == (ExitCode.OK, ExitCode.OK), written.output
    assert file.read_text().splitlines() == [line for line in lines if "rule: deprecated-image" not in line]


def test_entries_of_unchecked_environments_are_kept(check: Callable[..., Result], file: Path) -> None:
    other = '  - {environment: lab, rule: deprecated-image, violation: "x"}'
    file.write_text(f"{file.read_text()}{other}\n")

    assert check("--write-baseline").exit_code == ExitCode.OK
    assert other in file.read_text()


def test_a_critical_violation_blocks_even_if_an_entry_lists_it(
    check: Callable[..., Result], file: Path, policy: Path, tmp_path: Path
) -> None:
    policy.write_text(POLICY + CRITICAL)

    result = check("--format", "json")
    file.unlink()
    check("--write-baseline")

    [answer] = json.loads(result.stdout)
    assert result.exit_code == ExitCode.REFUSED
    assert {item["policy"] for item in answer["violations"]} == {"unlisted-registry"}
    assert "unlisted-registry" not in (tmp_path / "known.yaml").read_text()


def test_a_region_that_cannot_be_read_keeps_its_entries(
    check: Callable[..., Result], file: Path, data_folder: Path, edit: Edit
) -> None:
    before = file.read_text()
    edit(data_folder / "laptop" / "region.yaml", "image_channel: stable", "image_channel: stabel")

    result = check("--write-baseline")

    assert result.exit_code == ExitCode.BAD_DATA
    assert "image_channel: must be one of" in result.stderr
    assert file.read_text() == before


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (None, "known.yaml: cannot be read ([Errno 2] No such file or directory: "),
        ("schema_version: 1\n", "known.yaml:1 violations: is required; write violations: [{environment: ..."),
        ("schema_version: 1\nviolations: [{rule: x, environment: lab}]\n", ":2 violations[0].violation: is required; "),
    ],
)
def test_a_baseline_that_cannot_be_read_is_an_error(
    check: Callable[..., Result], tmp_path: Path, text: str | None, error: str
) -> None:
    if text is not None:
        (tmp_path / "known.yaml").write_text(text)

    result = check()

    assert result.exit_code == ExitCode.BAD_DATA
    assert result.stderr.startswith(f"error: --baseline {tmp_path}/known.yaml")
    assert error in result.stderr


@pytest.mark.usefixtures("data_folder")
def test_options_that_contradict_each_other_are_rejected(invoke: Invoke) -> None:
    both = invoke("check", "laptop", "--baseline", "x.yaml", "--base", "HEAD")
    alone = invoke("check", "laptop", "--write-baseline")

    assert (both.exit_code, alone.exit_code) == (ExitCode.BAD_DATA, ExitCode.BAD_DATA)
    assert both.stderr == (
        "error: --baseline: cannot be combined with --base, which also names the tolerated violations; omit one of"
        " them\n"
    )
    assert alone.stderr == "error: --write-baseline: requires --baseline FILE, the file to write\n"
