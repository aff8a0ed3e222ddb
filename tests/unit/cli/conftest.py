"""What the tests of the command share: the laptop environment, a copy of it that may be broken, and the runner."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from environment_data import copy_data
from settled_region import settled_region
from typer.testing import CliRunner, Result

from cli.observe import Observation
from cli.verbs import build
from components.specs.environment import Environment
from components.specs.loader import load_environment
from toolchain import paths

RECORDED = Path(__file__).parent / "events"
Invoke = Callable[..., Result]


@pytest.fixture(scope="session")
def laptop() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


@pytest.fixture(scope="session")
def south() -> Environment:
    """The reference region that has both second backends."""
    return load_environment("eu-south-03a", paths.ROOT / "environments")


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the data that this test may edit."""
    folder = copy_data(tmp_path / "environments", "laptop")
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder))
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for what a command leaves on the machine."""
    folder = tmp_path / "home"
    monkeypatch.setenv("JACQUARD_HOME", str(folder))
    monkeypatch.setenv("JACQUARD_CACHE", str(tmp_path / "cache"))
    return folder


class FakePulumi:
    """A ``pulumi`` that answers as told, replays recorded events and remembers how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "pulumi"
        self.program.write_text(_FAKE.replace("PYTHON", sys.executable))
        self.program.chmod(0o755)
        self.answer("stack export", stdout='{"version": 3, "deployment": {}}')

    def answer(
        self, command: str, *, stdout: str = "", stderr: str = "", code: int = 0, events: str = "", waits: bool = False
    ) -> None:
        """Decide what ``pulumi COMMAND`` does; ``waits`` until it is interrupted."""
        replay = str(RECORDED / f"{events}.jsonl") if events else ""
        content = {"stdout": stdout, "stderr": stderr, "code": code, "events": replay, "waits": waits}
        (self.folder / f"{command}.json").write_text(json.dumps(content))

    @property
    def calls(self) -> list[list[str]]:
        log = self.folder / "calls"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    @property
    def verbs(self) -> list[str]:
        """What was called, without options: the verb and, where it comes first, the stack's."""
        return [" ".join(word for word in call[:3] if word != "--stack" and "/" not in word) for call in self.calls]


_FAKE = """#!PYTHON -S
import json, pathlib, shutil, signal, sys, time
folder, words = pathlib.Path(__file__).parent, sys.argv[1:]
with (folder / "calls").open("a") as log:
    log.write(json.dumps(words) + "\\n")
command = " ".join(words[:2]) if words[0] in ("stack", "state") else words[0]
told = folder / (command + ".json")
answer = json.loads(told.read_text()) if told.exists() else {}
if words[:2] == ["stack", "import"]:
    (folder / "imported.json").write_text(sys.stdin.read())
if answer.get("waits"):
    signal.signal(signal.SIGINT, lambda *_: sys.exit(255))
    (folder / "waiting").touch()
    time.sleep(60)
if answer.get("events"):
    shutil.copyfile(answer["events"], words[words.index("--event-log") + 1])
sys.stdout.write(answer.get("stdout", ""))
sys.stderr.write(answer.get("stderr", ""))
sys.exit(answer.get("code", 0))
"""


@pytest.fixture
def pulumi(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> FakePulumi:
    """Put a fake engine where the toolchain would put the real one."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def process(environment: str, *, backend_url: str | None = None) -> dict[str, str]:
        del environment
        return {
            **os.environ,
            "PATH": f"{folder}:{os.environ['PATH']}",
            "PULUMI_BACKEND_URL": backend_url or f"file://{home}/pulumi/state?metadata=skip",
        }

    monkeypatch.setattr("toolchain.environment.process", process)
    return FakePulumi(folder)


@pytest.fixture
def invoke(data_folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``jacquard`` in this process, without colour, on a copy of the data."""
    del data_folder, home
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("JACQUARD_BINARIES", raising=False)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(build(), list(arguments))

    return run


@pytest.fixture
def edit() -> Callable[[Path, str, str], None]:
    """Replace a text that must be there in a file."""

    def replace(path: Path, old: str, new: str) -> None:
        text = path.read_text()
        assert old in text, f"{path} has no {old!r}"
        path.write_text(text.replace(old, new, 1))

    return replace


@pytest.fixture
def settled() -> Callable[[Environment], Observation]:
    """Return what API servers answer when everything is as an environment orders."""
    return settled_region


@pytest.fixture
def seen(laptop: Environment) -> Observation:
    """What the API servers of a settled laptop answer; a test may spoil it."""
    return settled_region(laptop)
