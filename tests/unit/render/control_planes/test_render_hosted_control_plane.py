"""A tenant's Kubernetes API: the options of control planes with every backend."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Any

import pytest

from components.lookups.data_stores import made_etcd
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import Manifest
from components.render.pools.node_templates import worker_profile
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from tests.support.api_servers.api_options import API_OPTIONS
from tests.support.data.second_backends import OWN_STORE
from tests.support.objects.rendered_objects import objects_of

VIP = "10.3.0.200"
SPREAD = {"goaway-chance": "0.001"}
"""Flag of API servers with several replicas."""


def control_plane(inputs_of: Any, **changes: Any) -> HostedControlPlaneInput:
    """Return the first control plane of laptop, after a change of its cluster's data."""
    first: HostedControlPlaneInput = inputs_of(HostedControlPlaneInput)[0]
    written = first.spec.model_dump(mode="json", exclude_defaults=True)
    cluster = ClusterSpec.model_validate(written | changes)
    return replace(first, vip=IPv4Address(VIP), spec=cluster)


def kinds(rendered: tuple[Manifest, ...], *wanted: str) -> list[Manifest]:
    return [item for kind in wanted for item in rendered if item.kind == kind]


def kamaji(inputs_of: Any, **changes: Any) -> dict[str, Any]:
    spec: dict[str, Any] = objects_of(control_plane(inputs_of, **changes))[-1].body["spec"]
    return spec


def k0smotron(inputs_of: Any, **changes: Any) -> dict[str, Any]:
    one = replace(control_plane(inputs_of, **changes), backend=ControlPlaneBackend.K0SMOTRON)
    spec: dict[str, Any] = objects_of(one)[-1].body["spec"]
    return spec


def test_the_address_of_a_control_plane_is_equal_in_all_objects(inputs_of: Any) -> None:
    one = replace(control_plane(inputs_of), domain="k8s.cloud.example")
    infrastructure, cluster, plane = kinds(objects_of(one), "Metal3Cluster", "Cluster", "KamajiControlPlane")
    network = plane.body["spec"]["network"]

    assert infrastructure.body["spec"]["controlPlaneEndpoint"] == {"host": VIP, "port": 6443}
    assert cluster.body["spec"]["clusterNetwork"]["apiServerPort"] == 6443
    assert network["serviceAddress"] == VIP
    assert network["serviceAnnotations"] == {
        "metallb.io/address-pool": "control-plane-vips",
        "metallb.io/loadBalancerIPs": VIP,
        "external-dns.alpha.kubernetes.io/controller": "dns-controller",
        "external-dns.alpha.kubernetes.io/hostname": "acme-train.k8s.cloud.example",
    }
    assert network["certSANs"] == [
        VIP,
        "acme-train.acme-train.svc",
        "acme-train.acme-train.svc.cluster.local",
        "acme-train.k8s.cloud.example",
    ]


def test_the_address_of_dns_is_in_the_add_on_that_the_provider_reads(inputs_of: Any) -> None:
    spec = kamaji(inputs_of)

    assert spec["addons"]["coreDNS"] == {"dnsServiceIPs": [str(control_plane(inputs_of).network.services[10])]}
    assert "dnsServiceIPs" not in spec["network"]


def test_probes_of_kamaji_tolerate_seconds_without_a_response(inputs_of: Any) -> None:
    spec = kamaji(inputs_of)
    probes = spec["deployment"]["probes"]

    assert {name: probe["timeoutSeconds"] for name, probe in probes.items()} == {
        "liveness": 15,
        "readiness": 15,
        "startup": 15,
    }
    assert (probes["liveness"]["failureThreshold"], probes["startup"]["failureThreshold"]) == (8, 24)
    # Without the field in each component, the provider ignores the probes of the deployment.
    assert [spec[name]["probes"] for name in ("apiServer", "controllerManager", "scheduler")] == [{}, {}, {}]


def test_k0smotron_has_the_address_in_as_many_places(inputs_of: Any) -> None:
    one = replace(control_plane(inputs_of), domain="k8s.cloud.example", backend=ControlPlaneBackend.K0SMOTRON)
    infrastructure, plane = kinds(objects_of(one), "Metal3Cluster", "K0smotronControlPlane")
    [patch] = plane.body["spec"]["patches"]

    assert infrastructure.body["spec"]["controlPlaneEndpoint"] == {"host": VIP, "port": 6443}
    assert (plane.body["spec"]["externalAddress"], plane.body["spec"]["service"]["apiPort"]) == (VIP, 6443)
    assert plane.body["spec"]["k0sConfig"]["spec"]["api"]["sans"] == [VIP, "acme-train.k8s.cloud.example"]
    assert f'"metallb.io/loadBalancerIPs": "{VIP}"' in patch["patch"]["content"]
    assert '"external-dns.alpha.kubernetes.io/hostname": "acme-train.k8s.cloud.example"' in patch["patch"]["content"]


def test_certificates_of_k0smotrons_etcd_are_renewed_with_the_names_of_its_members(inputs_of: Any, laptop: Any) -> None:
    shared = replace(control_plane(inputs_of), backend=ControlPlaneBackend.K0SMOTRON)
    dedicated = replace(shared, data_store=made_etcd(laptop, OWN_STORE))
    [issuer], certificates = kinds(objects_of(dedicated), "Issuer"), kinds(objects_of(dedicated), "Certificate")

    assert issuer.body["spec"] == {"ca": {"secretName": "acme-train-etcd"}}
    assert [item.body["spec"]["secretName"] for item in certificates] == [
        "acme-train-apiserver-etcd-client",
        "acme-train-etcd-server",
        "acme-train-etcd-peer",
    ]
    for item in certificates:
        spec = item.body["spec"]
        assert spec["issuerRef"] == {"group": "cert-manager.io", "kind": "Issuer", "name": issuer.name}
        # The names of K0SM:internal/controller/k0smotron.io/k0smotroncluster_certs.go ensureEtcdCertificates.
        assert set(spec["dnsNames"]) == {
            "localhost",
            "kmc-acme-train-etcd",
            "kmc-acme-train-etcd.acme-train.svc",
            "kmc-acme-train-etcd.acme-train.svc.cluster.local",
            "*.kmc-acme-train-etcd",
            "*.kmc-acme-train-etcd.acme-train.svc",
            "*.kmc-acme-train-etcd.acme-train.svc.cluster.local",
        }
        assert spec["ipAddresses"] == ["127.0.0.1"]
        assert {"server auth", "client auth"} <= set(spec["usages"])
    assert kinds(objects_of(shared), "Issuer", "Certificate") == []


def test_certificates_of_k0s_outlive_the_pods_of_a_control_plane(inputs_of: Any) -> None:
    assert k0smotron(inputs_of)["k0sConfig"]["spec"]["api"]["ca"] == {"certificatesExpireAfter": "87600h"}


def test_k0s_does_not_install_components_of_add_ons(inputs_of: Any) -> None:
    assert k0smotron(inputs_of)["controlPlaneFlags"] == ["--disable-components=metrics-server"]


@pytest.mark.parametrize("backend", ControlPlaneBackend)
def test_objects_with_tenant_data_are_protected_until_the_cluster_retires(
    inputs_with: Any, backend: ControlPlaneBackend
) -> None:
    [one, *_] = inputs_with(HostedControlPlaneInput, control_planes=backend, bare_metal=BareMetalBackend.METAL3)
    retiring = replace(one, spec=one.spec.model_copy(update={"retire": True}))

    protected = [item.kind for item in objects_of(one) if item.protect]
    own_etcd = ["HelmRelease"] if backend is ControlPlaneBackend.KAMAJI else []
    plane = objects_of(one)[-1].kind
    assert protected == [*own_etcd, "Cluster", plane]
    assert [item for item in objects_of(retiring) if item.protect] == []


@pytest.mark.parametrize(
    ("wish", "flags", "volumes"), [row[1:] for row in API_OPTIONS], ids=[row[0] for row in API_OPTIONS]
)
def test_kamaji_gets_an_option_as_flags_and_volumes(
    inputs_of: Any, wish: dict[str, Any], flags: dict[str, str], volumes: dict[str, dict[str, Any]]
) -> None:
    spec = kamaji(inputs_of, **wish)

    mounts = [{"name": name, "mountPath": f"/etc/jacquard/{name}", "readOnly": True} for name in volumes]
    asked = [one for one in spec["apiServer"]["extraArgs"] if one not in {f"--{k}={v}" for k, v in SPREAD.items()}]
    assert asked == [f"--{name}={value}" for name, value in flags.items()]
    assert spec["apiServer"].get("extraVolumeMounts", []) == mounts
    assert spec["deployment"].get("extraVolumes", []) == [{"name": name, **source} for name, source in volumes.items()]


@pytest.mark.parametrize(
    ("wish", "flags", "volumes"), [row[1:] for row in API_OPTIONS], ids=[row[0] for row in API_OPTIONS]
)
def test_k0smotron_gets_the_same_option_in_its_form(
    inputs_of: Any, wish: dict[str, Any], flags: dict[str, str], volumes: dict[str, dict[str, Any]]
) -> None:
    spec = k0smotron(inputs_of, **wish)

    mounts = [{"path": f"/etc/jacquard/{name}", "readOnly": True, **source} for name, source in volumes.items()]
    assert spec["k0sConfig"]["spec"]["api"]["extraArgs"] == flags | SPREAD
    assert spec.get("mounts", []) == mounts


@pytest.mark.parametrize("backend", ControlPlaneBackend)
def test_servers_of_a_large_cluster_answer_more_and_several_send_clients_on(
    inputs_with: Any, backend: ControlPlaneBackend
) -> None:
    [one, *_] = inputs_with(HostedControlPlaneInput, control_planes=backend, bare_metal=BareMetalBackend.METAL3)
    alone = one.spec.control_plane.model_copy(update={"replicas": 1})
    single = replace(one, spec=one.spec.model_copy(update={"control_plane": alone, "oidc": None}))
    large = {"max-requests-inflight": "1500", "max-mutating-requests-inflight": "500"}

    assert flags_of(single) == {}
    assert flags_of(replace(single, nodes=501)) == large
    assert flags_of(replace(one, spec=one.spec.model_copy(update={"oidc": None}), nodes=501)) == large | SPREAD


@pytest.mark.parametrize("backend", ControlPlaneBackend)
def test_controllers_of_a_large_cluster_send_more_requests(inputs_with: Any, backend: ControlPlaneBackend) -> None:
    [one, *_] = inputs_with(HostedControlPlaneInput, control_planes=backend, bare_metal=BareMetalBackend.METAL3)

    def arguments(nodes: int) -> list[Any]:
        spec = objects_of(replace(one, nodes=nodes))[-1].body["spec"]
        programs = spec.get("k0sConfig", {}).get("spec", spec)
        return [programs.get(name, {}).get("extraArgs") for name in ("controllerManager", "scheduler")]

    flags = {"kube-api-qps": "100", "kube-api-burst": "100"}
    listed = [f"--{name}={value}" for name, value in flags.items()]
    assert arguments(500) == [None, None]
    assert arguments(501) == [flags if backend is ControlPlaneBackend.K0SMOTRON else listed] * 2


def flags_of(one: HostedControlPlaneInput) -> dict[str, str]:
    spec = objects_of(one)[-1].body["spec"]
    if "k0sConfig" in spec:
        return dict(spec["k0sConfig"]["spec"]["api"].get("extraArgs", {}))
    return dict(argument.removeprefix("--").split("=", 1) for argument in spec["apiServer"].get("extraArgs", []))


def test_feature_gates_are_those_of_all_three_programs(inputs_of: Any) -> None:
    wish = {"api_server": {"feature_gates": {"MutatingAdmissionPolicy": True}}}
    plane, k0s = kamaji(inputs_of, **wish), k0smotron(inputs_of, **wish)["k0sConfig"]["spec"]

    for program in ("controllerManager", "scheduler"):
        assert plane[program]["extraArgs"] == ["--feature-gates=MutatingAdmissionPolicy=true"]
        assert k0s[program] == {"extraArgs": {"feature-gates": "MutatingAdmissionPolicy=true"}}


def test_further_names_of_the_api_server_follow_its_own(inputs_of: Any) -> None:
    wish = {"api_server": {"additional_sans": ["api.acme.example", "192.0.2.7"]}}
    names = ["acme-train.api.laptop.cloud.example", "api.acme.example", "192.0.2.7"]

    assert kamaji(inputs_of, **wish)["network"]["certSANs"][-3:] == names
    assert k0smotron(inputs_of, **wish)["k0sConfig"]["spec"]["api"]["sans"] == [VIP, *names]


SETTINGS = {"maxPods": 64, "podPidsLimit": 8192, "systemReserved": {"cpu": "4", "memory": "8Gi"}}


def with_settings(inputs_of: Any, **others: Any) -> HostedControlPlaneInput:
    """Return a control plane whose nodes have kubelet settings."""
    one = replace(control_plane(inputs_of), **others)
    changes = {"max_pods": SETTINGS["maxPods"], "kubelet_configuration": SETTINGS}
    return replace(one, intents=(one.intents[0].model_copy(update=changes),))


def test_only_k0s_has_the_settings_of_kubelets_in_its_control_plane_as_a_profile(inputs_of: Any) -> None:
    kamaji, k0s = (
        objects_of(with_settings(inputs_of, backend=backend))[-1].body["spec"]
        for backend in (ControlPlaneBackend.KAMAJI, ControlPlaneBackend.K0SMOTRON)
    )

    assert "kubelet" not in kamaji
    assert k0s["k0sConfig"]["spec"]["workerProfiles"] == [{"name": worker_profile(SETTINGS), "values": SETTINGS}]


def test_unpromoted_kubelet_settings_do_not_reach_a_control_plane(inputs_of: Any) -> None:
    wish = {"max_pods": 64, "kubelet": {"pod_pids_limit": 8192}}

    assert "kubelet" not in kamaji(inputs_of, **wish)
    [profile] = k0smotron(inputs_of, **wish)["k0sConfig"]["spec"]["workerProfiles"]
    assert profile["values"] == {"maxPods": 110}


def test_the_network_of_the_first_nodes_is_seeded_once_for_this_cluster_only(inputs_of: Any) -> None:
    rendered = objects_of(control_plane(inputs_of, cni_seed="cilium-seed"))
    [seed, cluster] = kinds(rendered, "ClusterResourceSet", "Cluster")

    assert seed.body == {
        "apiVersion": "addons.cluster.x-k8s.io/v1beta2",
        "kind": "ClusterResourceSet",
        "metadata": {
            "name": "acme-train-cni",
            "namespace": "acme-train",
            "labels": {
                "app.kubernetes.io/managed-by": "jacquard",
                "jacquard.dev/tenant": "acme",
                "jacquard.dev/cluster": "acme-train",
            },
        },
        "spec": {
            "strategy": "ApplyOnce",
            "clusterSelector": {"matchLabels": {"jacquard.dev/cluster": "acme-train"}},
            "resources": [{"kind": "ConfigMap", "name": "cilium-seed"}],
        },
    }
    assert cluster.body["metadata"]["labels"]["jacquard.dev/cluster"] == "acme-train"
