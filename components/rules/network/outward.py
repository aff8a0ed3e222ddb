"""Rules about required egress of a VPC: for replies of public addresses, and for control planes."""

from collections.abc import Iterator

from components.lookups.pools import problem, tenant_file, vms_of
from components.render.backends import NETWORK_BACKENDS, Filter
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.network.tenant_network import Egress, Ingress, VpcSpec
from components.specs.reading.problems import Problem, listed
from components.specs.region.tenant import TenantSpec

_MAX_NAMES = 3


def answers(environment: Environment) -> Iterator[Problem]:
    """Report public addresses that receive packets but cannot reply, because DPUs filter without connection state."""
    for tenant, index, vpc in _closed(environment):
        public = sorted(vm.name for _, vm in vms_of(tenant) if vm.public_ip and _lives_in(tenant, vpc))
        if public and vpc.ingress is Ingress.PUBLIC and NETWORK_BACKENDS[vpc.isolation].filters is Filter.HOSTS:
            text = (
                f"none drops replies from public addresses (VM {listed(public, _MAX_NAMES)}), because filters of DPUs"
                " are stateless; write public, or ingress: none"
            )
            yield problem(environment, tenant_file(tenant), ("vpcs", index, "egress"), text)


def control_planes(environment: Environment) -> Iterator[Problem]:
    """Report VPCs on OVN without egress: OVN routes all egress or none, and the API server is outside the VPC."""
    for tenant, index, vpc in _closed(environment):
        if NETWORK_BACKENDS[vpc.isolation].ovn:
            text = (
                f"none on {vpc.isolation} leaves hosts without a route to their control plane, because OVN routes all"
                " egress or none; write public, or dpf-hbn as isolation"
            )
            yield problem(environment, tenant_file(tenant), ("vpcs", index, "egress"), text)


def _closed(environment: Environment) -> Iterator[tuple[TenantSpec, int, VpcSpec]]:
    """Yield the VPCs without egress to the internet, each with its tenant and index."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.egress is Egress.NONE:
                yield tenant, index, vpc


def _lives_in(tenant: TenantSpec, vpc: VpcSpec) -> bool:
    """Return whether the VMs of ``tenant`` are in ``vpc``."""
    clusters = {cluster.name for cluster in tenant.clusters if cluster.vpc == vpc.name}
    return tenant.vms is not None and tenant.vms.cluster in clusters


RULES = Rules(data=(answers, control_planes))
