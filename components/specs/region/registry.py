"""Registry of a region: the mirror through which nodes and DPUs pull container images, and its cache."""

from collections.abc import Iterator

from pydantic import ConfigDict, Field

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    DnsLabel,
    IpAddress,
    Label,
    Quantity,
    Registry,
    Spec,
)

HTTPS_PORT = 443
_OF_DPUS = "nvcr.io"
"""Registry whose images DPUs pull through a mirror, the only one that DPF supports
(NVIDIA/doca-platform:internal/provisioning/controllers/dpu/bfcfg/bf.cfg.template)."""


class RegistryCacheSpec(Spec):
    """Pull-through cache in the management cluster (zot), which serves ``mirror`` at ``address``."""

    upstreams: tuple[Registry, ...] = Field(min_length=1, max_length=30)
    """Registries that the cache serves, as in image names, such as ``docker.io``. Each is served below
    ``https://<mirror>/v2/<upstream>``. Other registries must be reachable by nodes directly."""
    size: Quantity
    """Size of the cache's volume. Images that were not pulled for 30 days are deleted."""
    storage_class: Label
    """Storage class of the management cluster for the volume."""
    certificate: DnsLabel = "registry-tls"
    """Secret in namespace ``registry`` with ``tls.crt`` and ``tls.key`` for the host of ``mirror``. Golden images must
    trust its authority."""
    credentials: DnsLabel | None = None
    """Secret in namespace ``registry`` with ``credentials.json``: user name and password by upstream. By default the
    cache pulls anonymously. All tenants can pull the images that these credentials can read."""


class RegistrySpec(CheckedSpec):
    """Pull-through image proxy of a region."""

    model_config = ConfigDict(json_schema_extra={"dependentRequired": {"cache": ["address"]}})

    mirror: Registry
    """Host, port and path of the proxy, without a scheme."""
    nodes: bool = False
    """Whether nodes also pull images of their pods through the proxy. Without ``cache``, the proxy must accept any
    registry in the ``ns`` parameter of containerd. Golden images must have ``registry_hosts``. Existing nodes get the
    setting at the next promotion."""
    address: IpAddress | None = None
    """Address of the proxy. Every VPC reaches it at the port of ``mirror``, also with ``egress: none``. It is in
    ``networks.control_plane_vips``, ``networks.storage`` or outside the region's networks. By default VPCs reach the
    proxy only if their egress rules permit it."""
    cache: RegistryCacheSpec | None = None
    """Cache that the library installs as the proxy. By default the proxy is a prerequisite."""

    @property
    def port(self) -> int:
        """Return the TCP port of the proxy."""
        _, colon, port = self._authority.partition(":")
        return int(port) if colon else HTTPS_PORT

    @property
    def upstreams(self) -> tuple[Registry, ...]:
        """Return the registries that the proxy serves below their names; empty if it serves any registry by ``ns``."""
        return self.cache.upstreams if self.cache else ()

    @property
    def for_dpus(self) -> Registry | None:
        """Return host and path of the proxy for DPUs; None if the cache does not serve the registry of their images."""
        if self.cache is None:
            return self.mirror
        return f"{self.mirror}/v2/{_OF_DPUS}" if _OF_DPUS in self.cache.upstreams else None

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a cache without an address, with a path in ``mirror``, or with duplicate upstreams."""
        if self.cache is None:
            return
        if self.address is None:
            text = "is required with cache; add an address of networks.control_plane_vips"
            yield ConstraintViolation(text, ("address",))
        if "/" in self.mirror:
            text = f"has a path, but the cache serves the root of its host; write {self._authority}"
            yield ConstraintViolation(text, ("mirror",), self.mirror)
        for index, upstream in enumerate(self.cache.upstreams):
            if upstream in self.cache.upstreams[:index]:
                yield ConstraintViolation("is already listed; remove it", ("cache", "upstreams", index), upstream)

    @property
    def _authority(self) -> str:
        return self.mirror.partition("/")[0]
