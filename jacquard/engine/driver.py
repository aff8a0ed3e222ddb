"""Runs ``pulumi`` on the stacks of an environment, and reports its events during the run."""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from components.lookups.slices import SliceKind
from components.specs.region.state import StateSpec
from components.specs.struct import Struct, field
from jacquard.engine import damaged_states, locks, parent_death, state_files
from jacquard.engine.errors import EngineError
from jacquard.engine.events import Progress, growing_lines
from jacquard.engine.interpreter import require_python
from jacquard.engine.kubeconfig_paths import localize
from jacquard.engine.recorded import recorded_commits
from jacquard.engine.shutdown import asked
from jacquard.engine.urns import STACK, Urn
from jacquard.harness import PlugIn, serving
from jacquard.harness import environment as machine
from jacquard.machine import paths, settings
from stacks import kubeconfig
from stacks.provider_migration import RECORD, PlugIns, writers

_POLL_SECONDS = 0.1
_TAIL_LINES = 20
_MISSING = "no stack named"
"""Part of the engine's error message about a missing stack."""


class Run(Struct):
    """A finished run of the engine."""

    stack: str
    code: int
    progress: Progress
    duration_seconds: float
    log: Path
    """Output of the engine."""

    @property
    def tail(self) -> str:
        """Return the last lines of the engine's output, for failures without an event."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join([line for line in lines if line.strip()][-_TAIL_LINES:])


class Ready(Struct):
    """A stack that is ready for an operation."""

    stack: str
    made: bool = True
    """Whether the stack exists; `Engine.look` does not create it."""
    repairs: list[str] = field(default_factory=list)
    """Repairs of the stack, as messages."""
    resources: list[dict[str, Any]]
    """Resources in the state of the stack."""

    @property
    def protected(self) -> list[Urn]:
        """Return the protected resources, without the provider record, in order of their creation."""
        urns = [Urn(item["urn"]) for item in self.resources if item.get("protect")]
        return [urn for urn in urns if urn.type not in (STACK, RECORD)]

    @property
    def writers(self) -> PlugIns:
        """Return the plug-ins that last wrote the stack."""
        return writers((item["type"], item.get("outputs") or {}) for item in self.resources)


class Engine:
    """The project's ``pulumi``, configured for one environment.

    Raises:
        EngineError: ``pulumi`` is not installed.
    """

    def __init__(self, environment: str, state: StateSpec | None, variables: Mapping[str, str]) -> None:
        require_python()
        self._environment = environment
        self.secrets_provider = state.secrets_provider if state else None
        self.variables = machine.process(environment, backend_url=state.backend if state else None) | dict(variables)
        program = shutil.which("pulumi", path=self.variables["PATH"])
        if program is None:
            msg = f"'pulumi' is not installed for this project; run '{paths.set_up()}'"
            raise EngineError(msg)
        self.program = program
        self.options: tuple[str, ...] = ()
        """Additional options of each run."""
        self.commits: Mapping[str, str] = {}
        """Commits of slices that an operator is to apply, by name; all others keep their recorded commit."""

    @property
    def file_state(self) -> Path | None:
        """Return the folder of the file backend; None for any other backend."""
        url = self.variables["PULUMI_BACKEND_URL"]
        return Path(url.removeprefix("file://").partition("?")[0]) if url.startswith("file://") else None

    @property
    def serving(self) -> dict[str, PlugIn]:
        """Return the plug-ins that the engine would start."""
        return serving(self.variables)

    def prepare(self, stack: str) -> Ready:
        """Prepare ``stack`` for an operation; return its recorded state and the repairs.

        Creates a missing stack, removes the lock of a dead engine, clears operations that a killed engine left pending,
        and replaces the paths of kubeconfigs of another machine. The next ``up`` adopts objects that the killed engine
        created without recording, recognised by their mark.

        Raises:
            EngineError: another process has locked the stack, its state cannot be read, or its disk is almost full.
        """
        repairs = []
        if self.file_state is not None:
            repairs += [
                f"{stack}: removed the lock of an engine that was killed ({holder})"
                for holder in locks.free(self.file_state, stack)
            ]
            if rests := state_files.remove_rests(self.file_state, stack):
                repairs.append(f"{stack}: removed {rests} incomplete file(s), which an earlier run could not finish")
            state_files.require_room(self.file_state, stack)
        self.select(stack)
        state = self.export(stack)
        pending = state.get("deployment", {}).get("pending_operations") or []
        elsewhere = localize(state, self.variables.get(kubeconfig.FOLDER_VARIABLE))
        if pending or elsewhere:
            self._call(["stack", "import", "--stack", stack], f"{stack}: cannot be repaired", stdin=json.dumps(state))
        if pending:
            repairs.append(
                f"{stack}: an earlier run was killed with {len(pending)} pending operation(s); they are resumed"
            )
        return Ready(stack=stack, repairs=repairs, resources=_resources(state))

    def look(self, stack: str) -> Ready:
        """Return the recorded state of ``stack``, empty for a missing stack; nothing is created or repaired.

        Raises:
            EngineError: the state cannot be read.
        """
        try:
            return Ready(stack=stack, resources=_resources(self.export(stack)))
        except EngineError as error:
            if _MISSING not in str(error):
                raise
            return Ready(stack=stack, made=False, resources=[])

    def select(self, stack: str) -> None:
        """Create ``stack`` if it does not exist.

        Raises:
            EngineError: the stack cannot be created.
        """
        create = ["stack", "select", "--create", stack]
        if self.secrets_provider:
            create += ["--secrets-provider", self.secrets_provider]
        self._call(create, f"{stack}: cannot be selected or created")

    def stacks(self) -> frozenset[str]:
        """Return all stacks that exist, of all environments."""
        try:
            listed = json.loads(self._call(["stack", "ls", "--json"], "the stacks cannot be listed"))
        except EngineError as error:
            raise EngineError(damaged_states.listing(self._environment, str(error)) or str(error)) from None
        return frozenset(item["name"].rsplit("/", 1)[-1] for item in listed)

    def export(self, stack: str) -> dict[str, Any]:
        """Return the recorded state of ``stack``."""
        try:
            text = self._call(["stack", "export", "--stack", stack], f"{stack}: its state cannot be read")
        except EngineError as error:
            backend = self.variables["PULUMI_BACKEND_URL"]
            damage = damaged_states.reported(stack, str(error), backend, self.file_state)
            raise EngineError(damage or str(error)) from None
        return dict(json.loads(text))

    @cached_property
    def version(self) -> str:
        """Return the version of the engine."""
        return self._call(["version"], "the version of the engine cannot be read").strip()

    def forget(self, stack: str) -> None:
        """Delete the record of ``stack`` and its resources; objects in clusters are not changed."""
        self._call(
            ["stack", "rm", "--yes", "--force", "--preserve-config", "--stack", stack], f"{stack}: cannot be removed"
        )

    def unprotect(self, stack: str) -> None:
        """Remove the protection of all resources in ``stack``, so that they can be destroyed."""
        self._call(["state", "unprotect", "--all", "--yes", "--stack", stack], f"{stack}: cannot be unprotected")

    def run(
        self,
        verb: str,
        stack: str,
        *options: str,
        watch: Callable[[Progress], None] = lambda _: None,
        stopping: Callable[[], None] = lambda: None,
    ) -> Run:
        """Run ``pulumi VERB``; call ``watch`` several times a second, and ``stopping`` when a stop is requested.

        Raises:
            EngineStopped: after Ctrl-C, when the engine has exited cleanly.
        """
        folder = log_folder()
        folder.mkdir(parents=True, exist_ok=True)
        log, event_log = folder / f"{stack}.log", folder / f"{stack}.events"
        event_log.write_bytes(b"")
        command = [verb, "--stack", stack, "--event-log", str(event_log), *self.options, *options]
        started = time.monotonic()
        progress = Progress()
        with log.open("wb") as output, event_log.open("rb") as events, asked.listened(stopping):
            asked.pass_by(f"{verb} of {stack}")
            process = self._start(command, output, self._commits(stack))
            _follow(process, growing_lines(events), progress, watch)
            asked.pass_by(f"{verb} of {stack}")
        return Run(
            stack=stack,
            code=process.returncode or int(progress.unrecorded),
            progress=progress,
            duration_seconds=time.monotonic() - started,
            log=log,
        )

    def _commits(self, stack: str) -> dict[str, str]:
        """Return the variable with the commits of slices, for the stack of the engine."""
        if stack != f"{self._environment}.{SliceKind.ENGINE}":
            return {}
        return {settings.COMMITS: json.dumps({**recorded_commits(self.look(stack).resources), **self.commits})}

    def _start(self, command: list[str], output: Any, more: Mapping[str, str]) -> subprocess.Popen[bytes]:
        pulumi = [self.program, *command, "--non-interactive", "--color", "never"]
        return subprocess.Popen(
            [sys.executable, "-S", parent_death.__file__, *pulumi],
            cwd=paths.project(),
            env=self.variables | {"PULUMI_DEBUG_COMMANDS": "true", **more},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def _call(self, arguments: list[str], failure: str, *, stdin: str = "") -> str:
        command = " ".join(arguments[:2])
        asked.pass_by(command)
        done = subprocess.run(
            [self.program, *arguments, "--non-interactive", "--color", "never"],
            cwd=paths.project(),
            env=self.variables,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            asked.pass_by(command)  # Ctrl-C in the terminal also stopped this process
            reason = (done.stderr or done.stdout).strip().removeprefix("error: ")
            msg = f"{failure}: {reason}"
            raise EngineError(msg)
        return done.stdout


def log_folder() -> Path:
    """Return the folder for logs and events of the engine, which is kept when the region is destroyed."""
    return paths.home() / "pulumi" / "logs"


def _resources(state: dict[str, Any]) -> list[dict[str, Any]]:
    return state.get("deployment", {}).get("resources") or []


def _follow(
    process: subprocess.Popen[bytes],
    lines: Iterator[str | None],
    progress: Progress,
    watch: Callable[[Progress], None],
) -> None:
    """Process all events of an engine until the engine exits, and forward stop requests to the engine."""
    forwarded = 0
    while True:
        ended = process.poll() is not None
        for line in iter(lines.__next__, None):
            progress.see(line, time.monotonic())
        watch(progress)
        if ended:
            return
        for _ in range(forwarded, asked.to_pass_on):
            process.send_signal(signal.SIGINT)
        forwarded = asked.to_pass_on
        time.sleep(_POLL_SECONDS)
