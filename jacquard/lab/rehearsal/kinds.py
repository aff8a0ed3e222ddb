"""Kinds of the region's operators, for which permissive stand-in CRDs are generated.

One row for each group and version. ``!`` after a kind: cluster-scoped; ``-``: no status subresource. Kinds whose
published schemas are part of the Go modules (Cluster API core and kubeadm bootstrap, the Kamaji control-plane provider,
the bare-metal operator) are not listed.
"""

from dataclasses import dataclass

from jacquard.lab.rehearsal.region import MANAGEMENT

CONTRACT = "cluster.x-k8s.io/v1beta2"
"""Label by which Cluster API selects the version of a provider's kind; the value is the version."""
FORMER_CONTRACT = "cluster.x-k8s.io/v1beta1"
"""Label of kinds whose providers implement the previous contract, with ``status.ready``."""
FORMER_KINDS = frozenset({"IroncoreMetalCluster", "IroncoreMetalMachine", "IroncoreMetalMachineTemplate"})
"""Kinds of the previous contract: IronCore's provider (0.2.0) has only this status, although its release declares the
new contract."""
CONTRACT_GROUPS = ("infrastructure.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io")

_FLUX = {
    "source.toolkit.fluxcd.io/v1": "Bucket ExternalArtifact GitRepository HelmChart HelmRepository OCIRepository",
    "helm.toolkit.fluxcd.io/v2": "HelmRelease",
    "kustomize.toolkit.fluxcd.io/v1": "Kustomization",
}
_METALLB = {
    "metallb.io/v1beta1": "BFDProfile BGPAdvertisement Community ConfigurationState IPAddressPool L2Advertisement"
    " ServiceBGPStatus ServiceL2Status",
    "metallb.io/v1beta2": "BGPPeer",
}
_EVERYWHERE = {
    "cert-manager.io/v1": "Certificate CertificateRequest ClusterIssuer! Issuer",
    "monitoring.coreos.com/v1": "PodMonitor PrometheusRule ServiceMonitor",
    "nfd.k8s-sigs.io/v1alpha1": "NodeFeature- NodeFeatureGroup NodeFeatureRule!-",
    "k8s.cni.cncf.io/v1": "NetworkAttachmentDefinition-",
    **_METALLB,
}
_MANAGEMENT = {
    "infrastructure.cluster.x-k8s.io/v1beta2": "Metal3Cluster Metal3ClusterTemplate- Metal3Data Metal3DataClaim"
    " Metal3DataTemplate Metal3Machine Metal3MachineTemplate- Metal3Remediation Metal3RemediationTemplate",
    "ipam.metal3.io/v1alpha1": "IPAddress- IPClaim IPPool",
    "kamaji.clastix.io/v1alpha1": "DataStore! KubeconfigGenerator! TenantControlPlane",
    "operator.dpu.nvidia.com/v1alpha1": "DPFOperatorConfig",
    "provisioning.dpu.nvidia.com/v1alpha1": "BFB BlueFieldSoftware DPU DPUCluster DPUDevice DPUDiscovery DPUFlavor-"
    " DPUNode DPUNodeMaintenance DPUSet",
    "svc.dpu.nvidia.com/v1alpha1": "DPUDeployment DPUService DPUServiceChain DPUServiceConfiguration"
    " DPUServiceCredentialRequest DPUServiceIPAM DPUServiceInterface DPUServiceNAD DPUServiceTemplate ServiceChain"
    " ServiceChainSet ServiceInterface ServiceInterfaceSet",
    "vpc.dpu.nvidia.com/v1alpha1": "DPUVPC DPUVirtualNetwork IsolationClass!",
    "operator.cluster.x-k8s.io/v1alpha2": "BootstrapProvider ControlPlaneProvider CoreProvider InfrastructureProvider"
    " IPAMProvider",
    "ironic.metal3.io/v1alpha1": "Ironic",
    "controlplane.cluster.x-k8s.io/v1beta2": "K0smotronControlPlane",
    "bootstrap.cluster.x-k8s.io/v1beta2": "K0sWorkerConfig K0sWorkerConfigTemplate",
    "infrastructure.cluster.x-k8s.io/v1alpha1": "IroncoreMetalCluster IroncoreMetalMachine"
    " IroncoreMetalMachineTemplate-",
    "metal.ironcore.dev/v1alpha1": "BMC! BMCSecret! Server! ServerBootConfiguration ServerClaim",
    "operator.victoriametrics.com/v1": "VLCluster",
    "operator.victoriametrics.com/v1beta1": "VMAlert VMAuth VMCluster VMRule VMUser",
    "externaldns.k8s.io/v1alpha1": "DNSEndpoint",
    "external-secrets.io/v1": "ClusterExternalSecret! ClusterSecretStore! ExternalSecret SecretStore",
    "external-secrets.io/v1alpha1": "ClusterPushSecret! PushSecret",
    "pulumi.com/v1": "Stack",
    "auto.pulumi.com/v1alpha1": "Workspace",
    "seaweed.seaweedfs.com/v1": "Bucket BucketLifecyclePolicy S3Credentials S3Identity Seaweed",
    **_FLUX,
    **_EVERYWHERE,
}
_HOSTED = {
    "kubevirt.io/v1": "KubeVirt VirtualMachine VirtualMachineInstance- VirtualMachineInstanceMigration"
    " VirtualMachineInstanceReplicaSet",
    "instancetype.kubevirt.io/v1beta1": "VirtualMachineClusterInstancetype!- VirtualMachineClusterPreference!-"
    " VirtualMachineInstancetype- VirtualMachinePreference-",
    "pool.kubevirt.io/v1beta1": "VirtualMachinePool",
    "snapshot.kubevirt.io/v1beta1": "VirtualMachineRestore VirtualMachineSnapshot",
    "migrations.kubevirt.io/v1alpha1": "MigrationPolicy!",
    "cdi.kubevirt.io/v1beta1": "CDI!- CDIConfig!- DataImportCron- DataSource- DataVolume StorageProfile!",
    "snapshot.storage.k8s.io/v1": "VolumeSnapshot VolumeSnapshotClass!- VolumeSnapshotContent!",
    "nvidia.com/v1": "ClusterPolicy!",
    "nvidia.com/v1alpha1": "GPUCluster! NVIDIADriver!",
    "mellanox.com/v1alpha1": "HostDeviceNetwork! IPoIBNetwork! MacvlanNetwork! NicClusterPolicy! NicNodePolicy!",
    "nv-ipam.nvidia.com/v1alpha1": "IPPool",
    "sriovnetwork.openshift.io/v1": "SriovIBNetwork SriovNetworkNodePolicy SriovOperatorConfig",
    "readiness.node.x-k8s.io/v1alpha1": "NodeReadinessRule!",
    "remediation.medik8s.io/v1alpha1": "NodeHealthCheck!",
    "nodemaintenance.medik8s.io/v1beta1": "NodeMaintenance!",
    "kubeovn.io/v1": "IPPool! Subnet! Vpc!",
    "source.toolkit.fluxcd.io/v1": "GitRepository",
    "kustomize.toolkit.fluxcd.io/v1": "Kustomization",
    **_EVERYWHERE,
}
_PLURALS = {"NetworkAttachmentDefinition": "network-attachment-definitions"}
VALIDATIONS = {
    "Stack": {"rule": "size(self.metadata.name) <= 42", "message": "metadata.name: must have at most 42 characters"},
}
"""Rules of published CRDs that the stand-ins of these kinds keep, in CEL."""


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """A custom kind as registered at the API server."""

    group: str
    version: str
    kind: str
    cluster_scoped: bool = False
    status: bool = True

    @property
    def plural(self) -> str:
        """Return the plural name of the kind in API paths."""
        lower = self.kind.lower()
        if self.kind in _PLURALS:
            return _PLURALS[self.kind]
        if lower.endswith(("s", "x", "ch")):
            return f"{lower}es"
        if lower.endswith("y") and lower[-2] not in "aeiou":
            return f"{lower[:-1]}ies"
        return f"{lower}s"


def stand_ins(cluster: str) -> list[Kind]:
    """Return the kinds whose controllers are simulated, in the management cluster or in a hosted cluster."""
    table = _MANAGEMENT if cluster == MANAGEMENT else _HOSTED
    return [_kind(group_version, name) for group_version, names in table.items() for name in names.split()]


def _kind(group_version: str, name: str) -> Kind:
    group, _, version = group_version.partition("/")
    return Kind(group, version, name.rstrip("!-"), cluster_scoped="!" in name, status="-" not in name)
