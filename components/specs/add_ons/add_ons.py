"""Add-ons for tenant clusters."""

from enum import StrEnum

from components.specs.add_ons.pod_priorities import PodPriority
from components.specs.base import DataFile, DnsLabel, Label, Spec


class Capability(StrEnum):
    """Capability that an add-on provides to its cluster. A cluster has one add-on for each capability."""

    NETWORK = "network"
    """Pod network (CNI). Nodes do not become ready without it."""
    NODE_FEATURES = "node-features"
    """Node labels for hardware features, which the operators of GPUs and network cards need."""
    GPUS = "gpus"
    """GPU resources of nodes, ``nvidia.com/gpu``."""
    COMPUTE_DOMAINS = "compute-domains"
    """GPU memory access between pods on several nodes of an NVLink domain, by claims of NVIDIA's DRA driver."""
    NODE_PROBLEMS = "node-problems"
    """Node conditions and events for faults of GPUs, links, disks, memory and kernel."""
    NODE_READINESS = "node-readiness"
    """Taints of nodes with a fault: no new pods are scheduled there, and before a repair pods are evicted."""
    LOAD_BALANCERS = "load-balancers"
    """Addresses of the VPC for Services of type LoadBalancer, and public addresses for VMs."""
    MONITORING = "monitoring"
    """Prometheus of the tenant, which monitors the other add-ons and alerts on their problems."""
    METRICS = "metrics"
    """Metrics of pods and nodes for ``kubectl top`` and horizontal autoscaling."""
    LOGS = "logs"
    """Logs of pods and nodes, and events, in the store of the region."""


class AddOn(Spec):
    """Helm chart for tenant clusters, validated together with the add-ons that it needs."""

    name: DnsLabel
    """Name of the add-on, referenced by ``add_ons`` of clusters and ``needs`` of other add-ons. The name ``default`` is
    not allowed."""
    chart: Label
    """Chart of ``catalog/versions.yaml`` that the add-on installs. Its values are defined by the library."""
    namespace: DnsLabel
    """Namespace of the tenant cluster in which the chart is installed."""
    default: bool = False
    """Whether clusters with ``add_ons: default`` get the add-on."""
    gives: Capability | None = None
    """Capability that the add-on provides. An add-on that a cluster lists replaces a default one with the same
    capability."""
    needs: tuple[DnsLabel, ...] = ()
    """Names of the add-ons that must be installed before this one."""
    gpu_only: bool = False
    """Whether the add-on is useful only on nodes with GPUs."""
    nvlink_only: bool = False
    """Whether the add-on is useful only if NVLink connects several nodes: on types with GPUs and ``scale: rack``."""


class AddOnCatalog(DataFile):
    """``catalog/add_ons.yaml``, an optional file."""

    add_ons: tuple[AddOn, ...] = ()
    """Add-ons that clusters may request by name. A cluster without a list gets those with ``default``."""
    pod_priorities: tuple[PodPriority, ...] = ()
    """Pod priorities that clusters may offer by name."""
