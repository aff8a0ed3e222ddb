"""A tenant's Kubernetes API."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address
from typing import Any

from components.render.hosted_control_plane import HostedControlPlaneInput, render_hosted_control_plane

VIP = "10.3.0.200"


def control_plane(inputs_of: Any) -> HostedControlPlaneInput:
    first: HostedControlPlaneInput = inputs_of(HostedControlPlaneInput)[0]
    return replace(first, vip=IPv4Address(VIP))


def test_the_address_stands_wherever_it_is_needed(inputs_of: Any) -> None:
    infrastructure, cluster, kamaji = (
        item.body["spec"] for item in render_hosted_control_plane(control_plane(inputs_of))
    )

    assert infrastructure["controlPlaneEndpoint"] == {"host": VIP, "port": 6443}
    assert cluster["clusterNetwork"]["apiServerPort"] == 6443
    assert kamaji["network"]["serviceAddress"] == VIP
    assert kamaji["network"]["serviceAnnotations"]["metallb.io/loadBalancerIPs"] == VIP
    assert VIP in kamaji["network"]["certSANs"]


def test_the_cluster_refers_to_its_control_plane_and_infrastructure(inputs_of: Any) -> None:
    infrastructure, cluster, kamaji = render_hosted_control_plane(control_plane(inputs_of))

    for reference, item in (("controlPlaneRef", kamaji), ("infrastructureRef", infrastructure)):
        group = item.api_version.partition("/")[0]
        assert cluster.body["spec"][reference] == {"apiGroup": group, "kind": item.kind, "name": item.name}
    assert {item.namespace for item in (infrastructure, cluster, kamaji)} == {cluster.name}


def test_only_the_control_plane_is_awaited_and_after_the_cluster_that_starts_it(inputs_of: Any) -> None:
    rendered = render_hosted_control_plane(control_plane(inputs_of))

    assert [item.kind for item in rendered if item.readiness] == ["KamajiControlPlane"]
    assert [item.kind for item in rendered][-2:] == ["Cluster", "KamajiControlPlane"]


def test_a_tenants_cluster_is_protected(inputs_of: Any) -> None:
    rendered = render_hosted_control_plane(control_plane(inputs_of))

    assert {item.kind for item in rendered if item.protect} == {"Cluster", "KamajiControlPlane"}


def test_dns_is_the_tenth_service_address_and_networks_are_those_of_the_vpc(inputs_of: Any) -> None:
    one = control_plane(inputs_of)
    _, cluster, kamaji = (item.body["spec"] for item in render_hosted_control_plane(one))

    assert kamaji["network"]["dnsServiceIPs"] == [str(one.network.services.network_address + 10)]
    assert cluster["clusterNetwork"]["pods"] == {"cidrBlocks": [str(one.network.pods)]}
    assert cluster["clusterNetwork"]["services"] == {"cidrBlocks": [str(one.network.services)]}


def test_the_api_server_has_login_arguments_only_when_a_login_is_ordered(inputs_of: Any) -> None:
    one = control_plane(inputs_of)
    silent = replace(one, cluster=one.cluster.model_copy(update={"oidc": None}))

    assert one.cluster.oidc is not None
    assert render_hosted_control_plane(one)[-1].body["spec"]["apiServer"] == {
        "extraArgs": [
            f"--oidc-issuer-url={one.cluster.oidc.issuer_url}",
            f"--oidc-client-id={one.cluster.oidc.client_id}",
        ]
    }
    assert "apiServer" not in render_hosted_control_plane(silent)[-1].body["spec"]
