"""Failures of the command line: one style for all messages, JSON on request, and one line for internal errors."""

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from jacquard.cli import data
from jacquard.cli.errors import ExitCode
from jacquard.forges.publishing import marked

Invoke = Callable[..., Result]

USAGE = {
    "--frobnicate": "no such option: --frobnicate; see 'jacquard --help'",
    "chek": "no such command 'chek'; did you mean 'check', 'schema'?",
    "inventory impor": "no such command 'impor'; did you mean 'import'?",
    "check --todai x": "no such option: --todai; did you mean '--today'?",
    "check laptop --out x": "no such option: --out; see 'jacquard check --help'",
    "allocate laptop --base x": "no such option: --base; see 'jacquard allocate --help'",
    "check environments/laptop": "environment 'environments/laptop' is unknown (known: laptop); did you mean 'laptop'?",
    "check laptop/region.yaml": "environment 'laptop/region.yaml' is unknown (known: laptop); did you mean 'laptop'?",
    "inventory import laptop x.csv": (
        "FORMAT: must be one of eks-a-csv, netbox, nautobot, nico, bare-metal-hosts (got 'laptop'); see 'jacquard "
        "inventory import --help'"
    ),
    "promote laptop train --to data": (
        "CLUSTER: there is no cluster 'train' (clusters: acme-train, globex-lab); did you mean 'acme-train/train'?"
    ),
    "promote laptop acme-train:infer --to data": (
        "CLUSTER: there is no cluster 'acme-train:infer' (clusters: acme-train, globex-lab); did you mean "
        "'acme-train/infer'?"
    ),
    "host laptop a01 --to rma": "host 'a01' is unknown; it is a rack, write --rack a01",
    "check --format": "option '--format' requires an argument; see 'jacquard --help'",
    "check --format jsn": (
        "--format: must be one of text, json, sarif, junit, github, gitlab (got 'jsn'); did you mean 'json'?"
    ),
    "check --today 2026-13-45": "--today: must be a date (got '2026-13-45'); write YYYY-MM-DD, such as 2026-01-31",
    "approve laptop a --expires soon": "--expires: must be a date (got 'soon'); write YYYY-MM-DD, such as 2026-01-31",
    "show": "missing argument 'ENV'; see 'jacquard show --help'",
    "show laptop x y": "got unexpected extra argument(s) (y); see 'jacquard show --help'",
    "host laptop a --to broken": (
        "--to: must be one of onboard, seatrial, zap, test, production, triage, rma, debug, reserved (got 'broken'); "
        "see 'jacquard host --help'"
    ),
    "facts laptop --metrics store:8427": (
        "--metrics: must be the address of a Prometheus API (got 'store:8427'); write it like "
        "http://127.0.0.1:8481/select/0/prometheus"
    ),
    "promote laptop a/b --wave x": "--wave: must be a valid integer (got 'x'); see 'jacquard promote --help'",
    "promote laptop a --wave 0": "--wave: must be greater than or equal to 1 (got '0'); see 'jacquard promote --help'",
}
EMPTY = {
    ("approve", "laptop", "acme", "--by", ""): "--by: must not be empty (got '')",
    ("approve", "laptop", "acme", "--by="): "--by: must not be empty (got '')",
    ("host", "laptop", "a", "--reason", " "): "--reason: must not be empty (got ' ')",
    ("impact", "--base", ""): "--base: must not be empty (got '')",
    ("impact", "--facts=", "laptop"): "--facts: must not be empty (got '')",
    ("render", "laptop", "--out", ""): "--out: must not be empty (got '')",
    ("status", ""): "argument: must not be empty (got '')",
}


@pytest.mark.parametrize(("typed", "text"), USAGE.items(), ids=USAGE)
def test_wrong_usage_has_the_style_of_every_other_error(invoke: Invoke, typed: str, text: str) -> None:
    result = invoke(*typed.split())

    assert (result.exit_code, result.stdout, result.stderr) == (ExitCode.BAD_DATA, "", f"error: {text}\n")


@pytest.mark.parametrize(("typed", "text"), EMPTY.items(), ids=[" ".join(typed) for typed in EMPTY])
def test_an_empty_value_is_refused_and_does_not_count_as_omitted(
    invoke: Invoke, typed: tuple[str, ...], text: str
) -> None:
    result = invoke(*typed)

    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, f"error: {text}; write a value, or omit it\n")


@pytest.mark.parametrize("form", [("--format", "json"), ("--format=json",)], ids=" ".join)
@pytest.mark.parametrize(
    ("typed", "expected"),
    {
        ("status", "latpop"): {
            "code": "bad_data",
            "message": "environment 'latpop' is unknown (known: laptop); did you mean 'laptop'?",
            "remedy": "did you mean 'laptop'?",
            "details": [],
        },
        ("status", "laptop", "--nope"): {
            "code": "bad_data",
            "message": "no such option: --nope; see 'jacquard status --help'",
            "remedy": "see 'jacquard status --help'",
            "details": [],
        },
        ("host", "laptop", "a01-u02", "--out", "rma", "--back"): {
            "code": "bad_data",
            "message": "--out was replaced; write --to rma",
            "remedy": "write --to rma",
            "details": ["--back was replaced; write --to production --evidence FILE with the report of a passed test"],
        },
    }.items(),
    ids=["look-up", "usage", "options"],
)
def test_an_error_is_a_json_document_on_request(
    invoke: Invoke, typed: tuple[str, ...], expected: dict[str, Any], form: tuple[str, ...]
) -> None:
    result = invoke(*typed, *form)

    assert result.exit_code == ExitCode.BAD_DATA
    nowhere = {"file": None, "line": None, "environment": None, "problems": []}
    assert json.loads(result.stdout) == {"error": {**expected, **nowhere}}
    assert result.stderr == "\n".join([f"error: {expected['message']}", *expected["details"], ""])


def test_problems_of_the_data_are_part_of_the_json_document(
    invoke: Invoke, data_folder: Any, edit: Callable[..., None]
) -> None:
    edit(data_folder / "laptop" / "region.yaml", "image_channel: stable", "image_channel: stabel")

    error = json.loads(invoke("status", "laptop", "--format", "json").stdout)["error"]

    [problem] = error["problems"]
    assert (problem["file"], problem["path"]) == ("region.yaml", "image_channel")
    assert (error["file"], error["line"], error["remedy"]) == ("region.yaml", problem["line"], "did you mean 'stable'?")
    assert (error["code"], error["environment"], error["details"]) == ("bad_data", "laptop", [])


def test_all_errors_have_the_same_fields(
    invoke: Invoke, data_folder: Any, edit: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [invoke("status", "lapto", "--format", "json"), invoke("gc", "laptop", "--format", "json")]
    edit(data_folder / "laptop" / "region.yaml", "image_channel: stable", "image_channel: stabel")
    documents.append(invoke("drift", "laptop", "--format", "json"))
    monkeypatch.setattr(data, "names", lambda: [{}["second-train"]])
    documents.append(invoke("status", "laptop", "--format", "json"))

    errors = [json.loads(result.stdout)["error"] for result in documents]

    assert [error["code"] for error in errors] == ["bad_data", "unreachable", "bad_data", "bug"]
    fields = {"code", "message", "remedy", "file", "line", "details", "environment", "problems"}
    assert [set(error) for error in errors] == [fields] * len(errors)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def names() -> list[str]:
        return [{}["second-train"]]

    monkeypatch.setattr(data, "names", names)


BUG = "this is a bug of jacquard 0.1.0"


@pytest.mark.usefixtures("broken")
def test_an_unexpected_failure_is_one_line_with_the_report_to_attach(invoke: Invoke, home: Path) -> None:
    result = invoke("status", "edge-1")

    [report] = (home / "bug-reports").iterdir()
    assert (result.exit_code, result.stdout) == (70, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("error: KeyError in test_cli_failures.py:")
    assert line.endswith(f": 'second-train'; {BUG}; attach {report} to an issue")
    head, _, trace = report.read_text().partition("\n\n")
    assert [row.partition(":")[0] for row in head.splitlines()] == ["program", "time", "python", "command"]
    assert {"program: jacquard 0.1.0", "command: jacquard status edge-1"} <= set(head.splitlines())
    assert trace.startswith("Traceback (most recent call last):\n")
    assert trace.endswith("KeyError: 'second-train'\n")
    assert stat.S_IMODE(report.stat().st_mode) == 0o600


@pytest.mark.usefixtures("broken")
def test_without_a_folder_for_the_report_debug_prints_it(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path / "file"))

    result = invoke("status", "edge-1")

    assert result.exit_code == 70
    assert result.stderr.endswith(f"; {BUG}; run the command again with --debug, and report its output\n")


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("typed", [("--debug", "status", "edge-1"), ("status", "edge-1", "--debug")], ids=" ".join)
def test_debug_prints_the_trace_of_an_unexpected_failure(invoke: Invoke, typed: tuple[str, ...]) -> None:
    result = invoke(*typed)

    assert (result.exit_code, result.stdout) == (70, "")
    assert result.stderr.startswith("Traceback (most recent call last):\n")
    assert f": 'second-train'; {BUG}; attach " in result.stderr


@pytest.mark.usefixtures("broken")
def test_an_unexpected_failure_is_json_on_request(invoke: Invoke) -> None:
    result = invoke("status", "edge-1", "--format=json")

    assert json.loads(result.stdout)["error"]["code"] == "bug"


def test_an_unexpected_failure_shows_no_secret(invoke: Invoke, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def names() -> list[str]:
        msg = "cannot log in with password=swordfish"
        raise ValueError(msg)

    monkeypatch.setattr(data, "names", names)

    result = invoke("--debug", "host", "edge-1", "a", "--reason", "token=swordfish", "--to", "triage")

    assert (result.exit_code, "swordfish" in result.stderr) == (ExitCode.BUG, False)
    [report] = (home / "bug-reports").iterdir()
    assert "token=[secret]" in report.read_text()
    assert "swordfish" not in report.read_text()
    assert ": cannot log in with password=[secret]; this is a bug" in result.stderr


def test_debug_adds_the_trace_of_a_known_failure_and_the_duration_to_its_message(invoke: Invoke) -> None:
    message = invoke("status", "latpop").stderr

    trace, found, rest = invoke("--debug", "status", "latpop").stderr.partition(message)

    assert trace.startswith("Traceback (most recent call last):\n")
    assert found
    assert re.fullmatch(r"debug: exit code 2 after \d+\.\d s, including \d+\.\d s to load the command\n", rest)


def test_debug_prints_no_trace_for_wrong_usage(invoke: Invoke) -> None:
    assert "Traceback" not in invoke("--debug", "chek").stderr


@pytest.mark.parametrize("verb", ["impact", "render"])
def test_a_failed_command_for_a_comment_prints_a_comment_with_the_error(invoke: Invoke, verb: str) -> None:
    result = invoke(verb, "lapto", "--base", "HEAD", "--format", "markdown")

    message = result.stderr.removeprefix("error: ")
    assert "environment 'lapto' is unknown" in message
    assert (result.exit_code, result.stdout) == (
        ExitCode.BAD_DATA,
        f"<!-- jacquard {verb} -->\n### `jacquard {verb}` failed\n\n```\n{message}```\n",
    )
    assert marked(result.stdout)
