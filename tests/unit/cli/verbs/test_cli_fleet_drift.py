"""``jacquard fleet --drift``: the last measured drift with its age, and files without information about the data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.observe.drift import data_digest

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
OUTPUT = "'jacquard drift ENV --format json'"
OBJECT = {"cluster": "management", "kind": "apps/Deployment", "name": "a/b", "what": "missing"}


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-28T12:00:00Z")


@pytest.fixture
def write(data_folder: Path, tmp_path: Path) -> Callable[..., str]:
    """Write a file with the drift of laptop, as of its data in ``data_folder``, and return its path."""

    def written(name: str, **fields: Any) -> str:
        values = {
            "schema_version": 1,
            "environment": "laptop",
            "observed_at": "2026-11-28T09:30:00Z",
            "data": data_digest(load_environment("laptop", data_folder)),
            "compared": 40,
            "objects": [OBJECT, {**OBJECT, "name": "a/c"}],
            "unread": [{"cluster": "globex-lab", "what": None, "reason": "no route"}],
        }
        path = tmp_path / name
        path.write_text(json.dumps(values | fields))
        return str(path)

    return written


def test_the_drift_of_a_region_with_its_age(invoke: Invoke, write: Callable[..., str]) -> None:
    file = write("laptop.json")

    text, without = invoke("fleet", "--drift", file), invoke("fleet")
    [region] = json.loads(invoke("fleet", "--drift", file, "--format", "json").stdout)["regions"]

    assert (text.exit_code, without.exit_code) == (ExitCode.OK, ExitCode.OK), text.output
    rows = [" ".join(line.split()) for line in text.stdout.splitlines()]
    assert "laptop 2 of 40 objects differ, 1 unread 2026-11-28 09:30 UTC 2 h" in rows
    assert "laptop not measured - -" in [" ".join(line.split()) for line in without.stdout.splitlines()]
    assert region["drift"] == {"observed_at": "2026-11-28T09:30:00+00:00", "compared": 40, "differing": 2, "unread": 1}


def test_files_without_information_about_the_data(
    invoke: Invoke, data_folder: Path, write: Callable[..., str], edit: Edit, tmp_path: Path
) -> None:
    old = write("old.json")
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "workload: inference", "workload: other")
    (tmp_path / "status.json").write_text('{"environment": "laptop", "pools": []}')
    files = [
        old,
        write("none.json", data=None),
        write("other.json", environment="desk"),
        write("later.json", observed_at="2026-11-28T12:06:00Z"),
        write("first.json"),
        write("second.json"),
        str(tmp_path / "status.json"),
        str(tmp_path / "absent.json"),
    ]

    result = invoke("fleet", *(word for file in files for word in ("--drift", file)))

    again = "write it again with jacquard drift laptop --format json"
    assert result.exit_code == ExitCode.BAD_DATA
    assert [line.removeprefix("error: ").replace(f"{tmp_path}/", "") for line in result.stderr.splitlines()] == [
        f"--drift old.json is about other data of laptop than the current ones; {again}",
        f"--drift none.json is about other data of laptop than the current ones; {again}",
        "--drift other.json is about desk, which is no region of the fleet; omit it",
        f"--drift later.json is from 2026-11-28T12:06:00+00:00, later than now; {again}",
        "--drift first.json and second.json are both about laptop; write the newer one only",
        f"--drift status.json is not an output of {OUTPUT} at observed_at: field required",
        f"--drift absent.json: no such file or directory; name a file with the output of {OUTPUT}",
    ]
