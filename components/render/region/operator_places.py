"""Pod Security levels and network requirements of operator namespaces in the management cluster.

The Pod Security Standard of a namespace is the strictest standard that upstream's pods comply with, according to the
charts and manifests in the comments. A test rejects a namespace without an entry, because a standard that is too strict
or too lax would be discovered only on hardware.
"""

from collections.abc import Mapping

from components.render.control_planes import kamaji, kamaji_etcd
from components.render.hosts import bare_metal_controllers
from components.render.network import dpus
from components.render.pools import ironcore_metal, join_service
from components.render.region import dns, metrics_store, registry, secret_store
from components.render.region.engine import operator as engine
from components.render.region.logs import log_store
from components.render.storage import storage, topolvm
from components.specs.control_planes.cluster_namespaces import PodSecurity
from components.specs.hosts.bare_metal import BareMetalSpec
from components.specs.struct import Struct


class OperatorPlace(Struct):
    """Requirements of the operators in a namespace, in addition to the requirements of all operators."""

    security: PodSecurity
    bmcs: bool = False
    """Whether pods of the namespace and BMCs communicate, in both directions."""
    api_servers: bool = False
    """Whether API servers with data in the shared data stores run in the namespace."""
    keeps_stores: bool = False
    """Whether pods of the namespace connect to the data stores of all control planes."""
    ports: tuple[int, ...] = ()
    """Ports of pods in the namespace that are open to nodes."""


_RESTRICTED = OperatorPlace(security=PodSecurity.RESTRICTED)
_BASELINE = OperatorPlace(security=PodSecurity.BASELINE)
_PRIVILEGED = OperatorPlace(security=PodSecurity.PRIVILEGED)
PLACES: Mapping[str, OperatorPlace] = {
    # Pods set runAsNonRoot and seccomp, and drop capabilities (CAPI, CAPM3 and IPAM: config/manager/manager.yaml).
    "capi-system": _RESTRICTED,
    "capi-kubeadm-bootstrap-system": _RESTRICTED,
    "capm3-system": _RESTRICTED,
    "metal3-ipam-system": _RESTRICTED,
    "cert-manager": _RESTRICTED,
    secret_store.NAMESPACE: _RESTRICTED,
    dns.NAMESPACE: _RESTRICTED,
    # The pods of slices comply too (PKO:operator/internal/controller/auto/workspace_controller.go, newStatefulSet).
    engine.NAMESPACE: _RESTRICTED,
    f"{bare_metal_controllers.IRONIC_CHART}-system": _RESTRICTED,
    # In a region with shards, each shard has a separate Ironic.
    bare_metal_controllers.NAMESPACE: _RESTRICTED,
    join_service.NAMESPACE: OperatorPlace(security=PodSecurity.RESTRICTED, ports=(join_service.PORT,)),
    registry.NAMESPACE: OperatorPlace(security=PodSecurity.RESTRICTED, ports=(registry.PORT,)),
    # The operator sets both with useStrictSecurity (VMO:internal/controller/operator/factory/build/security.go).
    metrics_store.NAMESPACE: OperatorPlace(security=PodSecurity.RESTRICTED, ports=(metrics_store.PORT,)),
    # These charts and manifests do not set seccomp or capabilities.
    "capi-operator-system": _BASELINE,
    "k0smotron": _BASELINE,
    kamaji.NAMESPACE: OperatorPlace(security=PodSecurity.BASELINE, keeps_stores=True),
    kamaji_etcd.NAMESPACE: _BASELINE,
    # Speakers, exporters and keepalived use the host network; exporters read processes and files of the host.
    "metallb-system": _PRIVILEGED,
    "monitoring": _PRIVILEGED,
    # Collectors read files of all pods and the journal of their host.
    log_store.COLLECTORS: _PRIVILEGED,
    # DPUs reach OVN's databases from the same port as their BMCs: a switch on the DPU connects both to it ("OOB Network
    # 3-Port Switch Control" of NVIDIA's BlueField BMC software). No other network outside management reaches them.
    dpus.NAMESPACE: OperatorPlace(security=PodSecurity.PRIVILEGED, bmcs=True, api_servers=True),
    # TopoLVM's node agents create volumes on the devices of their host (TLVM:charts/topolvm/values.yaml).
    topolvm.NAMESPACE: _PRIVILEGED,
    storage.SNAPSHOTS.namespace: _BASELINE,
    # metal-operator uses the host network if it is installed from its chart (controllerManager.hostNetwork).
    ironcore_metal.NAMESPACE: OperatorPlace(security=PodSecurity.PRIVILEGED, bmcs=True, ports=ironcore_metal.PORTS),
}


def of_namespace(name: str, metal: BareMetalSpec) -> OperatorPlace:
    """Return the entry of namespace ``name``. Namespaces with Ironic are privileged, since it uses the host network.

    Raises:
        KeyError: the namespace has no entry.
    """
    shards = {bare_metal_controllers.shard_namespace(shard.name) for shard in metal.controllers}
    return _PRIVILEGED if name in (shards or {bare_metal_controllers.NAMESPACE}) else PLACES[name]


def privileged_namespaces(metal: BareMetalSpec) -> frozenset[str]:
    """Return the namespaces of the management cluster whose operators use the network, devices or files of hosts."""
    shards = (bare_metal_controllers.shard_namespace(shard.name) for shard in metal.controllers)
    names = {*PLACES, bare_metal_controllers.NAMESPACE, *shards}
    return frozenset(name for name in names if of_namespace(name, metal).security is PodSecurity.PRIVILEGED)
