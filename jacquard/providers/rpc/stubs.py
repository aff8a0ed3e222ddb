"""The gRPC stubs of the installed ``pulumi`` package, without the package: its import costs more than our start-up.

While the stubs are imported, ``pulumi`` and ``pulumi.runtime`` are stand-in modules that have nothing but a
``__path__``; they are taken away again, so a later ``import pulumi`` gets the real one. Nothing is replaced when the
real one is there already. Import stubs from here, never from ``pulumi.runtime.proto``.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


@contextmanager
def _without_sdk() -> Iterator[None]:
    spec = importlib.util.find_spec("pulumi") if "pulumi" not in sys.modules else None
    if spec is None or not spec.submodule_search_locations:
        yield
        return
    root = Path(spec.submodule_search_locations[0])
    for name, folder in (("pulumi", root), ("pulumi.runtime", root / "runtime")):
        module = ModuleType(name)
        module.__path__ = [str(folder)]
        sys.modules[name] = module
    try:
        yield
    finally:
        del sys.modules["pulumi"], sys.modules["pulumi.runtime"]


with _without_sdk():
    from pulumi.runtime.proto import (
        engine_pb2,
        engine_pb2_grpc,
        language_pb2,
        language_pb2_grpc,
        plugin_pb2,
        provider_pb2,
        provider_pb2_grpc,
        resource_pb2,
        resource_pb2_grpc,
        status_pb2,
    )
    from pulumi.runtime.proto.provider_pb2_grpc import (
        ResourceProviderServicer,
        ResourceProviderStub,
        add_ResourceProviderServicer_to_server,
    )

__all__ = [
    "ResourceProviderServicer",
    "ResourceProviderStub",
    "add_ResourceProviderServicer_to_server",
    "engine_pb2",
    "engine_pb2_grpc",
    "language_pb2",
    "language_pb2_grpc",
    "plugin_pb2",
    "provider_pb2",
    "provider_pb2_grpc",
    "resource_pb2",
    "resource_pb2_grpc",
    "status_pb2",
]
