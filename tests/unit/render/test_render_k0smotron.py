"""Control planes by k0smotron, whole, and what differs between its data stores."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from components.render.control_plane import READY
from components.render.etcd_backup import Backup
from components.render.hosted_control_plane import HostedControlPlaneInput
from components.render.node_pool import NodePoolInput
from components.specs.bare_metal import BareMetalBackend
from components.specs.region import BackupSpec


def acme(inputs_with: Any, **backends: Any) -> HostedControlPlaneInput:
    found: HostedControlPlaneInput = inputs_with(HostedControlPlaneInput, **backends)[0]
    return found


def test_a_control_plane_is_this(inputs_with: Any) -> None:
    plane = acme(inputs_with).render()[-1]

    address = {"metallb.io/address-pool": "control-plane-vips", "metallb.io/loadBalancerIPs": "10.3.0.1"}
    patch = {"type": "merge", "content": json.dumps({"metadata": {"annotations": address}})}
    assert plane.body == {
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2",
        "kind": "K0smotronControlPlane",
        "metadata": {
            "name": "acme-train",
            "namespace": "acme-train",
            "labels": {
                "app.kubernetes.io/managed-by": "jacquard",
                "jacquard.dev/tenant": "acme",
                "jacquard.dev/cluster": "acme-train",
            },
        },
        "spec": {
            "version": "v1.35.2-k0s.0",
            "replicas": 3,
            "externalAddress": "10.3.0.1",
            "service": {"type": "LoadBalancer", "apiPort": 6443, "konnectivityPort": 8132},
            "patches": [{"target": {"kind": "Service", "component": "control-plane"}, "patch": patch}],
            "storage": {
                "type": "etcd",
                "etcd": {
                    "persistence": {"size": "50Gi", "storageClass": "nvme"},
                    "resources": {"requests": {"cpu": "1000m", "memory": "3840Mi"}},
                },
            },
            "k0sConfig": {
                "apiVersion": "k0s.k0sproject.io/v1beta1",
                "kind": "ClusterConfig",
                "metadata": {"name": "k0s"},
                "spec": {
                    "api": {
                        "sans": ["10.3.0.1"],
                        "extraArgs": {
                            "oidc-issuer-url": "https://login.acme.example",
                            "oidc-client-id": "acme-train",
                            "oidc-groups-claim": "groups",
                            "oidc-groups-prefix": "acme-",
                        },
                    },
                    "network": {
                        "provider": "custom",
                        "podCIDR": "10.64.0.0/16",
                        "serviceCIDR": "10.65.0.0/20",
                        "clusterDomain": "cluster.local",
                    },
                    "telemetry": {"enabled": False},
                },
            },
            "resources": {"requests": {"cpu": "2750m", "memory": "10560Mi"}},
            "monitoring": {"enabled": True},
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": key,
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"cluster.x-k8s.io/cluster-name": "acme-train"}},
                }
                for key in ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
            ],
        },
    }
    assert (plane.readiness, plane.protect) == (READY, True)


def test_the_cluster_is_the_same_but_for_whom_it_refers_to(inputs_of: Any, inputs_with: Any) -> None:
    first = inputs_of(HostedControlPlaneInput)[0].render()[-2].body
    *_, infrastructure, second, plane = acme(inputs_with).render()

    references = {
        "controlPlaneRef": {
            "apiGroup": "controlplane.cluster.x-k8s.io",
            "kind": "K0smotronControlPlane",
            "name": "acme-train",
        },
        "infrastructureRef": {
            "apiGroup": "infrastructure.cluster.x-k8s.io",
            "kind": "IroncoreMetalCluster",
            "name": "acme-train",
        },
    }
    assert second.body == {**first, "spec": {**first["spec"], **references}}
    assert (infrastructure.kind, plane.kind) == ("IroncoreMetalCluster", "K0smotronControlPlane")


def test_a_shared_data_store_is_reached_by_kine_with_a_reference_to_its_secret(inputs_with: Any) -> None:
    plane = acme(inputs_with, data_store="shared-a").render()[-1]

    assert plane.body["spec"]["storage"] == {"type": "kine", "kine": {"dataSourceSecretName": "etcd-a-certs"}}


def test_what_the_sidecar_scraped_gets_the_names_that_kamajis_has(inputs_with: Any) -> None:
    service, monitor, rules, *_ = acme(inputs_with).render()

    assert (service.kind, monitor.kind, rules.kind) == ("Service", "ServiceMonitor", "PrometheusRule")
    assert service.body["spec"] == {
        "clusterIP": "None",
        "selector": {"app": "k0smotron", "cluster": "acme-train", "cluster.x-k8s.io/control-plane": "true"},
        "ports": [{"name": "metrics", "port": 8090, "targetPort": 8090}],
    }
    [endpoint] = monitor.body["spec"]["endpoints"]
    renamed = [(item.get("regex"), item["targetLabel"], item["replacement"]) for item in endpoint["metricRelabelings"]]
    assert endpoint["honorLabels"]
    assert renamed == [
        ("kube-apiserver", "job", "apiserver"),
        ("kube-controller-manager", "job", "kube-controller-manager"),
        ("kube-scheduler", "job", "kube-scheduler"),
        ("etcd", "job", "etcd"),
        (None, "cluster", "acme-train"),
    ]


def test_a_backup_reaches_the_etcd_that_k0smotron_makes(inputs_with: Any) -> None:
    spec = BackupSpec(schedule="0 0 * * *", endpoint="https://objects.cloud.example", bucket="etcd", secret="s3")
    one = replace(acme(inputs_with), backup=Backup(spec=spec, snapshot_image="etcd@sha256:a", upload_image="b"))
    [job] = [item for item in one.render() if item.kind == "CronJob"]

    pod = job.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    certificates = pod["volumes"][1]["projected"]["sources"]
    assert pod["initContainers"][0]["env"][1] == {
        "name": "ETCDCTL_ENDPOINTS",
        "value": "https://kmc-acme-train-etcd:2379",
    }
    assert [(item["secret"]["name"], [key["key"] for key in item["secret"]["items"]]) for item in certificates] == [
        ("acme-train-etcd", ["tls.crt"]),
        ("acme-train-apiserver-etcd-client", ["tls.crt", "tls.key"]),
    ]


def test_no_login_arguments_when_no_login_is_ordered(inputs_with: Any) -> None:
    one = acme(inputs_with)
    silent = replace(one, spec=one.spec.model_copy(update={"oidc": None}))

    assert silent.render()[-1].body["spec"]["k0sConfig"]["spec"]["api"] == {"sans": ["10.3.0.1"]}


@pytest.mark.parametrize(
    ("bare_metal", "provisioner"),
    [
        (BareMetalBackend.METAL3, {"type": "cloud-config"}),
        (
            BareMetalBackend.IRONCORE_METAL,
            {"type": "ignition", "ignition": {"variant": "flatcar", "version": "1.1.0"}},
        ),
    ],
)
def test_nodes_are_k0s_nodes_and_boot_as_their_provider_wants(
    inputs_with: Any, bare_metal: BareMetalBackend, provisioner: dict[str, Any]
) -> None:
    pool = next(item for item in inputs_with(NodePoolInput, bare_metal=bare_metal) if item.spec.taints)
    rendered = pool.render()
    bootstrap = next(item for item in rendered if item.kind == "K0sWorkerConfigTemplate")
    deployment = next(item for item in rendered if item.kind == "MachineDeployment")

    image = pool.groups[0].intent.image
    assert bootstrap.body["spec"] == {
        "template": {
            "spec": {
                "preInstalledK0s": True,
                "args": [f"--labels=node.jacquard.dev/image={image}", "--taints=workload=training:NoSchedule"],
                "provisioner": provisioner,
            }
        }
    }
    assert bootstrap.retain
    assert deployment.body["spec"]["template"]["spec"]["bootstrap"] == {
        "configRef": {
            "apiGroup": "bootstrap.cluster.x-k8s.io",
            "kind": "K0sWorkerConfigTemplate",
            "name": bootstrap.name,
        }
    }
