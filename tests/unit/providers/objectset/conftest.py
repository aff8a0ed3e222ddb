"""The provider with an in-memory API server, called over gRPC like by the engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from jacquard.providers.objectset import handover
from jacquard.providers.objectset.provider import ObjectSetProvider
from jacquard.providers.rpc.server import Engine, ReadableErrors
from jacquard.providers.rpc.stubs import (
    ResourceProviderStub,
    add_ResourceProviderServicer_to_server,
    provider_pb2,
    status_pb2,
)
from jacquard.providers.rpc.values import Properties, decode, encode
from tests.support.api_servers.fake_kube import FakeKube, serve


class RecordingEngine(Engine):
    """Records the messages."""

    def __init__(self) -> None:
        super().__init__(None)
        self.lines: list[str] = []

    def _log(self, severity: Any, message: str, urn: str, *, ephemeral: bool) -> None:
        del severity, urn, ephemeral
        self.lines.append(message)


@dataclass
class Failure:
    """Failure of a call, with the state that the engine should record."""

    text: str
    reasons: list[str]
    inputs: Properties
    outputs: Properties
    raw_outputs: Any


@dataclass
class Driver:
    """The engine's side: calls with plain data."""

    stub: ResourceProviderStub
    servicer: ObjectSetProvider
    engine: RecordingEngine
    urn: str = "urn:pulumi:lab::toy::jacquard:index:ObjectSet::rack-a01"

    def configure(self, **settings: Any) -> None:
        self.stub.Configure(provider_pb2.ConfigureRequest(args=encode(settings)))

    def create(self, inputs: dict[str, Any], *, secrets: Any = (), preview: bool = False, timeout: float = 5) -> Any:
        request = provider_pb2.CreateRequest(
            urn=self.urn, properties=encode(inputs, secrets), preview=preview, timeout=timeout
        )
        return decode(self.stub.Create(request).properties).plain

    def update(
        self,
        old: dict[str, Any],
        new: dict[str, Any],
        outputs: dict[str, Any],
        *,
        preview: bool = False,
        timeout: float = 5,
    ) -> Any:
        request = provider_pb2.UpdateRequest(
            urn=self.urn,
            olds=encode(outputs),
            old_inputs=encode(old),
            news=encode(new),
            preview=preview,
            timeout=timeout,
        )
        return decode(self.stub.Update(request).properties).plain

    def read(
        self, inputs: dict[str, Any], secrets: Any = (), outputs: Any = None, id_: str = "inventory/rack-a01"
    ) -> tuple[str, Properties, dict[str, Any]]:
        request = provider_pb2.ReadRequest(
            id=id_, urn=self.urn, inputs=encode(inputs, secrets), properties=encode(outputs or {})
        )
        answer = self.stub.Read(request)
        return answer.id, decode(answer.inputs), decode(answer.properties).plain

    def delete(self, inputs: dict[str, Any], timeout: float = 5, outputs: Any = None) -> None:
        request = provider_pb2.DeleteRequest(
            id="inventory/rack-a01",
            urn=self.urn,
            old_inputs=encode(inputs),
            properties=encode(outputs or {}),
            timeout=timeout,
        )
        self.stub.Delete(request)

    def check(self, inputs: dict[str, Any]) -> None:
        """Check valid inputs, as the engine does before any operation on a set."""
        assert not self.stub.Check(provider_pb2.CheckRequest(urn=self.urn, news=encode(inputs))).failures

    @staticmethod
    def failure(error: grpc.RpcError) -> Failure:
        """Parse the error of a call."""
        detail = provider_pb2.ErrorResourceInitFailed()
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                assert status_pb2.Status.FromString(value).details[0].Unpack(detail)
        inputs, outputs = decode(detail.inputs), decode(detail.properties)
        return Failure(str(error.details()), list(detail.reasons), inputs, outputs, detail.properties)


@pytest.fixture
def kube() -> Iterator[FakeKube]:
    with serve() as fake:
        yield fake


@pytest.fixture
def kubeconfig(kube: FakeKube, tmp_path: Path) -> Path:
    path = tmp_path / "kubeconfig.yaml"
    config = {
        "clusters": [{"name": "c", "cluster": {"server": kube.url}}],
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        "current-context": "c",
    }
    path.write_text(json.dumps(config))
    return path


@pytest.fixture
def unconfigured(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    monkeypatch.setattr(handover, "SETTLE_SECONDS", 0.0)  # A test checks its sets before it changes one.
    engine = RecordingEngine()
    servicer = ObjectSetProvider(engine, taking=["kubectl-edit"])
    server = grpc.server(ThreadPoolExecutor(4), interceptors=[ReadableErrors(engine)])
    add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield Driver(ResourceProviderStub(channel), servicer, engine)
    server.stop(None).wait()
    servicer.close()


@pytest.fixture
def provider(unconfigured: Driver, kubeconfig: Path) -> Driver:
    unconfigured.configure(kubeconfig=str(kubeconfig), clusterIdentifier="test")
    return unconfigured
