"""Namespaces of operators in the management cluster: what their pods may be, and what they need of the network.

The Pod Security Standard of a namespace is the strictest that upstream's pods keep to, as read in the charts and
manifests that are named here. A test refuses a namespace without a row: a guess, too strict or too lax, would be found
out on hardware only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components.render.control_planes import kamaji, kamaji_etcd
from components.render.hosts import bare_metal_controllers
from components.render.network import dpus
from components.render.pools import ironcore_metal, join_service
from components.render.region import dns, secret_store
from components.render.storage import storage
from components.specs.control_planes.cluster_namespaces import PodSecurity
from components.specs.hosts.bare_metal import BareMetalSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorPlace:
    """What the operators of a namespace need beyond what all of them have."""

    security: PodSecurity
    bmcs: bool = False
    """Whether its pods talk to BMCs, and BMCs to them."""
    api_servers: bool = False
    """Whether API servers run there, with their data in the shared data stores."""
    keeps_stores: bool = False
    """Whether its pods log in to the data stores of all control planes."""
    ports: tuple[int, ...] = ()
    """Ports of its own that nodes reach."""


_RESTRICTED = OperatorPlace(security=PodSecurity.RESTRICTED)
_BASELINE = OperatorPlace(security=PodSecurity.BASELINE)
_PRIVILEGED = OperatorPlace(security=PodSecurity.PRIVILEGED)
PLACES: Mapping[str, OperatorPlace] = {
    # Their manifests set runAsNonRoot, seccomp and no capabilities (CAPI, CAPM3 and IPAM: config/manager/manager.yaml).
    "capi-system": _RESTRICTED,
    "capi-kubeadm-bootstrap-system": _RESTRICTED,
    "capm3-system": _RESTRICTED,
    "metal3-ipam-system": _RESTRICTED,
    "cert-manager": _RESTRICTED,
    secret_store.NAMESPACE: _RESTRICTED,
    dns.NAMESPACE: _RESTRICTED,
    f"{bare_metal_controllers.IRONIC_CHART}-system": _RESTRICTED,
    # Of a region with shards, which have an Ironic each.
    bare_metal_controllers.NAMESPACE: _RESTRICTED,
    join_service.NAMESPACE: OperatorPlace(security=PodSecurity.RESTRICTED, ports=(join_service.PORT,)),
    # These charts and manifests leave out seccomp, capabilities or all of it.
    "capi-operator-system": _BASELINE,
    "k0smotron": _BASELINE,
    kamaji.NAMESPACE: OperatorPlace(security=PodSecurity.BASELINE, keeps_stores=True),
    kamaji_etcd.NAMESPACE: _BASELINE,
    # Speakers, exporters and keepalived are on the network of their host, exporters see its processes and files.
    "metallb-system": _PRIVILEGED,
    "monitoring": _PRIVILEGED,
    dpus.NAMESPACE: OperatorPlace(security=PodSecurity.PRIVILEGED, bmcs=True, api_servers=True),
    # TopoLVM's node agents make volumes with the devices of their host (TLVM:charts/topolvm/values.yaml).
    storage.TOPOLVM_NAMESPACE: _PRIVILEGED,
    storage.SNAPSHOTS.namespace: _BASELINE,
    # metal-operator is on the network of its host by its chart's default (controllerManager.hostNetwork).
    ironcore_metal.NAMESPACE: OperatorPlace(security=PodSecurity.PRIVILEGED, bmcs=True),
}


def of_namespace(name: str, metal: BareMetalSpec) -> OperatorPlace:
    """Return the row of namespace ``name``; an Ironic is on the network of its host, whichever namespace it has.

    Raises:
        KeyError: the namespace has no row.
    """
    shards = {bare_metal_controllers.shard_namespace(one.name) for one in metal.controllers}
    return _PRIVILEGED if name in (shards or {bare_metal_controllers.NAMESPACE}) else PLACES[name]
