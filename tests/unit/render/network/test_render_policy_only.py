"""VPCs with network policies only."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.network.tenant_network import TenantNetworkInput
from components.specs.network.tenant_network import Egress, Ingress, Isolation
from components.specs.struct import replace

HIDDEN = ["10.0.0.0/16", "10.1.0.0/16", "10.3.0.0/24", "10.4.0.0/22", "10.4.4.0/22"]
OUTSIDE = {"ipBlock": {"cidr": "0.0.0.0/0", "except": HIDDEN}}
INSIDE = [
    {"ipBlock": {"cidr": cidr}}
    for cidr in ("10.65.16.0/24", "10.64.0.0/16", "10.65.0.0/20", "10.65.17.0/26", "10.2.0.0/17")
]
CONTROL_PLANE = {"ipBlock": {"cidr": "10.3.0.1/32"}}
REGISTRY = {"to": [{"ipBlock": {"cidr": "10.3.0.250/32"}}], "ports": [{"protocol": "TCP", "port": 443}]}


@pytest.mark.parametrize(
    ("ingress", "egress", "sources", "targets"),
    [
        (Ingress.NONE, Egress.NONE, INSIDE, [CONTROL_PLANE, *INSIDE]),
        (Ingress.PUBLIC, Egress.NONE, [OUTSIDE], [CONTROL_PLANE, *INSIDE]),
        (Ingress.NONE, Egress.PUBLIC, INSIDE, [CONTROL_PLANE, OUTSIDE]),
    ],
)
def test_the_default_namespace_of_each_cluster_is_denied_what_the_vpc_does_not_permit(
    inputs_with: Any, ingress: Ingress, egress: Egress, sources: list[Any], targets: list[Any]
) -> None:
    found: TenantNetworkInput = inputs_with(TenantNetworkInput, isolation=Isolation.POLICY_ONLY)[0]
    spec = found.vpc.spec.model_copy(update={"ingress": ingress, "egress": egress})

    [policy] = replace(found, vpc=replace(found.vpc, spec=spec)).render()

    assert policy.cluster == "acme-train"
    assert policy.body == {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {
            "name": "acme",
            "namespace": "default",
            "labels": {"app.kubernetes.io/managed-by": "jacquard", "jacquard.dev/tenant": "acme"},
        },
        "spec": {
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": sources}],
            "egress": [{"to": targets}, REGISTRY],
        },
    }
