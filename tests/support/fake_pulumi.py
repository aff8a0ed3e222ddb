"""A ``pulumi`` that does as it is told, and event logs that the real one wrote."""

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
    """Return what the first ``lines`` of a recorded log say, one second apart."""
    progress = Progress()
    for number, line in enumerate((RECORDED / f"{name}.jsonl").read_text().splitlines()[:lines]):
        progress.see(line, float(number))
    return progress


class FakePulumi:
    """A ``pulumi`` that answers as told, replays recorded events and remembers how it was called."""

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
        """Decide what ``pulumi COMMAND`` does, to one ``stack`` or to all others; ``waits`` until it is interrupted."""
        replay = str(RECORDED / f"{events}.jsonl") if events else ""
        content = {"stdout": stdout, "stderr": stderr, "code": code, "events": replay, "waits": waits}
        (self.folder / f"{command}{stack and f' {stack}'}.json").write_text(json.dumps(content))

    def record(self, **wrote: str) -> None:
        """Give all stacks a state with one object, and the record of the plug-ins that ``wrote`` it, if any."""
        objects = [{"type": "kubernetes:core/v1:Namespace", "custom": True, "outputs": {"metadata": {"name": "acme"}}}]
        record = [{"type": "jacquard:components:PlugIns", "outputs": wrote}] if wrote else []
        self.answer("stack export", stdout=json.dumps({"deployment": {"resources": [*objects, *record]}}))

    def plan(self, *steps: dict[str, Any], code: int = 0) -> None:
        """Let every preview consist of ``steps``."""
        events = [{"resOutputsEvent": {"metadata": step, "planning": True}} for step in steps]
        log = self.folder / "planned.jsonl"
        log.write_text("".join(f"{json.dumps(event)}\n" for event in events))
        (self.folder / "preview.json").write_text(json.dumps({"events": str(log), "code": code}))

    def terminate_caller(self, waiting: int = 1) -> None:
        """Ask this process to end, as ``kill`` does, once so many wait until they are interrupted."""

        def terminate() -> None:
            while self.waiting < waiting:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=terminate).start()

    @property
    def waiting(self) -> int:
        """How many wait, or waited, until they were interrupted."""
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
        """Return the stacks that a verb was called for, in order."""
        return [call[call.index("--stack") + 1] for call in self.calls if call[0] == verb]

    @property
    def verbs(self) -> list[str]:
        """What was called, without options: the verb and, where it comes first, the stack's."""
        return [" ".join(word for word in call[:3] if word != "--stack" and "/" not in word) for call in self.calls]


_FAKE = """#!PYTHON -S
import json, os, pathlib, shutil, signal, sys, time
folder, words = pathlib.Path(__file__).parent, sys.argv[1:]
with (folder / "calls").open("a") as log:
    log.write(json.dumps(words) + "\\n")
command = " ".join(words[:2]) if words[0] in ("stack", "state") else words[0]
stack = words[words.index("--stack") + 1] if "--stack" in words else ""
told = folder / (command + " " + stack + ".json")
told = told if told.exists() else folder / (command + ".json")
answer = json.loads(told.read_text()) if told.exists() else {}
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
    """Put a fake engine where the toolchain would put the real one, with its state in ``home``."""
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
