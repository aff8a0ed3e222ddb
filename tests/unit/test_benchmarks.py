"""Benchmarks keep working while the code that they import changes."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from jacquard.machine import paths

FOLDER = paths.ROOT / "tests" / "bench"
BENCHMARKS = sorted(path.name for path in FOLDER.glob("*.py") if path.stem != "support")


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_loads_and_describes_itself(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *(path for path in sys.path if path != str(paths.ROOT))])
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    sys.modules.pop("support", None)  # Its import adds the repository to the path.

    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(FOLDER / name), run_name="__main__")

    assert ended.value.code == 0
    assert "--json" in capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("all_policies.py", ()),
        ("command_start.py", ()),
        ("impact.py", ()),
        ("policy_pack.py", ()),
        ("preview_change.py", ()),
        ("region_model.py", ("--copies", "2")),
        ("render_tree.py", ()),
        ("start_up.py", ()),
        ("vm_orders.py", ("--orders", "50")),
    ],
)
def test_a_benchmark_of_commands_and_data_completes(name: str, options: tuple[str, ...], tmp_path: Path) -> None:
    """The others need a local region, a metrics store, or more than ten minutes."""
    figures = tmp_path / "figures.json"
    command = [sys.executable, FOLDER / name, "--rounds", "1", "--json", figures, *options]

    outcome = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)

    assert "Traceback" not in outcome.stderr, outcome.stderr
    assert json.loads(figures.read_text())
