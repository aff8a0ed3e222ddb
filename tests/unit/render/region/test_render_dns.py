"""DNS names: the writer of each name, and names that a tenant can choose."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.manifest import Manifest
from components.render.region.dns import ClusterDnsInput, operators, render
from components.render.region.region import RegionInput
from components.render.vms.vm_offering import VmOfferingInput
from components.specs.region.region import RegionSpec
from components.specs.struct import replace
from tests.support.data.small_region import changed


@pytest.fixture
def spec(inputs_of: Any) -> RegionSpec:
    [region] = inputs_of(RegionInput)
    return region.spec


@pytest.fixture
def cluster(inputs_of: Any) -> ClusterDnsInput:
    """Return the names of the cluster that has VMs with public addresses."""
    [one] = inputs_of(ClusterDnsInput)
    return one


def values(spec: RegionSpec) -> dict[str, Any]:
    [operator] = operators(spec)
    return dict(operator.values)


def inside(cluster: ClusterDnsInput) -> dict[str, Any]:
    [release] = cluster.render()
    found: dict[str, Any] = release.body["spec"]["values"]
    return found


def test_nothing_is_rendered_without_a_name_server(laptop: Any, spec: RegionSpec) -> None:
    without = changed(spec, dns=None)
    environment = changed(laptop, region=without)

    assert (operators(without), render(without)) == ((), ())
    assert not [one for part in slices(environment) for one in inputs(environment, part) if is_name(one)]


def is_name(concept: Any) -> bool:
    return isinstance(concept, ClusterDnsInput)


def test_only_clusters_whose_services_get_addresses_have_names(inputs_of: Any) -> None:
    assert [one.cluster for one in inputs_of(ClusterDnsInput)] == ["acme-train"]


def test_messages_are_signed_by_a_key_that_only_its_secret_knows(spec: RegionSpec, cluster: ClusterDnsInput) -> None:
    for found in (values(spec), inside(cluster)):
        assert {one["name"]: one["valueFrom"]["secretKeyRef"] for one in found["env"]} == {
            "EXTERNAL_DNS_RFC2136_TSIG_KEYNAME": {"name": "dns-key", "key": "keyname"},
            "EXTERNAL_DNS_RFC2136_TSIG_SECRET": {"name": "dns-key", "key": "secret"},
        }
        assert {name: value for name, value in found["extraArgs"].items() if name.startswith("rfc2136")} == {
            "rfc2136-host": "10.0.0.53",
            "rfc2136-port": 53,
            "rfc2136-zone": "laptop.cloud.example",
            "rfc2136-tsig-secret-alg": "hmac-sha256",
            "rfc2136-tsig-axfr": True,
            "rfc2136-min-ttl": "60s",
        }


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("web.acme-train.laptop.cloud.example", True),
        ("a.b.web.acme-train.laptop.cloud.example", True),
        ("*.web.acme-train.laptop.cloud.example", True),
        ("acme-train.laptop.cloud.example", True),
        ("owner-a.web.acme-train.laptop.cloud.example", True),
        ("owner-a.any.web.acme-train.laptop.cloud.example", True),
        ("web.globex-lab.laptop.cloud.example", False),
        ("acme-train.api.laptop.cloud.example", False),
        ("web-acme-train.laptop.cloud.example", False),
        ("web.acme-train.laptop.cloud.example.org", False),
        ("web.acme-trainXlaptop.cloud.example", False),
        ("www.laptop.cloud.example\t60\tA\t192.0.2.1\t;.acme-train.laptop.cloud.example", False),
        ("web.acme-train.laptop.cloud.example\n", False),
    ],
)
def test_a_tenant_has_the_names_below_its_clusters_own_and_nothing_but_names(
    cluster: ClusterDnsInput, name: str, *, counts: bool
) -> None:
    pattern = inside(cluster)["extraArgs"]["regex-domain-filter"]

    # Go's $ is the end of the text, like \Z here.
    assert bool(re.search(pattern.removesuffix("$") + r"\Z", name)) is counts


def test_a_name_resolves_to_addresses_of_its_cluster_only(
    laptop: Any, cluster: ClusterDnsInput, inputs_of: Any
) -> None:
    [vm_address] = [
        item.body["metadata"]["annotations"]["metallb.io/loadBalancerIPs"]
        for offering in inputs_of(VmOfferingInput)
        for item in offering.render()
        if isinstance(item, Manifest) and item.kind == "Service"
    ]
    found = inside(cluster)

    assert found["extraArgs"]["target-net-filter"] == [
        str(laptop.allocations.vpcs["acme"].load_balancers),
        f"{vm_address}/32",
    ]
    assert found["managedRecordTypes"] == ["A"]
    assert found["extraArgs"]["service-type-filter"] == "LoadBalancer"


def test_external_dns_of_a_cluster_has_no_other_permissions(cluster: ClusterDnsInput) -> None:
    [release] = cluster.render()
    found = inside(cluster)

    assert (release.namespace, release.body["spec"]["targetNamespace"]) == ("acme-train", "acme-train")
    assert "kubeConfig" not in release.body["spec"]
    assert release.readiness is None
    assert found["extraVolumes"] == [{"name": "kubeconfig", "secret": {"secretName": "acme-train-kubeconfig"}}]
    assert found["extraArgs"]["kubeconfig"] == f"{found['extraVolumeMounts'][0]['mountPath']}/value"
    assert found["rbac"] == {"create": False}
    assert found["automountServiceAccountToken"] is False


def test_external_dns_of_control_planes_only_reads_services(spec: RegionSpec) -> None:
    found = values(spec)
    role, binding, *_ = render(spec)

    assert found["sources"] == ["service"]
    assert found["rbac"] == {"create": False}
    assert [(rule["resources"], rule["verbs"]) for rule in role.body["rules"]] == [
        (["services"], ["get", "list", "watch"]),
        (["events"], ["create"]),
    ]
    assert binding.body["subjects"] == [{"kind": "ServiceAccount", "name": "external-dns", "namespace": "external-dns"}]
    assert found["extraArgs"]["target-net-filter"] == [str(spec.networks.control_plane_vips)]
    assert re.search(found["extraArgs"]["regex-domain-filter"], "acme-train.api.laptop.cloud.example")


def test_no_two_own_the_same_names(spec: RegionSpec, cluster: ClusterDnsInput) -> None:
    other = replace(cluster, cluster="globex-lab")
    every = [values(spec), inside(cluster), inside(other)]

    assert len({one["txtOwnerId"] for one in every}) == len(every)
    assert len({one["extraArgs"]["regex-domain-filter"] for one in every}) == len(every)


def test_unwritten_names_are_reported_for_every_namespace(spec: RegionSpec) -> None:
    *_, monitor, rules = render(spec)
    [endpoint] = monitor.body["spec"]["podMetricsEndpoints"]
    [job] = endpoint["relabelings"]
    [group] = rules.body["spec"]["groups"]

    assert monitor.body["spec"]["namespaceSelector"] == {"any": True}
    assert all(f'job="{job["replacement"]}"' in rule["expr"] for rule in group["rules"])
    assert [rule["alert"] for rule in group["rules"]] == ["NamesNotWritten", "NamesOld", "NamesUnread"]


def test_a_vm_with_a_public_address_has_a_name(inputs_of: Any) -> None:
    [offering] = [one for one in inputs_of(VmOfferingInput) if one.cluster == "acme-train"]
    nameless = replace(offering, machines=tuple(replace(one, host_name=None) for one in offering.machines))
    names = [
        item.body["metadata"]["annotations"].get("external-dns.alpha.kubernetes.io/hostname")
        for one in (offering, nameless)
        for item in one.render()
        if isinstance(item, Manifest) and item.kind == "Service"
    ]

    assert names == ["bastion.acme-train.laptop.cloud.example", None]
