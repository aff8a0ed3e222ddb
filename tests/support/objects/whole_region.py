"""Objects of a region that contains all prerequisites of every simulated controller."""

from __future__ import annotations

import copy
from typing import Any

from jacquard.lab.rehearsal.operators import control_planes, data_stores, external_secrets
from jacquard.lab.rehearsal.operators.hosts import bare_metal, claims, ironcore, node_data
from jacquard.lab.rehearsal.operators.releases import installed
from jacquard.lab.rehearsal.operators.view import simulated_secret
from tests.support.objects.live_objects import obj

NS = "acme"
"""Namespace of all namespaced objects."""
_CAPI = "cluster.x-k8s.io/v1beta2"
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
OWNED = {"ownerReferences": [{"kind": "Cluster", "name": "acme"}], "labels": {"cluster.x-k8s.io/cluster-name": "acme"}}
OF_MACHINE = {**OWNED, "ownerReferences": [{"kind": "Machine", "name": "m1"}]}
KEY = {"secretReference": {"name": "etcd", "namespace": NS, "keyPath": "tls.crt"}}
WORKER = "bootstrap.cluster.x-k8s.io/v1beta2"
COPIED = {
    "secretStoreRef": {"kind": "ClusterSecretStore", "name": "vault"},
    "target": {"name": "copied"},
    "data": [{"secretKey": "password"}],
}
REACHED = {"authRef": {"name": "acme-kubeconfig"}, "remoteNamespace": "csi"}
PUSHED = {
    "secretStoreRefs": [{"kind": "SecretStore", "name": "csi"}],
    "selector": {"secret": {"name": "copied"}},
    "data": [{"match": {"remoteRef": {"remoteKey": "login", "property": "password"}}}],
}
TOLD = {
    "metaData": {"ipAddressesFromPool": [{"key": "node_ip", "name": "links"}]},
    "networkData": {"links": {"ethernets": [{"id": "vpc", "macAddress": {"fromHostInterface": "port"}}]}},
}
ADDRESSES = {
    "pools": [{"start": "10.65.0.2", "end": "10.65.0.2", "prefix": 30, "gateway": "10.65.0.1"}],
    "preAllocations": {"free-links": "10.65.0.2"},
}
PORTS = {"hardware": {"nics": [{"name": "port"}]}, "provisioning": {"state": "available"}}


def whole_region() -> list[dict[str, Any]]:
    """Return a region in which every object can become ready, in one namespace."""
    chart = {"kind": "OCIRepository", "name": "chart", "namespace": NS}
    variables = {"WATCH_NAMESPACE": NS, "IRONIC_NAME": "ironic", "PROVISIONING_LIMIT": "1"}
    envs = [{"name": key, "value": value} for key, value in variables.items()]
    address = {"address": "redfish+https://10.1.0.1/redfish/v1/Systems/1", "credentialsName": "bmc"}
    tls = {"certificateName": "ironic-tls", "bmcCA": {"kind": "Secret", "name": "ca"}}
    issued = {"secretName": "ironic-tls", "issuerRef": {"kind": "Issuer", "name": "ironic"}}
    started = {"initialization": {"infrastructureProvisioned": True, "controlPlaneInitialized": True}}
    kine = {"storage": {"kine": {"dataSourceSecretName": "kine"}}}
    claimed = {"clusterName": "acme", "bootstrap": {"dataSecretName": "m1"}}
    return [
        obj(installed.SOURCE, "OCIRepository", "chart", {"url": "oci://x/baremetal-operator"}, NS),
        obj(installed.HELM, "HelmRelease", "bmo", {"chartRef": chart, "values": {"envs": envs}}, NS, **READY),
        obj("cert-manager.io/v1", "Issuer", "ironic", namespace=NS),
        obj("cert-manager.io/v1", "Certificate", "ironic", issued, NS),
        obj(*bare_metal.IRONIC, "ironic", {"tls": tls}, NS),
        obj(*bare_metal.HOST, "h1", {"bmc": address}, NS, status={"provisioning": {"state": "registering"}}),
        obj(*bare_metal.HOST, "free", {"bmc": address}, NS, status=copy.deepcopy(PORTS)),
        obj("kamaji.clastix.io/v1alpha1", "DataStore", "default", {"tlsConfig": {"ca": {"cert": KEY}}}, ""),
        obj(data_stores.DPF, "DPUCluster", "dpus", namespace=NS),
        obj(
            control_planes.API,
            "KamajiControlPlane",
            "acme",
            {"dataStoreName": "default", "version": "v1"},
            NS,
            metadata=OWNED,
        ),
        obj(*control_planes.K0SMOTRON, "acme", kine, NS, metadata=OWNED),
        obj(ironcore.API, "BMC", "b1", {"bmcSecretRef": {"name": "bmc"}}, "", status={"state": "Pending"}),
        obj(ironcore.API, "BMCSecret", "bmc", namespace="", data={"username": "x", "password": "x"}),
        obj(_CAPI, "Cluster", "acme", namespace=NS, status=started),
        obj(_CAPI, "Machine", "m1", claimed, NS),
        obj(WORKER, "KubeadmConfig", "m1", namespace=NS, metadata=OF_MACHINE),
        obj(claims.API, "Metal3DataTemplate", "data", TOLD, NS),
        obj(*node_data.POOL, "links", copy.deepcopy(ADDRESSES), NS),
        obj(claims.API, "Metal3Machine", "m1", {"dataTemplate": {"name": "data"}}, NS, metadata=OF_MACHINE),
        obj(external_secrets.API, "ClusterSecretStore", "vault", {"provider": {"fake": {"data": []}}}, ""),
        obj(external_secrets.API, "ExternalSecret", "copied", COPIED, NS),
        obj(external_secrets.API, "SecretStore", "csi", {"provider": {"kubernetes": REACHED}}, NS),
        obj(external_secrets.PUSH_API, "PushSecret", "pushed", PUSHED, NS),
        simulated_secret("bmc", NS, ("username", "password")),
        simulated_secret("acme-kubeconfig", NS, ("value",)),
        simulated_secret("ca", NS, ("ca.crt",)),
        simulated_secret("etcd", NS, ("tls.crt",)),
        simulated_secret("kine", NS, ("K0SMOTRON_KINE_DATASOURCE_URL",)),
    ]
