"""How a stand-in for a vendor's provider introduces itself to the engine."""

# ruff: noqa: N802, ARG002 - methods and their parameters are the protocol's

from collections.abc import Mapping
from typing import ClassVar

import grpc
from google.protobuf.empty_pb2 import Empty

from jacquard.providers.rpc.stubs import ResourceProviderServicer, plugin_pb2, provider_pb2


class StandIn(ResourceProviderServicer):
    """A provider in place of the vendor's."""

    version: ClassVar[str]
    """Version of the vendor's provider that this stands in for."""
    capabilities: ClassVar[Mapping[str, bool]]
    """Fields of the handshake's answer."""

    def Handshake(
        self, request: provider_pb2.ProviderHandshakeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ProviderHandshakeResponse:
        """Say what the provider understands."""
        return provider_pb2.ProviderHandshakeResponse(**self.capabilities)

    def GetPluginInfo(self, request: Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """Answer the version that this stands in for."""
        return plugin_pb2.PluginInfo(version=self.version)
