"""What each backend renders and can do: one entry a backend, and nobody else asks which one it is.

Templates of older revisions stay as they were, so that each revision keeps its own tables.
``jacquard.observe.backends`` says in the same way what the objects of each backend tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from components.render.control_planes import k0smotron, kamaji, kamaji_etcd
from components.render.control_planes.control_plane import ControlPlane
from components.render.hosts import bare_metal_controllers, bare_metal_hosts, ironcore_servers
from components.render.hosts.bare_metal_controllers import Watched
from components.render.hosts.hosts import PlacedHost
from components.render.manifest import Manifest, Patch
from components.render.network import dpf_hbn, dpf_ovn, kube_ovn, policy_only
from components.render.network.dpus import DpuPlatform
from components.render.network.vpc import Vpc
from components.render.pools import ironcore_metal, metal3
from components.render.providers import Provider
from components.render.region.operators import Operator
from components.specs.base import Network
from components.specs.hosts.bare_metal import BareMetalBackend, BareMetalSpec
from components.specs.ipv6 import Network6
from components.specs.network.tenant_network import Isolation
from components.specs.pools.nodes import FirmwareUpdate
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend, ControlPlanesSpec, NetworksSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlanes:
    """Control planes of one backend, and nodes that join them."""

    render: Callable[[ControlPlane], tuple[Manifest, ...]]
    """Returns the objects of one control plane, which itself is the last of them."""
    bootstrap_template: tuple[str, str]
    """Version and kind of what makes a machine a node of such a cluster."""
    join: str
    """What the join service calls the way in which such nodes join."""
    operators: Callable[[ControlPlanesSpec], tuple[Operator, ...]]
    """Returns what hosts control planes, beside Cluster API's providers."""
    providers: Callable[[ControlPlanesSpec], tuple[Provider, ...]]
    dedicated_charts: tuple[str, ...]
    """Charts that are installed for each data store of a cluster's own."""
    etcd_by_replicas: bool
    """Whether a data store of a cluster's own has as many members as the control plane needs for its replicas."""
    keeps_events_apart: bool
    """Whether events can be kept in another data store than everything else."""
    counts_konnectivity_agents: bool
    """Whether the number of konnectivity agents can be chosen; if not, one runs on every node."""
    makes_shared_data_stores: bool
    """Whether data stores that clusters share are made, or only named."""
    moves_data_stores: bool
    """Whether the state of a cluster can go from one data store to another."""
    takes_addresses: bool
    """Whether nodes can be told the address that they register with."""
    one_family_until: str | None
    """Last release of its provider under which clusters have one family of addresses; None where all have both."""
    versions_by: str | None
    """Chart whose release bounds the version of a control plane; None where nothing but its image does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BareMetal:
    """Hosts of one backend, and machines on them."""

    boots: tuple[BootMode, ...]
    """Ways to boot an image."""
    operators: Callable[[BareMetalSpec, Watched], tuple[Operator, ...]]
    """Returns what provisions hosts, beside Cluster API's providers."""
    services: Callable[[BareMetalSpec, str], Iterable[Manifest]]
    """Returns what those run, by the interface on which hosts and BMCs reach it."""
    providers: tuple[Provider, ...]
    gates: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """Feature gates that providers of control planes need with these hosts, by the provider's name."""
    infrastructure: Callable[[ControlPlane], Manifest]
    """Returns the infrastructure of one cluster."""
    machine_template: tuple[str, str]
    """Version and kind of what claims a host for a machine."""
    remediation: Callable[[str, str, dict[str, str]], tuple[Manifest, ...]]
    """Returns what is tried before an unhealthy node is replaced, by name, cluster and labels of its pool."""
    host: Callable[[PlacedHost, FirmwareUpdate], Iterable[Manifest]]
    """Returns the objects of one host."""
    patches: Callable[[Iterable[PlacedHost]], Iterable[tuple[str, Patch]]]
    """Returns, by a stable key, fields of objects that the backend's own controllers make for hosts."""
    data_template: tuple[str, str] | None = None
    """Version and kind of what tells a node what is its own, such as its address; None where nothing does."""
    lists_failure_domains: bool
    """Whether a cluster lists the failure domains that its machines may be in."""
    asks_certificates: bool
    """Whether a BMC that speaks by https has to prove who it is, unless the data except it."""
    redfish_only: bool
    """Whether BMCs are spoken to by Redfish only, and at an address."""


class Filter(Enum):
    """Whose packets a backend filters on their way out."""

    HOSTS = auto()
    """Whatever the host sends is filtered, packet by packet: no connection is remembered."""
    PODS = auto()
    """What pods send is filtered, unless they are on the network of their host; answers pass."""
    NOTHING = auto()
    """Nothing is filtered, and only routes keep packets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Borders:
    """Borders of VPCs by one backend."""

    on_dpus: bool
    """Whether the DPUs of a VPC's hosts enforce them; if not, each of its clusters does."""
    isolates_hosts: bool
    """Whether hosts are kept from those of other tenants, although their own tenant is root there."""
    caveat: str | None = None
    """What whoever takes the backend has to know, after its name; None where there is nothing."""
    source: str
    """Where upstream says so, ``repository:path``."""
    network: Callable[[Vpc, DpuPlatform], tuple[Manifest, ...]] = lambda _vpc, _platform: ()
    """Returns the objects of a VPC that DPUs isolate."""
    inside: Callable[[Vpc, NetworksSpec, str], tuple[Manifest, ...]] = lambda _vpc, _networks, _cluster: ()
    """Returns the objects of a VPC that are inside one of its clusters."""
    charts: tuple[str, ...] = ()
    """Charts that each cluster of a VPC installs."""
    brings_network: bool = False
    """Whether these charts are the CNI of each cluster of a VPC, for one family of addresses or both."""
    joints: tuple[Network | Network6, ...] = ()
    """Networks that this CNI takes for itself in each cluster, whatever else is in them."""
    link_per_host: bool = False
    """Whether each host has a routed link of its own, and reaches what is outside its VPC by addresses only."""
    filters: Filter
    """Whose packets are filtered."""
    rules_in: str
    """Kind of the objects that hold the rules of a VPC."""
    routed_inside: bool = False
    """Whether pods can be reached from outside by their own addresses, without any EVPN."""
    masquerades: bool = False
    """Whether what leaves a VPC has an address of a node or a router, by which answers come back."""
    evpn: bool = False
    """Whether its routes are told apart by EVPN, by VNI and route target."""
    several_clusters: bool = False
    """Whether several clusters may be in one VPC, each with prefixes of its own for what is inside it."""
    ovn: bool = False
    """Whether the VPC is kept in the OVN databases of the one DPU cluster."""


CONTROL_PLANES = {
    ControlPlaneBackend.KAMAJI: ControlPlanes(
        render=kamaji.render,
        bootstrap_template=("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfigTemplate"),
        join="kubeadm",
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
        versions_by=kamaji.CHART,
    ),
    ControlPlaneBackend.K0SMOTRON: ControlPlanes(
        render=k0smotron.render,
        bootstrap_template=("bootstrap.cluster.x-k8s.io/v1beta2", "K0sWorkerConfigTemplate"),
        join="k0s",
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
        versions_by=None,
    ),
}
BARE_METAL = {
    # Metal3 writes a disk or attaches an ISO, IronCore hands out a kernel at every boot.
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
        lists_failure_domains=True,
        asks_certificates=True,
        redfish_only=False,
    ),
    BareMetalBackend.IRONCORE_METAL: BareMetal(
        boots=(BootMode.NETBOOT,),
        operators=lambda _metal, _watched: ironcore_metal.OPERATORS,
        services=lambda _metal, _interface: (),
        providers=ironcore_metal.PROVIDERS,
        gates={"kubeadm": {"KubeadmBootstrapFormatIgnition": True}, "kamaji": {"SkipInfraClusterPatch": True}},
        infrastructure=ironcore_metal.infrastructure,
        machine_template=ironcore_metal.MACHINE_TEMPLATE,
        # A boot starts from nothing anyway.
        remediation=lambda _name, _cluster, _labels: (),
        host=ironcore_servers.render,
        patches=lambda _hosts: (),
        lists_failure_domains=False,
        asks_certificates=False,
        redfish_only=True,
    ),
}
BORDERS = {
    Isolation.DPF_HBN: Borders(
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
    Isolation.DPF_OVN: Borders(
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
    Isolation.KUBE_OVN: Borders(
        on_dpus=False,
        isolates_hosts=False,
        # Pods on the network of their host have no port of its switches; databases listen on the host's, in plain TCP.
        caveat="keeps tenants' pods and VMs apart, no hosts, and nobody from its databases who reaches their nodes",
        source="kubeovn/kube-ovn:pkg/controller/network_policy.go",
        inside=kube_ovn.render,
        filters=Filter.PODS,
        rules_in="Subnet",
        masquerades=True,
        charts=(kube_ovn.CHART,),
        brings_network=True,
        joints=(kube_ovn.JOINTS, kube_ovn.JOINTS_IPV6),
    ),
    Isolation.POLICY_ONLY: Borders(
        on_dpus=False,
        isolates_hosts=False,
        caveat="keeps pods of namespaces with policies apart, and no hosts",
        source="kubernetes/website:content/en/docs/concepts/services-networking/network-policies.md",
        inside=policy_only.render,
        filters=Filter.PODS,
        rules_in="NetworkPolicy",
        routed_inside=True,
        several_clusters=True,
    ),
}
