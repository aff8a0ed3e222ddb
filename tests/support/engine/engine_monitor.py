"""The engine's side of a component provider: a monitor that records registrations, and a client of the provider."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import engine_pb2_grpc, provider_pb2, resource_pb2, resource_pb2_grpc
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderStub

FEATURES = {"secrets", "resourceReferences", "outputValues"}


class Log(engine_pb2_grpc.EngineServicer):
    """Receives the log messages of a provider."""

    def Log(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - the protocol's names
        return Empty()


class Monitor(resource_pb2_grpc.ResourceMonitorServicer):
    """Answers each registration as the engine does, with the inputs as the state."""

    def __init__(self) -> None:
        self.registered: list[resource_pb2.RegisterResourceRequest] = []
        self.outputs: dict[str, Any] = {}

    def SupportsFeature(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - the protocol's names
        return resource_pb2.SupportsFeatureResponse(hasSupport=request.id in FEATURES)

    def GetDeploymentInfo(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - the protocol's names
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "as in older engines")

    def RegisterResource(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - the protocol's names
        self.registered.append(request)
        parent = request.parent.split("::")[2] + "$" if request.parent else ""
        return resource_pb2.RegisterResourceResponse(
            urn=f"urn:pulumi:test::project::{parent}{request.type}::{request.name}",
            id=request.name if request.custom else "",
            object=request.object,
        )

    def RegisterResourceOutputs(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - the protocol's names
        self.outputs[request.urn] = request.outputs
        return Empty()


class Provider:
    """A running provider process with a client of its protocol."""

    def __init__(self, stub: Any, address: str) -> None:
        self._stub = stub
        self._address = address

    def schema(self) -> str:
        """Return the schema of the package."""
        return str(self._stub.GetSchema(provider_pb2.GetSchemaRequest(version=0)).schema)

    def construct(self, kind: str, name: str, inputs: Mapping[str, Any]) -> Any:
        """Return the response to a Construct request, with secrets and outputs in wire format."""
        properties = Struct()
        properties.update(inputs)
        request = provider_pb2.ConstructRequest(
            project="project",
            stack="test",
            type=kind,
            name=name,
            inputs=properties,
            parallel=4,
            monitorEndpoint=self._address,
        )
        return self._stub.Construct(request)


@contextmanager
def running(program: str, folder: str) -> Iterator[tuple[Provider, Monitor]]:
    """Run a provider in ``folder`` as the engine does, with a monitor."""
    monitor = Monitor()
    server = grpc.server(ThreadPoolExecutor(8))
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(monitor, server)
    engine_pb2_grpc.add_EngineServicer_to_server(Log(), server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    process = subprocess.Popen([sys.executable, "-m", program, address], cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield Provider(ResourceProviderStub(channel), address), monitor
    finally:
        process.terminate()
        process.communicate()
        server.stop(None).wait()
