"""A fake ``pulumi`` with configured results, and event logs recorded from the real one."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from jacquard.engine.events import Progress

RECORDED = Path(__file__).parent / "recorded_events"


def replay(name: str, lines: int | None = None) -> Progress:
    """Return the progress of the first ``lines`` of a recorded log, one second apart."""
    progress = Progress()
    for number, line in enumerate((RECORDED / f"{name}.jsonl").read_text().splitlines()[:lines]):
        progress.see(line, float(number))
    return progress


class FakePulumi:
    """A ``pulumi`` that returns configured results, replays recorded events and records its calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "pulumi"
        self.program.write_text(_FAKE.replace("PYTHON", sys.executable))
        self.program.chmod(0o755)
        self.answer("stack export", stdout='{"version": 3, "deployment": {}}')

    def answer(
        self,
        command: str,
        *,
        stack: str = "",
        stdout: str = "",
        stderr: str = "",
        code: int = 0,
        events: str = "",
        waits: bool = False,
    ) -> None:
        """Set the result of ``pulumi COMMAND``, for one ``stack`` or all others; ``waits`` blocks until interrupted."""
        replay = str(RECORDED / f"{events}.jsonl") if events else ""
        content = {"stdout": stdout, "stderr": stderr, "code": code, "events": replay, "waits": waits}
        (self.folder / f"{command}{stack and f' {stack}'}.json").write_text(json.dumps(content))

    def record(self, **wrote: str) -> None:
        """Give all stacks a state with one object, and the record of the plug-ins that ``wrote`` it, if any."""
        objects = [{"type": "kubernetes:core/v1:Namespace", "custom": True, "outputs": {"metadata": {"name": "acme"}}}]
        record = [{"type": "jacquard:components:PlugIns", "outputs": wrote}] if wrote else []
        self.answer("stack export", stdout=json.dumps({"deployment": {"resources": [*objects, *record]}}))

    def plan(self, *steps: dict[str, Any], code: int = 0) -> None:
        """Set the steps of every preview."""
        events = [{"resOutputsEvent": {"metadata": step, "planning": True}} for step in steps]
        log = self.folder / "planned.jsonl"
        log.write_text("".join(f"{json.dumps(event)}\n" for event in events))
        (self.folder / "preview.json").write_text(json.dumps({"events": str(log), "code": code}))

    def terminate_caller(self, waiting: int = 1) -> None:
        """Send SIGTERM to this process as soon as ``count`` calls wait for an interrupt."""

        def terminate() -> None:
            while self.waiting < waiting:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=terminate).start()

    @property
    def waiting(self) -> int:
        """Number of calls that have waited for an interrupt."""
        return len(list(self.folder.glob("waiting-*")))

    @property
    def calls(self) -> list[list[str]]:
        log = self.folder / "calls"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    @property
    def runs(self) -> list[str]:
        """Return the previews, updates and refreshes with their stacks, in order."""
        return [f"{call[0]} {call[2]}" for call in self.calls if call[0] in ("preview", "up", "refresh")]

    def on(self, verb: str) -> list[str]:
        """Return the stacks for which a verb was called, in order."""
        return [call[call.index("--stack") + 1] for call in self.calls if call[0] == verb]

    @property
    def verbs(self) -> list[str]:
        """The called verbs without options; those of ``stack`` with their subcommand."""
        return [" ".join(word for word in call[:3] if word != "--stack" and "/" not in word) for call in self.calls]


_FAKE = """#!PYTHON -S
import json, os, pathlib, shutil, signal, sys, time
folder, words = pathlib.Path(__file__).parent, sys.argv[1:]
with (folder / "calls").open("a") as log:
    log.write(json.dumps(words) + "\\n")
command = " ".join(words[:2]) if words[0] in ("stack", "state") else words[0]
stack = words[words.index("--stack") + 1] if "--stack" in words else ""
file = folder / (command + " " + stack + ".json")
file = file if file.exists() else folder / (command + ".json")
answer = json.loads(file.read_text()) if file.exists() else {}
if words[:2] == ["stack", "import"]:
    (folder / "imported.json").write_text(sys.stdin.read())
if answer.get("waits"):
    signals = []
    signal.signal(signal.SIGINT, lambda *_: signals.append(1))
    (folder / ("waiting-" + str(os.getpid()))).touch()
    end = time.monotonic() + 60
    while not signals and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.3)  # for a second signal, which would be one too many
    (folder / ("ended-" + str(os.getpid()))).write_text(str(len(signals)) + " signal")
    sys.exit(255)
if answer.get("events"):
    shutil.copyfile(answer["events"], words[words.index("--event-log") + 1])
sys.stdout.write(answer.get("stdout", ""))
sys.stderr.write(answer.get("stderr", ""))
sys.exit(answer.get("code", 0))
"""


def install(folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> FakePulumi:
    """Install a fake engine in place of the toolchain's, with its state in ``home``."""
    folder.mkdir()

    def process(environment: str, *, backend_url: str | None = None) -> dict[str, str]:
        del environment
        return {
            **os.environ,
            "PATH": f"{folder}:{os.environ['PATH']}",
            "PULUMI_BACKEND_URL": backend_url or f"file://{home}/pulumi/state?metadata=skip",
        }

    monkeypatch.setattr("jacquard.lab.toolchain.environment.process", process)
    return FakePulumi(folder)
