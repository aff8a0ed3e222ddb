"""Components of tenant networks."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.network.tenant_network import TenantNetworkInput


class TenantNetwork(Component[TenantNetworkInput]):
    """One VPC of a tenant, implemented by the backend that isolates it."""

    INPUT = TenantNetworkInput
    vni: pulumi.Output[int]
    """Virtual network identifier (VNI) of the VPC."""

    def _outputs(self, made: Made[TenantNetworkInput]) -> Outputs:
        return {"vni": made.concept.vpc.numbers.vni}
