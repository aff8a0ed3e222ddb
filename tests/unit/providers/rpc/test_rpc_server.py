"""Life cycle of a plug-in process, and its errors in the engine."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import pytest

from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.errors import InitFailed, check_failure
from jacquard.providers.rpc.server import Engine, ReadableErrors
from jacquard.providers.rpc.stubs import (
    ResourceProviderServicer,
    ResourceProviderStub,
    add_ResourceProviderServicer_to_server,
    provider_pb2,
    status_pb2,
)
from jacquard.providers.rpc.values import decode, encode

PLUGIN = """
import time
from google.protobuf.empty_pb2 import Empty
from jacquard.providers.rpc.server import serve_provider
from jacquard.providers.rpc.stubs import ResourceProviderServicer

class Plugin(ResourceProviderServicer):
    def Cancel(self, request, context):
        print("a stray line")
        return Empty()

    def cancel(self):
        print("cancelled", flush=True)

serve_provider(Plugin())
"""


@contextmanager
def plugin(stdin: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", PLUGIN], stdin=stdin, stdout=pipe, stderr=pipe, text=True) as process:
        yield process
        process.kill()


def port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def test_the_first_line_is_the_port_and_nothing_else_reaches_stdout() -> None:
    with plugin() as process:
        with grpc.insecure_channel(f"127.0.0.1:{port(process)}") as channel:
            ResourceProviderStub(channel).Cancel(provider_pb2.google_dot_protobuf_dot_empty__pb2.Empty())
        out, err = process.communicate(timeout=10)
    assert out == ""
    assert err.splitlines() == ["a stray line", "cancelled"]


def test_it_ends_when_the_engine_closes_its_stdin() -> None:
    with plugin() as process:
        port(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(10) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_on_a_signal(number: signal.Signals) -> None:
    with plugin(subprocess.DEVNULL) as process:
        port(process)
        process.send_signal(number)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == "cancelled\n"


def test_the_server_ends_with_the_process_that_started_it() -> None:
    starter = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {PLUGIN!r}], stdin=subprocess.DEVNULL)\n"
        "import time; time.sleep(1.5)\n"
    )
    done = subprocess.run([sys.executable, "-c", starter], capture_output=True, timeout=20, check=True, text=True)
    assert done.stdout.strip().isdigit()
    assert done.stderr == "cancelled\n"


def test_the_stubs_neither_load_the_sdk_nor_stand_in_its_way() -> None:
    code = (
        "import sys, jacquard.providers.rpc.stubs\n"
        "assert 'pulumi' not in sys.modules and 'pulumi.runtime' not in sys.modules\n"
        "import pulumi, pulumi.runtime.mocks, pulumi.provider\n"
        "assert pulumi.runtime.rpc and pulumi.Output\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


class Servicer(ResourceProviderServicer):
    """Raises the exception that a test sets."""

    error: Exception

    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - the protocol's
        raise self.error


class RecordingEngine(Engine):
    """Records the messages that ``--debug`` shows."""

    def __init__(self) -> None:
        super().__init__(None)
        self.lines: list[str] = []

    def debug(self, message: str, urn: str = "") -> None:
        self.lines.append(f"{urn}{message}")


@pytest.fixture
def engine() -> RecordingEngine:
    return RecordingEngine()


@pytest.fixture
def servicer(engine: RecordingEngine) -> Iterator[tuple[Servicer, ResourceProviderStub]]:
    servicer = Servicer()
    server = grpc.server(ThreadPoolExecutor(1), interceptors=[ReadableErrors(engine)])
    add_ResourceProviderServicer_to_server(servicer, server)
    number = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{number}") as channel:
        yield servicer, ResourceProviderStub(channel)
    server.stop(None).wait()


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (ProviderError("name it"), grpc.StatusCode.UNKNOWN, "name it"),
        (
            KeyError("hunter2"),
            grpc.StatusCode.INTERNAL,
            "Create failed because of an error in the plug-in (KeyError); --debug shows where",
        ),
        (NotImplementedError(), grpc.StatusCode.UNIMPLEMENTED, "Create is not supported by this plug-in"),
    ],
)
def test_errors_reach_the_user_as_one_sentence(servicer: Any, error: Exception, code: Any, text: str) -> None:
    servicer[0].error = error
    with pytest.raises(grpc.RpcError) as raised:
        servicer[1].Create(provider_pb2.CreateRequest())
    assert (raised.value.code(), raised.value.details()) == (code, text)


def test_a_trace_shows_where_a_plug_in_failed_and_no_value(servicer: Any, engine: RecordingEngine) -> None:
    servicer[0].error = KeyError("hunter2")
    with pytest.raises(grpc.RpcError):
        servicer[1].Create(provider_pb2.CreateRequest())

    [trace] = engine.lines
    assert trace.endswith("raise self.error\nKeyError")
    assert "hunter2" not in trace


def test_a_partial_failure_carries_the_truth(servicer: Any) -> None:
    servicer[0].error = InitFailed(
        "1 of 2 failed", reasons=["b: no"], id_="x", properties=encode({"a": 1}), inputs=encode({"a": "s"}, [("a",)])
    )
    with pytest.raises(grpc.RpcError) as raised:
        servicer[1].Create(provider_pb2.CreateRequest())

    [(_, data)] = [item for item in raised.value.trailing_metadata() if item[0] == "grpc-status-details-bin"]
    status, detail = status_pb2.Status.FromString(data), provider_pb2.ErrorResourceInitFailed()
    assert status.details[0].Unpack(detail)
    assert (status.code, status.message, detail.id, list(detail.reasons)) == (2, "1 of 2 failed", "x", ["b: no"])
    assert (decode(detail.properties).plain, decode(detail.inputs).secrets) == ({"a": 1}, {("a",)})


def test_check_failures_carry_a_property_path() -> None:
    failure = check_failure(("spec", "a-b"), "is wrong")
    assert (failure.property, failure.reason) == ('spec["a-b"]', "is wrong")
