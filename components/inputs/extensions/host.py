"""Child process that runs the code of extensions for `components.inputs.extensions.process`.

A request names a file and a value that the file defines. The reply is the value or the result of a call, pickled;
functions stay in this process and are replaced by references. An error of the code is a reply too. Everything that ends
this process, such as ``os._exit`` or a bound, is reported by the parent.
"""

import io
import os
import pickle
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

_LENGTH = struct.Struct(">Q")


def send(stream: socket.socket, message: bytes) -> None:
    """Send one message."""
    stream.sendall(_LENGTH.pack(len(message)) + message)


def receive(stream: socket.socket) -> bytes:
    """Return the next message.

    Raises:
        EOFError: the other process ended.
    """
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return _exactly(stream, length)


def _exactly(stream: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = stream.recv(min(length - len(parts), 1 << 20))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


class _Files:
    """Loaded files and the functions that the parent refers to."""

    def __init__(self) -> None:
        self._functions: dict[tuple[str, int, str], list[Callable[..., Any]]] = {}
        """Functions of the value of a name, in the order of pickling, by file, modification time and name."""
        self._kept: dict[int, Any] = {}
        """Large arguments that several calls share, by the key of the parent."""

    def load(self, path: str, stamp: int, name: str) -> tuple[Any, ...]:
        """Return ``missing``, or ``value`` with the type and the pickled value of ``name``."""
        module = _module(path)
        if not hasattr(module, name):
            return ("missing",)
        value = getattr(module, name)
        functions: list[Callable[..., Any]] = []
        content = _pickled(value, functions)
        self._functions[path, stamp, name] = functions
        return "value", type(value).__name__, content

    def call(
        self, path: str, stamp: int, name: str, number: int, arguments: list[tuple[int, bytes | None]]
    ) -> tuple[str, bytes]:
        """Return the pickled result of a function; iterators become tuples."""
        if (path, stamp, name) not in self._functions:
            self.load(path, stamp, name)
        result = self._functions[path, stamp, name][number](*self._arguments(arguments))
        return "result", _pickled(tuple(result) if isinstance(result, Iterator) else result, [])

    def _arguments(self, arguments: list[tuple[int, bytes | None]]) -> list[Any]:
        """Return the arguments of a call. An argument without content was sent before under the same key."""
        values = []
        for key, content in arguments:
            value = self._kept[key] if content is None else pickle.loads(content)  # noqa: S301 - sent by the parent
            if key:
                self._kept[key] = value
            values.append(value)
        used = {key for key, _ in arguments}
        self._kept = {key: value for key, value in self._kept.items() if key in used}
        return values


def _pickled(value: Any, functions: list[Callable[..., Any]]) -> bytes:
    """Return ``value`` as bytes, in which each function is the number of its entry in ``functions``."""

    class Pickler(pickle.Pickler):
        def persistent_id(self, item: Any) -> int | None:
            if not callable(item) or isinstance(item, type):
                return None
            functions.append(item)
            return len(functions) - 1

    content = io.BytesIO()
    Pickler(content, pickle.HIGHEST_PROTOCOL).dump(value)
    return content.getvalue()


def _module(path: str) -> Any:
    folder, file = os.path.split(path)
    name = f"own_{os.path.basename(folder)}_{file.removesuffix('.py')}"  # noqa: PTH119 - starts faster than pathlib
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = module_from_spec(spec)
    sys.modules[name] = module  # The decorator of data classes looks up the module in sys.modules.
    spec.loader.exec_module(module)
    return module


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}".removesuffix(": ")


def _line(error: BaseException, path: str) -> int:
    """Return the line of ``path`` that raised ``error``; 0 if other code raised it."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 0
    lines, trace = [0], error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines[-1]


def main() -> None:
    """Answer requests until the parent ends.

    The arguments are the descriptor of the socket, the memory bound in bytes and the time bound in seconds.
    """
    descriptor, memory_bytes, seconds = map(int, sys.argv[1:])
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    stream, files = socket.socket(fileno=descriptor), _Files()
    while True:
        try:
            verb, path, *rest = pickle.loads(receive(stream))  # noqa: S301 - sent by the parent
        except EOFError:
            os._exit(0)  # Threads and exit handlers of extensions must not keep the process.
        signal.alarm(seconds)  # The alarm ends endless loops after the death of the parent.
        try:
            reply = getattr(files, verb)(path, *rest)
        except BaseException as error:  # noqa: BLE001 - sys.exit() of an extension is an error like any other
            reply = ("error", _message(error), _line(error, path))
        signal.alarm(0)
        send(stream, pickle.dumps(reply))


if __name__ == "__main__":
    main()
