"""Life cycle of a plug-in: print the port, serve, and exit with the engine."""

from __future__ import annotations

import os
import signal
import stat
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import grpc

from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.errors import InitFailed
from jacquard.providers.rpc.stubs import ResourceProviderServicer, add_ResourceProviderServicer_to_server, engine_pb2
from jacquard.providers.rpc.stubs import engine_pb2_grpc as engine_grpc

MESSAGE_BYTES = 400 * 1024 * 1024
"""Maximum message size in bytes, equal to the engine's limit."""
THREADS = 128
"""Maximum number of parallel calls; threads are created on demand. The engine sends up to ``--parallel`` calls."""
GRACE_SECONDS = 10.0
"""Time for running calls to finish after a stop request."""
_LOOK_SECONDS = 1.0


class Engine:
    """Log of the engine; without an engine address, as in a manual start, all methods do nothing."""

    def __init__(self, address: str | None) -> None:
        self.address = address
        self._stub = engine_grpc.EngineStub(grpc.insecure_channel(address)) if address else None

    @classmethod
    def from_argv(cls) -> Engine:
        """Return the engine whose address is the first command-line argument."""
        return cls(next((word for word in sys.argv[1:] if not word.startswith("-")), None))

    def debug(self, message: str, urn: str = "") -> None:
        """Log a message for ``pulumi --logtostderr -v``."""
        self._log(engine_pb2.DEBUG, message, urn, ephemeral=False)

    def info(self, message: str, urn: str = "", *, ephemeral: bool = False) -> None:
        """Show a message next to its resource; an ephemeral message only during the operation."""
        self._log(engine_pb2.INFO, message, urn, ephemeral=ephemeral)

    def warning(self, message: str, urn: str = "") -> None:
        """Show a warning; the engine repeats warnings at the end."""
        self._log(engine_pb2.WARNING, message, urn, ephemeral=False)

    def _log(self, severity: engine_pb2.LogSeverity.ValueType, message: str, urn: str, *, ephemeral: bool) -> None:
        if self._stub is None:
            return
        request = engine_pb2.LogRequest(severity=severity, message=message, urn=urn, ephemeral=ephemeral)
        try:
            self._stub.Log(request, timeout=5.0)
        except grpc.RpcError:
            return  # a lost log line must not make an apply fail


class ReadableErrors(grpc.ServerInterceptor):  # type: ignore[type-arg]  # generic in the stubs only
    """Converts exceptions of unary calls to messages: a `ProviderError` unchanged, any other as a fault of the plug-in.

    Handlers raise exceptions; none of them calls ``context.abort``.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def intercept_service(self, continuation: Callable[[Any], Any], details: grpc.HandlerCallDetails) -> Any:
        """Wrap the handler of a call."""
        handler = continuation(details)
        if handler is None or handler.unary_unary is None:
            return handler
        name = details.method.rpartition("/")[2]

        def call(request: Any, context: grpc.ServicerContext) -> Any:
            try:
                return handler.unary_unary(request, context)
            except InitFailed as error:
                error.abort(context)
            except ProviderError as error:
                context.abort(grpc.StatusCode.UNKNOWN, str(error))
            except NotImplementedError:
                context.abort(grpc.StatusCode.UNIMPLEMENTED, f"{name} is not supported by this plug-in")
            except Exception as error:  # noqa: BLE001 - the engine needs an answer, and users no traceback
                # The trace of the engine is a file that users share: it has no messages, which may quote values.
                places = "".join(traceback.format_tb(error.__traceback__))
                self._engine.debug(f"{places}{type(error).__name__}")
                context.abort(
                    grpc.StatusCode.INTERNAL,
                    f"{name} failed because of an error in the plug-in ({type(error).__name__}); --debug shows where",
                )

        return grpc.unary_unary_rpc_method_handler(call, handler.request_deserializer, handler.response_serializer)


def serve_provider(servicer: ResourceProviderServicer, engine: Engine | None = None) -> None:
    """Serve a resource provider until the engine exits or requests a stop.

    ``servicer.cancel()``, if it exists, is called on SIGINT, SIGTERM and when the engine has exited.
    """
    cancel = getattr(servicer, "cancel", None)
    serve(lambda server: add_ResourceProviderServicer_to_server(servicer, server), engine=engine, cancel=cancel)


def serve(
    add: Callable[[grpc.Server], object], *, engine: Engine | None = None, cancel: Callable[[], None] | None = None
) -> None:
    """Serve gRPC on a free loopback port, print the port as the first line of stdout, and return at a stop request.

    A stop request is SIGINT, SIGTERM, EOF of a piped stdin, or the end of the parent process. Running calls then get
    `GRACE_SECONDS`. Later output of the code goes to stderr, because stdout is reserved for the engine.

    Args:
        add: Registers servicers on the server.
        engine: Log for faults (default: the engine whose address is in argv).
        cancel: Called once at the stop request, before the grace period.
    """
    engine = engine or Engine.from_argv()
    options = [
        ("grpc.max_receive_message_length", MESSAGE_BYTES),
        ("grpc.max_send_message_length", MESSAGE_BYTES),
        ("grpc.so_reuseport", 0),
    ]
    server = grpc.server(ThreadPoolExecutor(THREADS), interceptors=[ReadableErrors(engine)], options=options)
    add(server)
    port = server.add_insecure_port("127.0.0.1:0")
    stop = _stop_event()
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    sys.stdout = sys.stderr
    parent = os.getppid()
    while not stop.wait(_LOOK_SECONDS) and os.getppid() == parent:
        pass
    if cancel is not None:
        cancel()
    if not server.stop(GRACE_SECONDS).wait(GRACE_SECONDS + 1):
        os._exit(1)  # the thread of a call that is blocked in the kernel would keep the process alive


def _stop_event() -> threading.Event:
    """Return an event that is set by signals and by the end of stdin."""
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)

    def watch_stdin() -> None:
        while os.read(0, 4096):
            pass
        stop.set()

    if _is_piped():
        threading.Thread(target=watch_stdin, daemon=True).start()
    return stop


def _is_piped() -> bool:
    """Return whether stdin is connected to a process; a terminal or /dev/null is independent of the engine."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
