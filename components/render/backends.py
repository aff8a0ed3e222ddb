"""Renderers and capabilities of backends, with one entry per backend.

Other renderers do not branch on the backend. Node templates are the exception: each revision has its own tables,
because older revisions never change. The table of storage backends is in ``components.render.storage.storage``, because
each class names its own backend. ``jacquard.observe.backends`` is the equivalent table for the status of objects.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto

from components.render.control_planes import k0smotron, kamaji, kamaji_etcd
from components.render.control_planes.control_plane import ControlPlane
from components.render.hosts import bare_metal_controllers, bare_metal_hosts, ironcore_servers
from components.render.hosts.bare_metal_controllers import Watched
from components.render.hosts.hosts import PlacedHost
from components.render.manifest import Manifest, Patch, Rendered
from components.render.network import dpf_hbn, dpf_ovn, kube_ovn, policy_only
from components.render.network.dpus import DpuPlatform
from components.render.network.vpc import Vpc
from components.render.pools import ironcore_metal, metal3, node_paths
from components.render.pools.node_paths import NodePaths
from components.render.providers import Provider
from components.render.region.operators import Operator
from components.specs.base import Network, Registry
from components.specs.hosts.bare_metal import BareMetalBackend, BareMetalSpec
from components.specs.hosts.ironic import IronicSpec
from components.specs.ipv6 import Network6
from components.specs.network.tenant_network import Isolation
from components.specs.pools.nodes import FirmwareUpdate
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend, ControlPlanesSpec, NetworksSpec
from components.specs.struct import Struct, field


class ControlPlanes(Struct):
    """Renderers and capabilities of one control-plane backend and of the nodes that join its clusters."""

    render: Callable[[ControlPlane], tuple[tuple[Rendered, ...], Manifest]]
    """Function that returns the objects of one control plane. The control plane itself is last."""
    bootstrap_template: tuple[str, str]
    """API version and kind of the bootstrap template for nodes of such a cluster."""
    join: str
    """Name of the join method in the contract of the join service."""
    node_paths: NodePaths
    """Paths on nodes that depend on the Kubernetes distribution."""
    operators: Callable[[ControlPlanesSpec], tuple[Operator, ...]]
    """Function that returns the operators that host control planes, in addition to the Cluster API providers."""
    providers: Callable[[ControlPlanesSpec], tuple[Provider, ...]]
    dedicated_charts: tuple[str, ...]
    """Charts that are installed for each dedicated data store of a cluster."""
    etcd_by_replicas: bool
    """Whether the replicas of the control plane determine the number of members of a dedicated data store."""
    keeps_events_apart: bool
    """Whether events can be stored in a data store separate from all other objects."""
    counts_konnectivity_agents: bool
    """Whether the number of konnectivity agents is configurable. If not, each node runs an agent."""
    makes_shared_data_stores: bool
    """Whether the library creates data stores shared by clusters. If not, shared data stores are only referenced."""
    moves_data_stores: bool
    """Whether the state of a cluster can be migrated to another data store."""
    takes_addresses: bool
    """Whether the registration address of nodes is configurable."""
    one_family_until: str | None
    """Last provider release that limits clusters to a single IP family; None if all releases support dual stack."""
    registries: tuple[Registry, ...]
    """Registries of the images that the backend runs on nodes: kube-proxy, CoreDNS and konnectivity agents."""
    versions_by: str | None
    """Chart whose release limits the version of a control plane; None if only its image does."""
    records: str
    """Filter of LogsQL for the logs of API server, controller manager and scheduler, among those of all pods in the
    namespace of a cluster."""


class BareMetal(Struct):
    """Renderers and capabilities of one bare-metal backend, for hosts and the machines on hosts."""

    boots: tuple[BootMode, ...]
    """Supported boot modes of an image."""
    operators: Callable[[BareMetalSpec, Watched], tuple[Operator, ...]]
    """Function that returns the operators that provision hosts, in addition to the Cluster API providers."""
    services: Callable[[BareMetalSpec, str, IronicSpec | None], Iterable[Manifest]]
    """Function that returns the services of these operators for the interface on which hosts and BMCs reach them, with
    the Ironic of the version vector."""
    providers: tuple[Provider, ...]
    gates: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """Feature gates that control-plane providers require for hosts of the backend, by provider name."""
    infrastructure: Callable[[ControlPlane], Manifest]
    """Function that returns the infrastructure object of one cluster."""
    machine_template: tuple[str, str]
    """API version and kind of the machine template with which a machine claims a host."""
    remediation: Callable[[str, str, dict[str, str], int], tuple[Manifest, ...]]
    """Function that returns the objects for remediation before a node is replaced, from pool, cluster, labels and the
    seconds until a rebooted host is a ready node."""
    host: Callable[[PlacedHost, FirmwareUpdate], Iterable[Manifest]]
    """Function that returns the objects of one host."""
    patches: Callable[[Iterable[PlacedHost]], Iterable[tuple[str, Patch]]]
    """Function that returns patches, by a stable key, of host objects that controllers of the backend create."""
    machine_of_host: str
    """Command that prints the Machine that uses ``{host}``, a host of ``{cluster}``; it prints nothing for a free
    host. Cluster API and the providers give all objects of a Machine its name."""
    data_template: tuple[str, str] | None = None
    """API version and kind of the template of per-node data, such as the node address; None if unsupported."""
    lists_failure_domains: bool
    """Whether the infrastructure object of a cluster lists the allowed failure domains of machines."""
    labels_nodes: bool
    """Whether the labels of a host are also labels of its node."""
    excepts_bmcs: bool
    """Whether single BMCs can be exempt from the verification of certificates, instead of all BMCs or none."""
    redfish_only: bool
    """Whether only BMCs with Redfish and an IP address are supported."""


class Filter(Enum):
    """Egress traffic that a backend filters."""

    HOSTS = auto()
    """A stateless packet filter applies to all traffic of the host."""
    PODS = auto()
    """A stateful filter applies to pods outside the host network: replies are allowed."""
    NOTHING = auto()
    """Traffic is not filtered; only routes restrict it."""


class NetworkBackend(Struct):
    """Isolation of VPCs by one backend."""

    on_dpus: bool
    """Whether the DPUs of the VPC's hosts enforce the isolation. If not, each cluster of the VPC enforces it."""
    isolates_hosts: bool
    """Whether hosts are isolated from hosts of other tenants, although tenants have root access on their hosts."""
    caveat: str | None = None
    """Limitation that `check` reports after the backend's name; None without a limitation."""
    source: str
    """Upstream source of the caveat and of `isolates_hosts`, ``repository:path``."""
    network: Callable[[Vpc, DpuPlatform], tuple[Manifest, ...]] = lambda _vpc, _platform: ()
    """Function that returns the objects of a VPC that is isolated on DPUs."""
    inside: Callable[[Vpc, NetworksSpec, str], tuple[Manifest, ...]] = lambda _vpc, _networks, _cluster: ()
    """Function that returns the objects of a VPC inside one of its clusters."""
    charts: tuple[str, ...] = ()
    """Charts that are installed in each cluster of a VPC."""
    brings_network: bool = False
    """Whether these charts are the CNI of each cluster of a VPC, single-stack or dual-stack."""
    joints: tuple[Network | Network6, ...] = ()
    """Networks that this CNI reserves in each cluster."""
    link_per_host: bool = False
    """Whether each host has a separate routed link and reaches destinations outside its VPC only by address."""
    filters: Filter
    """Filter for egress traffic."""
    rules_in: str
    """Kind of the objects that contain the rules of a VPC."""
    routed_inside: bool = False
    """Whether pods are reachable from outside by pod address, without EVPN."""
    masquerades: bool = False
    """Whether traffic that leaves a VPC is translated to the address of a node or a router (SNAT)."""
    evpn: bool = False
    """Whether EVPN separates routes, with VNI and route target."""
    several_clusters: bool = False
    """Whether several clusters can share a VPC, each with separate prefixes for its pods and Services."""
    ovn: bool = False
    """Whether the OVN databases of the only DPU cluster contain the VPC."""


CONTROL_PLANES = {
    ControlPlaneBackend.KAMAJI: ControlPlanes(
        render=kamaji.render,
        bootstrap_template=("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfigTemplate"),
        join="kubeadm",
        node_paths=node_paths.KUBEADM,
        operators=lambda control_planes: (kamaji.operator(control_planes),),
        providers=kamaji.providers,
        dedicated_charts=(kamaji_etcd.CHART,),
        etcd_by_replicas=False,
        keeps_events_apart=True,
        counts_konnectivity_agents=True,
        makes_shared_data_stores=True,
        moves_data_stores=True,
        takes_addresses=True,
        one_family_until=kamaji.ONE_FAMILY_UNTIL,
        registries=("registry.k8s.io",),  # the default image repository of kubeadm, which Kamaji's add-ons use
        versions_by=kamaji.CHART,
        records=kamaji.RECORDS,
    ),
    ControlPlaneBackend.K0SMOTRON: ControlPlanes(
        render=k0smotron.render,
        bootstrap_template=("bootstrap.cluster.x-k8s.io/v1beta2", "K0sWorkerConfigTemplate"),
        join="k0s",
        node_paths=node_paths.K0S,
        operators=lambda _control_planes: (),
        providers=lambda _control_planes: k0smotron.PROVIDERS,
        dedicated_charts=(),
        etcd_by_replicas=True,
        keeps_events_apart=False,
        counts_konnectivity_agents=False,
        makes_shared_data_stores=False,
        moves_data_stores=False,
        takes_addresses=False,
        one_family_until=None,
        registries=("quay.io",),  # K0S:pkg/constant/constant.go
        versions_by=None,
        records=k0smotron.RECORDS,
    ),
}
BARE_METAL = {
    # Metal3 writes a disk or attaches an ISO, IronCore serves a kernel at every boot.
    BareMetalBackend.METAL3: BareMetal(
        boots=(BootMode.DISK, BootMode.LIVE_ISO),
        operators=metal3.operators,
        services=bare_metal_controllers.render,
        providers=metal3.PROVIDERS,
        infrastructure=metal3.infrastructure,
        machine_template=metal3.MACHINE_TEMPLATE,
        data_template=metal3.DATA_TEMPLATE,
        remediation=metal3.remediation,
        host=bare_metal_hosts.render,
        patches=bare_metal_hosts.patches,
        machine_of_host="kubectl -n {cluster} get baremetalhost {host} -o jsonpath='{{.spec.consumerRef.name}}'",
        lists_failure_domains=True,
        labels_nodes=True,
        excepts_bmcs=True,
        redfish_only=False,
    ),
    BareMetalBackend.IRONCORE_METAL: BareMetal(
        boots=(BootMode.NETBOOT,),
        operators=lambda metal, _watched: ironcore_metal.operators(metal),
        services=lambda _metal, _interface, _ironic: (),
        providers=ironcore_metal.PROVIDERS,
        gates={"kubeadm": {"KubeadmBootstrapFormatIgnition": True}, "kamaji": {"SkipInfraClusterPatch": True}},
        infrastructure=ironcore_metal.infrastructure,
        machine_template=ironcore_metal.MACHINE_TEMPLATE,
        # A reboot is no additional remedy, since every boot starts from a clean image.
        remediation=lambda _name, _cluster, _labels, _seconds: (),
        host=ironcore_servers.render,
        patches=lambda _hosts: (),
        machine_of_host=(
            "kubectl get servers -o jsonpath='{{.items[?(@.spec.bmcRef.name==\"{host}\")].spec.serverClaimRef.name}}'"
        ),
        lists_failure_domains=False,
        labels_nodes=False,
        excepts_bmcs=False,
        redfish_only=True,
    ),
}
NETWORK_BACKENDS = {
    Isolation.DPF_HBN: NetworkBackend(
        on_dpus=True,
        isolates_hosts=True,
        source="NVIDIA/doca-platform:docs/public/user-guides/zero-trust/use-cases/hbn",
        network=dpf_hbn.render,
        filters=Filter.HOSTS,
        rules_in="DPUServiceConfiguration",
        link_per_host=True,
        evpn=True,
        several_clusters=True,
    ),
    Isolation.DPF_OVN: NetworkBackend(
        on_dpus=True,
        isolates_hosts=True,
        caveat="is a tech preview, which upstream does not recommend for production",
        source="NVIDIA/doca-platform:docs/public/user-guides/zero-trust/use-cases/vpc",
        network=dpf_ovn.render,
        filters=Filter.NOTHING,
        rules_in="DPUVirtualNetwork",
        masquerades=True,
        ovn=True,
    ),
    Isolation.KUBE_OVN: NetworkBackend(
        on_dpus=False,
        isolates_hosts=False,
        # Pods in the host network have no port on OVN switches. The databases use unencrypted TCP in the host network.
        caveat="isolates tenants' pods and VMs but not hosts; its databases accept any client that reaches their nodes",
        source="kubeovn/kube-ovn:pkg/controller/network_policy.go",
        inside=kube_ovn.render,
        filters=Filter.PODS,
        rules_in="Subnet",
        masquerades=True,
        charts=(kube_ovn.CHART,),
        brings_network=True,
        joints=(kube_ovn.JOINTS, kube_ovn.JOINTS_IPV6),
    ),
    Isolation.POLICY_ONLY: NetworkBackend(
        on_dpus=False,
        isolates_hosts=False,
        caveat="isolates pods of namespaces with policies, but not hosts",
        source="kubernetes/website:content/en/docs/concepts/services-networking/network-policies.md",
        inside=policy_only.render,
        filters=Filter.PODS,
        rules_in="NetworkPolicy",
        routed_inside=True,
        several_clusters=True,
    ),
}
