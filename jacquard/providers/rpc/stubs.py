"""gRPC stubs of the installed ``pulumi`` package without importing the package, which would dominate start-up time.

During the import of the stubs, ``pulumi`` and ``pulumi.runtime`` are stub modules with only a ``__path__``. They are
removed afterwards, so that a later ``import pulumi`` loads the real package. If the real package is already loaded,
nothing is replaced. Import stubs from here, never from ``pulumi.runtime.proto``.
"""

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
