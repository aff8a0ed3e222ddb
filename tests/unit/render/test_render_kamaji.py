"""Control planes by Kamaji, whole, and what differs with a data store of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from components.render.control_plane import ControlPlane
from components.render.etcd_backup import Backup
from components.render.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import Manifest
from components.specs.bare_metal import BareMetalBackend
from components.specs.hosted_control_plane import ControlPlaneSpec, Events
from components.specs.region import BackupSpec, ControlPlaneBackend

LABELS = {
    "app.kubernetes.io/managed-by": "jacquard",
    "jacquard.dev/tenant": "acme",
    "jacquard.dev/cluster": "acme-train",
}
BACKUP = Backup(
    spec=BackupSpec(
        schedule="0 */6 * * *", endpoint="https://objects.cloud.example", bucket="etcd", secret="etcd-backup"
    ),
    snapshot_image="registry.cloud.example/etcd@sha256:aa",
    upload_image="registry.cloud.example/rclone@sha256:bb",
)


def shared(inputs_of: Any) -> HostedControlPlaneInput:
    found: HostedControlPlaneInput = inputs_of(HostedControlPlaneInput)[0]
    return found


def dedicated(inputs_with: Any, **changes: Any) -> HostedControlPlaneInput:
    backends = {"control_planes": ControlPlaneBackend.KAMAJI, "bare_metal": BareMetalBackend.METAL3}
    found: HostedControlPlaneInput = inputs_with(HostedControlPlaneInput, **backends)[0]
    return replace(found, **changes)


def wishing(one: HostedControlPlaneInput, **wish: Any) -> HostedControlPlaneInput:
    plane = ControlPlaneSpec(**{**one.spec.control_plane.model_dump(), **wish})
    return replace(one, spec=one.spec.model_copy(update={"control_plane": plane}))


def of_kind(control_plane: ControlPlane, kind: str) -> list[Manifest]:
    assert isinstance(control_plane, HostedControlPlaneInput)
    return [item for item in control_plane.render() if item.kind == kind]


def spreading(pods: dict[str, str], **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": pods},
            **more,
        }
        for key in ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
    ]


def test_a_control_plane_is_this(inputs_of: Any) -> None:
    plane = shared(inputs_of).render()[-1]

    pods = {"kamaji.clastix.io/name": "acme-train"}
    assert plane.body == {
        "apiVersion": "controlplane.cluster.x-k8s.io/v1alpha2",
        "kind": "KamajiControlPlane",
        "metadata": {"name": "acme-train", "namespace": "acme-train", "labels": LABELS},
        "spec": {
            "version": "v1.35.2",
            "replicas": 3,
            "dataStoreName": "shared-a",
            "addons": {
                "coreDNS": {},
                "kubeProxy": {},
                "konnectivity": {
                    "agent": {"mode": "DaemonSet", "hostNetwork": True, "tolerations": [{"operator": "Exists"}]}
                },
            },
            "network": {
                "serviceType": "LoadBalancer",
                "serviceAddress": "10.3.0.1",
                "serviceAnnotations": {
                    "metallb.io/address-pool": "control-plane-vips",
                    "metallb.io/loadBalancerIPs": "10.3.0.1",
                },
                "certSANs": ["10.3.0.1", "acme-train.acme-train.svc", "acme-train.acme-train.svc.cluster.local"],
                "dnsServiceIPs": ["10.65.0.10"],
            },
            "deployment": {"topologySpreadConstraints": spreading(pods, matchLabelKeys=["pod-template-hash"])},
            "apiServer": {
                "extraArgs": [
                    "--oidc-issuer-url=https://login.acme.example",
                    "--oidc-client-id=acme-train",
                    "--oidc-groups-claim=groups",
                    "--oidc-groups-prefix=acme-",
                ],
                "resources": {"requests": {"cpu": "2000m", "memory": "7680Mi"}},
            },
            "controllerManager": {"resources": {"requests": {"cpu": "500m", "memory": "1920Mi"}}},
            "scheduler": {"resources": {"requests": {"cpu": "250m", "memory": "960Mi"}}},
        },
    }


def test_as_many_konnectivity_agents_as_asked_for(inputs_of: Any) -> None:
    [plane] = of_kind(wishing(shared(inputs_of), konnectivity_agents=5), "KamajiControlPlane")

    assert plane.body["spec"]["addons"]["konnectivity"]["agent"] == {
        "mode": "Deployment",
        "replicas": 5,
        "hostNetwork": True,
        "tolerations": [{"operator": "Exists"}],
    }


def test_a_data_store_of_its_own_is_made_first_with_its_authority_and_protected(inputs_with: Any) -> None:
    issuer, etcd, *_, plane = dedicated(inputs_with).render()

    step = {"crds": "CreateReplace", "strategy": {"name": "RetryOnFailure", "retryInterval": "2m"}}
    assert issuer.body == {
        "apiVersion": "cert-manager.io/v1",
        "kind": "Issuer",
        "metadata": {"name": "acme-train-etcd", "namespace": "acme-train", "labels": LABELS},
        "spec": {"selfSigned": {}},
    }
    assert etcd.body == {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {
            "name": "acme-train-etcd",
            "namespace": "acme-train",
            "labels": {"app.kubernetes.io/managed-by": "jacquard"},
        },
        "spec": {
            "chartRef": {"kind": "OCIRepository", "name": "kamaji-etcd", "namespace": "operators"},
            "releaseName": "acme-train-etcd",
            "targetNamespace": "acme-train",
            "interval": "1h",
            "install": step,
            "upgrade": step,
            "driftDetection": {"mode": "enabled"},
            "values": {
                "fullnameOverride": "acme-train-etcd",
                "replicas": 3,
                "persistentVolumeClaim": {"size": "50Gi", "storageClassName": "nvme"},
                "datastore": {"enabled": True, "name": "acme-train-etcd"},
                "selfSignedCertificates": {"enabled": False},
                "certManager": {
                    "enabled": True,
                    "issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": "acme-train-etcd"},
                    "ca": {"create": True, "nameOverride": "acme-train-etcd-ca"},
                    "clientCert": {"nameOverride": "acme-train-etcd-client"},
                },
                "resources": {"requests": {"cpu": "1000m", "memory": "3840Mi"}},
                "topologySpreadConstraints": spreading({"app.kubernetes.io/instance": "acme-train-etcd"}),
            },
        },
    }
    assert etcd.protect
    assert etcd.readiness is not None
    assert plane.body["spec"]["dataStoreName"] == "acme-train-etcd"
    assert "dataStoreOverrides" not in plane.body["spec"]


def test_only_the_data_stores_name_differs_from_a_control_plane_that_shares_one(
    inputs_of: Any, inputs_with: Any
) -> None:
    [one], [other] = (of_kind(item, "KamajiControlPlane") for item in (shared(inputs_of), dedicated(inputs_with)))

    assert {**other.body["spec"], "dataStoreName": "shared-a"} == one.body["spec"]


def test_events_of_their_own_are_in_a_second_etcd_that_trusts_the_first_ones_authority(inputs_with: Any) -> None:
    one = wishing(dedicated(inputs_with), events=Events.APART)
    [main, events] = of_kind(one, "HelmRelease")
    [plane] = of_kind(one, "KamajiControlPlane")

    assert (main.name, events.name) == ("acme-train-etcd", "acme-train-events")
    assert main.protect
    assert events.protect
    assert events.body["spec"]["values"]["certManager"] == {
        "enabled": True,
        "issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": "acme-train-etcd"},
        "ca": {"create": False, "nameOverride": "acme-train-etcd-ca"},
        "clientCert": {"nameOverride": "acme-train-events-client"},
    }
    assert plane.body["spec"]["dataStoreOverrides"] == [{"resource": "/events", "dataStore": "acme-train-events"}]
    assert [item.name for item in of_kind(one, "PodMonitor")] == ["acme-train-etcd", "acme-train-events"]


def test_a_backup_is_a_snapshot_that_is_copied_to_the_bucket_below_the_clusters_name(inputs_with: Any) -> None:
    [backup] = of_kind(dedicated(inputs_with, backup=BACKUP), "CronJob")

    tls = [{"key": name, "path": name} for name in ("tls.crt", "tls.key")]
    authority = [{"key": "ca.crt", "path": "ca.crt"}]
    assert backup.body == {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "acme-train-etcd-backup", "namespace": "acme-train", "labels": LABELS},
        "spec": {
            "schedule": "0 */6 * * *",
            "timeZone": "Etc/UTC",
            "concurrencyPolicy": "Forbid",
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 3,
            "jobTemplate": {
                "spec": {
                    "backoffLimit": 2,
                    "activeDeadlineSeconds": 3600,
                    "template": {
                        "spec": {
                            "restartPolicy": "Never",
                            "automountServiceAccountToken": False,
                            "securityContext": {
                                "runAsNonRoot": True,
                                "runAsUser": 65532,
                                "runAsGroup": 65532,
                                "fsGroup": 65532,
                            },
                            "initContainers": [
                                {
                                    "name": "snapshot",
                                    "image": "registry.cloud.example/etcd@sha256:aa",
                                    "command": ["etcdctl"],
                                    "args": ["snapshot", "save", "/snapshots/$(POD).db"],
                                    "env": [
                                        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                                        {
                                            "name": "ETCDCTL_ENDPOINTS",
                                            "value": "https://acme-train-etcd-client.acme-train.svc.cluster.local:2379",
                                        },
                                        {"name": "ETCDCTL_CACERT", "value": "/certificates/ca.crt"},
                                        {"name": "ETCDCTL_CERT", "value": "/certificates/tls.crt"},
                                        {"name": "ETCDCTL_KEY", "value": "/certificates/tls.key"},
                                    ],
                                    "volumeMounts": [
                                        {"name": "snapshots", "mountPath": "/snapshots"},
                                        {"name": "certificates", "mountPath": "/certificates", "readOnly": True},
                                    ],
                                }
                            ],
                            "containers": [
                                {
                                    "name": "upload",
                                    "image": "registry.cloud.example/rclone@sha256:bb",
                                    "command": ["rclone"],
                                    "args": ["copy", "/snapshots", ":s3:etcd/acme-train"],
                                    "env": [
                                        {"name": "RCLONE_S3_PROVIDER", "value": "Other"},
                                        {"name": "RCLONE_S3_ENDPOINT", "value": "https://objects.cloud.example"},
                                        {"name": "RCLONE_S3_NO_CHECK_BUCKET", "value": "true"},
                                        {
                                            "name": "RCLONE_S3_ACCESS_KEY_ID",
                                            "valueFrom": {
                                                "secretKeyRef": {"name": "etcd-backup", "key": "access_key_id"}
                                            },
                                        },
                                        {
                                            "name": "RCLONE_S3_SECRET_ACCESS_KEY",
                                            "valueFrom": {
                                                "secretKeyRef": {"name": "etcd-backup", "key": "secret_access_key"}
                                            },
                                        },
                                    ],
                                    "volumeMounts": [
                                        {"name": "snapshots", "mountPath": "/snapshots", "readOnly": True}
                                    ],
                                }
                            ],
                            "volumes": [
                                {"name": "snapshots", "emptyDir": {}},
                                {
                                    "name": "certificates",
                                    "projected": {
                                        "sources": [
                                            {"secret": {"name": "acme-train-etcd-client", "items": authority}},
                                            {"secret": {"name": "acme-train-etcd-client", "items": tls}},
                                        ]
                                    },
                                },
                            ],
                        }
                    },
                }
            },
        },
    }


def test_a_shared_data_store_is_neither_saved_nor_watched_by_one_of_its_clusters(inputs_of: Any) -> None:
    found = {item.kind for item in shared(inputs_of).render()}

    assert found == {"Service", "ServiceMonitor", "PrometheusRule", "Metal3Cluster", "Cluster", "KamajiControlPlane"}


def test_the_programs_are_scraped_with_the_clusters_own_client_certificate(inputs_of: Any) -> None:
    [service], [monitor] = (of_kind(shared(inputs_of), kind) for kind in ("Service", "ServiceMonitor"))

    def endpoint(job: str, **trust: Any) -> dict[str, Any]:
        secret = "acme-train-api-server-kubelet-client-certificate"
        return {
            "port": job,
            "scheme": "https",
            "interval": "30s",
            "relabelings": [
                {"action": "replace", "targetLabel": "cluster", "replacement": "acme-train"},
                {"action": "replace", "targetLabel": "job", "replacement": job},
            ],
            "tlsConfig": {
                **trust,
                "cert": {"secret": {"name": secret, "key": "apiserver-kubelet-client.crt"}},
                "keySecret": {"name": secret, "key": "apiserver-kubelet-client.key"},
            },
        }

    ports = {"apiserver": 6443, "kube-controller-manager": 10257, "kube-scheduler": 10259}
    assert service.body["metadata"]["labels"] == {**LABELS, "jacquard.dev/metrics": "acme-train"}
    assert service.body["spec"] == {
        "clusterIP": "None",
        "selector": {"kamaji.clastix.io/name": "acme-train"},
        "ports": [{"name": name, "port": port, "targetPort": port} for name, port in ports.items()],
    }
    assert monitor.body["spec"] == {
        "selector": {"matchLabels": {"jacquard.dev/metrics": "acme-train"}},
        "endpoints": [
            endpoint(
                "apiserver",
                ca={"secret": {"name": "acme-train-ca", "key": "ca.crt"}},
                serverName="acme-train.acme-train.svc",
            ),
            endpoint("kube-controller-manager", insecureSkipVerify=True),
            endpoint("kube-scheduler", insecureSkipVerify=True),
        ],
    }


def test_alerts_name_cluster_and_tenant_and_are_about_etcd_only_where_it_is_watched(
    inputs_of: Any, inputs_with: Any
) -> None:
    [[api], [both]] = (
        of_kind(item, "PrometheusRule")[0].body["spec"]["groups"]
        for item in (shared(inputs_of), dedicated(inputs_with))
    )

    names = ["ControlPlaneDown", "ControlPlaneFails", "ControlPlaneSlow"]
    assert [rule["alert"] for rule in api["rules"]] == names
    assert [rule["alert"] for rule in both["rules"]] == [*names, "EtcdWithoutLeader", "EtcdNearlyFull"]
    assert api["rules"][0] == {
        "alert": "ControlPlaneDown",
        "expr": 'absent(up{job="apiserver",cluster="acme-train"} == 1)',
        "for": "10m",
        "labels": {"severity": "critical", "cluster": "acme-train", "tenant": "acme"},
        "annotations": {
            "summary": "No API server of the cluster answers: nodes and pods go on, nothing can be changed or repaired."
        },
    }
    for rule in both["rules"]:
        assert rule["labels"].keys() == {"severity", "cluster", "tenant"}
        assert rule["expr"].count('cluster="acme-train"') >= 1
