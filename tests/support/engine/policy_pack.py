"""Requests of the engine to the policy pack, and the pack's responses, as plain data."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from policies.pack.analyzer import Analyzer

UNKNOWN_STRING = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
MANDATORY, ADVISORY = analyzer_pb2.MANDATORY, analyzer_pb2.ADVISORY
NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
TEMPLATE = "kubernetes:infrastructure.cluster.x-k8s.io/v1beta2:Metal3MachineTemplate"
HOST = {"kind": "BareMetalHost", "metadata": {"name": "a01-u01", "namespace": "acme-train"}, "spec": {"online": True}}


def request(
    token: str, properties: Mapping[str, Any], stack: str = "laptop", name: str = "x"
) -> analyzer_pb2.AnalyzeRequest:
    struct = struct_pb2.Struct()
    struct.update(properties)
    provider = analyzer_pb2.AnalyzerProviderResource(name="management")
    urn = f"urn:pulumi:{stack}::jacquard::{token}::{name}"
    return analyzer_pb2.AnalyzeRequest(type=token, name=name, urn=urn, properties=struct, provider=provider)


def template(checksum: str) -> dict[str, Any]:
    image = {"url": "https://images.cloud.example/x.raw", "checksum": checksum, "checksumType": "sha256"}
    return {
        "kind": "Metal3MachineTemplate",
        "metadata": {"name": "pool-0123456789", "namespace": "acme-train"},
        "spec": {"template": {"spec": {"image": image}}},
    }


def configure(analyzer: Analyzer, *, dry_run: bool) -> None:
    analyzer.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(dry_run=dry_run), None)


def found(response: analyzer_pb2.AnalyzeResponse) -> list[tuple[str, int]]:
    return [(item.policyName, item.enforcementLevel) for item in response.diagnostics]


def in_stack(requests: Iterable[analyzer_pb2.AnalyzeRequest]) -> analyzer_pb2.AnalyzeStackRequest:
    """Return the request for a stack whose outputs are the inputs of ``requests``."""
    resources = [
        analyzer_pb2.AnalyzerResource(
            type=item.type, name=item.name, urn=item.urn, properties=item.properties, provider=item.provider
        )
        for item in requests
    ]
    return analyzer_pb2.AnalyzeStackRequest(resources=resources)


@contextmanager
def served(analyzer: Analyzer) -> Iterator[analyzer_pb2_grpc.AnalyzerStub]:
    """Yield a client of ``analyzer``, which is served on a free port."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(analyzer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield analyzer_pb2_grpc.AnalyzerStub(channel)
    finally:
        server.stop(0)


def as_engine(stub: analyzer_pb2_grpc.AnalyzerStub, file: Mapping[str, Any], stack: str = "laptop") -> None:
    """Load the pack for ``stack`` with the configuration ``file``, in the order and with the defaults of the engine.

    The engine applies the level of ``all`` to each policy, then the entries of the file (pulumi 3.259:
    pkg/resource/analyzer/config.go).
    """
    stub.ConfigureStack(analyzer_pb2.AnalyzerStackConfigureRequest(stack=stack, dry_run=True))
    levels = {policy.name: policy.enforcementLevel for policy in stub.GetAnalyzerInfo(empty_pb2.Empty()).policies}
    entries = {name: {"enforcementLevel": item} if isinstance(item, str) else dict(item) for name, item in file.items()}
    if common := entries.get("all", {}).get("enforcementLevel"):
        levels = dict.fromkeys(levels, analyzer_pb2.EnforcementLevel.Value(common.upper()))
    config = {name: analyzer_pb2.PolicyConfig(enforcementLevel=level) for name, level in levels.items()}
    for name, entry in entries.items():
        level = entry.pop("enforcementLevel", None)
        number = analyzer_pb2.EnforcementLevel.Value(level.upper()) if isinstance(level, str) else level
        properties = struct_pb2.Struct()
        properties.update(entry)
        config[name] = analyzer_pb2.PolicyConfig(
            enforcementLevel=levels.get(name, 0) if number is None else number, properties=properties
        )
    stub.Configure(analyzer_pb2.ConfigureAnalyzerRequest(policyConfig=config))
