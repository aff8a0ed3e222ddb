"""Base class of the provider stand-ins: handshake, version and cancellation."""

# ruff: noqa: N802, ARG002 - the protocol defines methods and parameters

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import grpc
from google.protobuf.empty_pb2 import Empty

from jacquard.providers.rpc.stubs import ResourceProviderServicer, plugin_pb2, provider_pb2


class StandIn(ResourceProviderServicer):
    """A provider that replaces the vendor's."""

    version: ClassVar[str]
    """Version of the replaced vendor's provider."""
    capabilities: ClassVar[Mapping[str, bool]]
    """Fields of the handshake response."""

    def Handshake(
        self, request: provider_pb2.ProviderHandshakeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ProviderHandshakeResponse:
        """Return the supported features of the protocol."""
        return provider_pb2.ProviderHandshakeResponse(**self.capabilities)

    def GetPluginInfo(self, request: Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """Return the version of the replaced provider."""
        return plugin_pb2.PluginInfo(version=self.version)

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Empty:
        """Call `cancel`."""
        self.cancel()
        return Empty()

    @abstractmethod
    def cancel(self) -> None:
        """End what runs, and start nothing further."""
