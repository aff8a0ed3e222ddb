"""Add-ons: what can be installed inside tenant clusters."""

from __future__ import annotations

from enum import StrEnum

from components.specs.add_ons.pod_priorities import PodPriority
from components.specs.base import DataFile, DnsLabel, Label, Spec


class Gift(StrEnum):
    """What an add-on gives to its cluster. A cluster has one add-on for each."""

    NETWORK = "network"
    """Pods get addresses and reach each other (CNI); no node is ready without it."""
    NODE_FEATURES = "node-features"
    """Nodes are labelled by their hardware, which the operators of GPUs and network cards look for."""
    GPUS = "gpus"
    """Nodes offer their GPUs, ``nvidia.com/gpu``."""
    COMPUTE_DOMAINS = "compute-domains"
    """Pods on several nodes of an NVLink domain reach memory of each other's GPUs, by claims of NVIDIA's DRA driver."""
    NODE_PROBLEMS = "node-problems"
    """Nodes report trouble of kernel, GPUs and links as conditions and events."""
    LOAD_BALANCERS = "load-balancers"
    """Services of type LoadBalancer get addresses of the VPC, and VMs their public ones."""
    MONITORING = "monitoring"
    """Prometheus of the tenant's, which watches the other add-ons and tells of what goes wrong with them."""
    METRICS = "metrics"
    """Pods and nodes have figures for ``kubectl top`` and horizontal autoscaling."""


class AddOn(Spec):
    """One Helm chart for tenant clusters, checked together with all that it needs."""

    name: DnsLabel
    """Name that ``add_ons`` of a cluster and ``needs`` of other add-ons refer to; ``default`` is none."""
    chart: Label
    """Chart of ``catalog/versions.yaml`` that the add-on installs. Its values come with the library."""
    namespace: DnsLabel
    """Namespace of the tenant cluster that the chart is installed in."""
    default: bool = False
    """Whether clusters whose ``add_ons`` say ``default`` get the add-on."""
    gives: Gift | None = None
    """What the add-on is for. An add-on that a cluster names takes the place of a default one that gives the same."""
    needs: tuple[DnsLabel, ...] = ()
    """Names of the add-ons that must be installed before this one."""
    gpu_only: bool = False
    """Whether the add-on has a meaning only where nodes have GPUs."""
    nvlink_only: bool = False
    """Whether the add-on has a meaning only where NVLink spans nodes: on types with GPUs and ``scale: rack``."""


class AddOnCatalog(DataFile):
    """``catalog/add_ons.yaml``, an optional file."""

    add_ons: tuple[AddOn, ...] = ()
    """Add-ons that clusters may ask for by name; a cluster gets those with ``default`` unless it lists its own."""
    pod_priorities: tuple[PodPriority, ...] = ()
    """Priorities that clusters may offer to their pods by name."""
