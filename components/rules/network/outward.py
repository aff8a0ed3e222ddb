"""What a VPC must let out whatever its tenant wishes: answers of its public addresses, and the way to its API."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.pools import problem, tenant_file, vms_of
from components.render.backends import BORDERS, Filter
from components.specs.environment import Environment
from components.specs.network.tenant_network import Egress, Ingress, VpcSpec
from components.specs.reading.problems import Problem, listed
from components.specs.region.tenant import TenantSpec

_MAX_NAMES = 3


def answers(environment: Environment) -> Iterator[Problem]:
    """Report public addresses that are reached and cannot answer, since DPUs filter packets and know no connection."""
    for tenant, index, vpc in _closed(environment):
        public = sorted(vm.name for _, vm in vms_of(tenant) if vm.public_ip and _lives_in(tenant, vpc))
        if public and vpc.ingress is Ingress.PUBLIC and BORDERS[vpc.isolation].filters is Filter.HOSTS:
            text = (
                f"none drops what public addresses answer (VM {listed(public, _MAX_NAMES)}), since DPUs filter each"
                " packet by itself; write public, or ingress: none"
            )
            yield problem(environment, tenant_file(tenant), ("vpcs", index, "egress"), text)


def control_planes(environment: Environment) -> Iterator[Problem]:
    """Report VPCs on OVN without a way out: OVN routes everything outside or nothing, and the API is outside."""
    for tenant, index, vpc in _closed(environment):
        if BORDERS[vpc.isolation].ovn:
            text = (
                f"none on {vpc.isolation} leaves hosts without a route to their control plane, which OVN has with"
                " everything outside or not at all; write public, or dpf-hbn as isolation"
            )
            yield problem(environment, tenant_file(tenant), ("vpcs", index, "egress"), text)


def _closed(environment: Environment) -> Iterator[tuple[TenantSpec, int, VpcSpec]]:
    """Yield the VPCs that let nothing out to the internet, each with its tenant and its place there."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.egress is Egress.NONE:
                yield tenant, index, vpc


def _lives_in(tenant: TenantSpec, vpc: VpcSpec) -> bool:
    """Tell whether the VMs of ``tenant`` are in ``vpc``."""
    clusters = {cluster.name for cluster in tenant.clusters if cluster.vpc == vpc.name}
    return tenant.vms is not None and tenant.vms.cluster in clusters
