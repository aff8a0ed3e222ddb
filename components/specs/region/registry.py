"""Registry of a region: the mirror through which nodes and DPUs pull container images."""

from components.specs.base import IpAddress, Registry, Spec

HTTPS_PORT = 443


class RegistrySpec(Spec):
    """Pull-through image proxy of a region."""

    mirror: Registry
    """Host, port and path of the proxy, without a scheme."""
    nodes: bool = False
    """Whether nodes also pull images of their pods through the proxy. The proxy must accept any registry in the ``ns``
    parameter of containerd, and golden images must have ``registry_hosts``. Existing nodes get the setting at the next
    promotion."""
    address: IpAddress | None = None
    """Address of the proxy. Every VPC reaches it at the port of ``mirror``, also with ``egress: none``. It is in
    ``networks.control_plane_vips``, ``networks.storage`` or outside the region's networks. By default VPCs reach the
    proxy only if their egress rules permit it."""

    @property
    def port(self) -> int:
        """Return the TCP port of the proxy."""
        _, colon, port = self._authority.partition(":")
        return int(port) if colon else HTTPS_PORT

    @property
    def host(self) -> str:
        """Return the host of the proxy: a name or an address."""
        return self._authority.partition(":")[0]

    @property
    def _authority(self) -> str:
        return self.mirror.partition("/")[0]
