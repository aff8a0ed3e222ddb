"""Runs the code of extensions in a child process, which can neither end nor block the command.

All callers use the same process: `check`, programs, the policy pack and previews. It starts with the first file of an
extension and has bounds for time and memory. A file whose code ends the process or exceeds a bound is not called again.
"""

import atexit
import io
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from components.inputs.extensions.host import receive, send
from components.specs.struct import Struct

SECONDS = 60
"""Time bound for loading a file and for one call, in seconds."""
MEMORY_BYTES = 4 << 30
"""Memory bound of the process."""
_SHARED_BYTES = 1 << 14
"""Size from which arguments are sent once and kept for later calls, such as the environment."""
_HOST = "components.inputs.extensions.host"


class ExtensionError(Exception):
    """Code of an extension failed; ``reason`` describes the failure without file and line."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        self.file, self.line, self.reason = file, line, reason
        super().__init__(f"{file}{f':{line}' if line else ''}: {reason}")


class Code(Struct, kw_only=False):
    """Version of a file with code of an extension."""

    project: Path
    path: Path
    stamp: int
    """Modification time in nanoseconds; a changed file is loaded again."""

    @property
    def file(self) -> str:
        """Return the path of the file relative to the project."""
        return self.path.relative_to(self.project).as_posix()


class Value(Struct, kw_only=False):
    """Value that a file defines; functions in it are references to the process."""

    type_name: str
    value: Any
    """Value without functions; None if its type is defined by the extension."""


class Function(Struct, kw_only=False):
    """Reference to a function of an extension; a call runs in the process."""

    code: Code
    name: str
    number: int

    def __call__(self, *arguments: Any) -> Any:
        """Return the result of the function.

        Raises:
            ExtensionError: the function fails, ends its process or exceeds a bound.
        """
        _, content = _process(self.code.project).request(self.code, "call", self.name, self.number, arguments=arguments)
        return _unpickled(content, self.code, self.name)


def load(code: Code, name: str) -> Value | None:
    """Return the value of ``name`` in a file; None if the file does not define the name.

    Raises:
        ExtensionError: the file cannot be imported.
    """
    answer, *rest = _process(code.project).request(code, "load", name)
    if answer == "missing":
        return None
    type_name, content = rest
    try:
        return Value(type_name, _unpickled(content, code, name))
    except ExtensionError:
        return Value(type_name, None)


class _Process:
    """Child process for the extensions of one project."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._stream: socket.socket | None = None
        self._lock = threading.Lock()
        self._shared: dict[int, Any] = {}
        """Arguments that the child keeps, by identity."""
        self._failed: dict[Code, str] = {}
        """Reason why a file is not called again."""
        atexit.register(self.stop)

    def request(self, code: Code, verb: str, *rest: Any, arguments: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """Return the answer of the child.

        Raises:
            ExtensionError: the code fails, ends its process or exceeds a bound.
        """
        with self._lock:
            if code in self._failed:
                raise ExtensionError(code.file, 0, self._failed[code])
            try:
                stream = self._started()
                last = () if arguments is None else (self._sendable(arguments),)
                send(stream, pickle.dumps((verb, str(code.path), code.stamp, *rest, *last)))
                kind, *answer = pickle.loads(receive(stream))  # noqa: S301 - text and bytes of the child's own code
            except TimeoutError:
                reason = f"gave no answer within {SECONDS} seconds"
            except (EOFError, OSError):
                reason = f"ended its process ({self._end()})"
            else:
                if kind == "error":
                    self._shared.clear()  # The child may have failed to read the arguments.
                    raise ExtensionError(code.file, answer[1], answer[0])
                return kind, *answer
            self.stop()
            self._failed[code] = reason
            raise ExtensionError(code.file, 0, reason)

    def stop(self) -> None:
        """End the child; the next request starts another one."""
        if self._stream:
            self._stream.close()
        if self._child:
            with suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
        self._stream = self._child = None
        self._shared.clear()

    def _started(self) -> socket.socket:
        if self._stream is None:
            self._stream, theirs = socket.socketpair()
            self._stream.settimeout(SECONDS)
            with theirs:
                numbers = (theirs.fileno(), MEMORY_BYTES, SECONDS + 1)
                self._child = subprocess.Popen(
                    [sys.executable, "-P", "-m", _HOST, *map(str, numbers)],
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
                    stdin=subprocess.DEVNULL,
                    stdout=sys.__stderr__.fileno() if sys.__stderr__ else subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # Ctrl-C ends the command, which then ends this process.
                )
        return self._stream

    def _sendable(self, arguments: tuple[Any, ...]) -> list[tuple[int, bytes | None]]:
        """Return each argument pickled, with a key if the child keeps it; kept arguments have no content."""
        kept, sendable = self._shared, []
        self._shared = {}
        for argument in arguments:
            key = id(argument)
            content = None if kept.get(key) is argument else pickle.dumps(argument, pickle.HIGHEST_PROTOCOL)
            if content is None or len(content) >= _SHARED_BYTES:
                self._shared[key] = argument
                sendable.append((key, content))
            else:
                sendable.append((0, content))
        return sendable

    def _end(self) -> str:
        if self._child is None:
            return "the process cannot be started"
        try:
            code = self._child.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "closed its connection"
        return f"exit code {code}" if code >= 0 else f"signal {-code}"


_PROCESSES: dict[Path, _Process] = {}
"""Process by project, at most one."""


def _process(project: Path) -> _Process:
    """Return the process of ``project``; the process of another project ends."""
    if project not in _PROCESSES:
        while _PROCESSES:
            _PROCESSES.popitem()[1].stop()
        _PROCESSES[project] = _Process()
    return _PROCESSES[project]


def _unpickled(content: bytes, code: Code, name: str) -> Any:
    """Return the value in ``content``; functions become references.

    Raises:
        ExtensionError: the value has a type that only the file defines.
    """

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, number: int) -> Callable[..., Any]:
            return Function(code, name, number)

        def find_class(self, module: str, name: str) -> Any:
            found = super().find_class(module, name)
            if not isinstance(found, type):
                message = f"{module}.{name} is not a class"
                raise pickle.UnpicklingError(message)
            return found

    try:
        return Unpickler(io.BytesIO(content)).load()
    except (Exception, SystemExit) as error:
        raise ExtensionError(code.file, 0, f"returns a value that cannot be read: {error}") from error
