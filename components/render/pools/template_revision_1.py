"""Node templates, revision 1. The output is frozen: any change would replace nodes after an upgrade of the library.

Changes require a new revision, which a rollout group uses from its next rollout.

With Metal3, the config drive of a node contains the VPC address of its host (from the address pool), the gateway and
the name servers. Cloud-init configures the DPU port before any other service starts. No other port is configured, so
that a node has no address in the boot network of its host. The kubelet gets the same address as an argument, instead of
detecting an address.
"""

import json
from collections.abc import Callable, Iterator, Mapping

from components.render.manifest import Json
from components.render.network.vpc import ANYWHERE
from components.render.objects import given
from components.render.pools.node_templates import (
    NODE_IP,
    NodeTemplates,
    TemplateIntent,
    address_pool_name,
    data_template_name,
    kubelet_settings,
    time_slicing,
    worker_profile,
)
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.network.node_addresses import NodeNetwork
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend

_HOSTNAME = "$${METAL_HOSTNAME}"
"""Placeholder in Ignition-encoded form, which IronCore's provider replaces with the name of the Machine."""
_MIRRORS = "/etc/containerd/certs.d/_default/hosts.toml"
"""Mirror configuration of containerd for all registries, if its ``config_path`` is ``/etc/containerd/certs.d``
(docs/hosts.md of containerd). If the mirror does not respond, containerd pulls directly from the registry."""
_PATCHES = "/etc/kubernetes/patches"
_KUBELET_PATCH = f"{_PATCHES}/kubeletconfiguration0+merge.json"
"""File name that ``kubeadm join`` recognises as a merge patch of the kubelet's configuration (kubernetes#110405)."""
_MAX_MTU = 9000
"""Maximum MTU in the schema of the data template, in bytes."""
_PORT = "vpc"


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of the templates of a rollout group."""
    data = None if intent.network is None else _data(intent, intent.network)
    return NodeTemplates(
        machine=_MACHINES[intent.bare_metal](intent, data),
        bootstrap={"template": {"spec": _BOOTSTRAPS[intent.control_plane, intent.bare_metal](intent)}},
        data=data,
    )


def _metal3_machine(intent: TemplateIntent, data: Json | None) -> Json:
    return {
        # Metal3 reads this field in the template of the old machine when a host is reused.
        "nodeReuse": True,
        "template": {
            "spec": {
                "image": {
                    "url": intent.image_url,
                    # Metal3 does not verify an ISO. The digest is included so that another build changes the template;
                    # policies read the digest.
                    "checksum": intent.image_sha256,
                    "checksumType": "sha256",
                    "diskFormat": "live-iso" if intent.boot is BootMode.LIVE_ISO else "raw",
                },
                "hostSelector": {
                    "matchLabels": {
                        "jacquard.dev/failure-domain": intent.failure_domain,
                        "jacquard.dev/pool": intent.pool,
                    }
                },
                "automatedCleaningMode": "metadata",
                **given(dataTemplate=data and {"name": data_template_name(intent.cluster, intent.pool, data)}),
            }
        },
    }


def _ironcore_machine(intent: TemplateIntent, data: Json | None) -> Json:  # noqa: ARG001 - IronCore has no such data
    # Network boot images are in an OCI registry: the URL of the repository and the digest of the manifest.
    repository = intent.image_url.removeprefix("https://")
    return {
        "template": {
            "spec": {
                "image": f"{repository}@sha256:{intent.image_sha256}",
                # Without the cluster label, pools of other clusters with the same name could claim these cluster-scoped
                # servers.
                "serverSelector": {
                    "matchLabels": {
                        "jacquard.dev/cluster": intent.cluster,
                        "jacquard.dev/failure-domain": intent.failure_domain,
                        "jacquard.dev/pool": intent.pool,
                    }
                },
            }
        }
    }


def _data(intent: TemplateIntent, network: NodeNetwork) -> Json:
    addresses = address_pool_name(intent.cluster, intent.pool)
    everywhere = {
        "network": str(ANYWHERE.network_address),
        "prefix": ANYWHERE.prefixlen,
        "gateway": {"fromIPPool": addresses},
    }
    link = {
        "id": _PORT,
        "type": "phy",
        "mtu": min(network.mtu_bytes, _MAX_MTU),
        "macAddress": {"fromHostInterface": network.interface},
    }
    return {
        "clusterName": intent.cluster,
        "metaData": {"ipAddressesFromPool": [{"key": NODE_IP, "name": addresses}]},
        "networkData": {
            "links": {"ethernets": [link]},
            "networks": {
                "ipv4": [{"id": _PORT, "link": _PORT, "ipAddressFromIPPool": addresses, "routes": [everywhere]}],
            },
            "services": {"dns": [str(server) for server in network.dns]},
        },
    }


def _kubeadm_by_config_drive(intent: TemplateIntent) -> Json:
    labels = ",".join(["metal3.io/uuid={{ ds.meta_data.uuid }}", *_labels(intent)])
    arguments = [{"name": "node-labels", "value": labels}]
    clocks: Json = {}
    if intent.network is not None:
        arguments.append({"name": "node-ip", "value": f"{{{{ ds.meta_data.{NODE_IP} }}}}"})
        clocks = given(ntp=intent.network.ntp and _clocks(intent.network))
    return {**clocks, **_kubeadm(intent, "{{ ds.meta_data.name }}", arguments)}


def _kubeadm_by_ignition(intent: TemplateIntent) -> Json:
    arguments = [
        {"name": "node-labels", "value": ",".join(_labels(intent))},
        # Cluster API finds the node of a Machine by its provider ID, which no other component sets.
        {"name": "provider-id", "value": f"metal://{intent.cluster}/{_HOSTNAME}"},
    ]
    return {
        "format": "ignition",
        "preKubeadmCommands": [f"hostnamectl set-hostname {_HOSTNAME}"],
        **_kubeadm(intent, _HOSTNAME, arguments),
    }


def _kubeadm(intent: TemplateIntent, name: str, arguments: list[dict[str, str]]) -> Json:
    patch = json.dumps(kubelet_settings(intent.kubelet_configuration, intent.max_pods), sort_keys=True)
    registration = {
        "name": name,
        "kubeletExtraArgs": arguments,
        **given(taints=[_taint(*taint) for taint in intent.taints]),
    }
    return {
        "files": [
            {"path": _KUBELET_PATCH, "owner": "root:root", "permissions": "0644", "content": patch},
            *_mirror_files(intent),
        ],
        "joinConfiguration": {"nodeRegistration": registration, "patches": {"directory": _PATCHES}},
    }


def _k0s_by_config_drive(intent: TemplateIntent) -> Json:
    return _k0s(intent, {"type": "cloud-config"})


def _k0s_by_ignition(intent: TemplateIntent) -> Json:
    return _k0s(intent, {"type": "ignition", "ignition": {"variant": "flatcar", "version": "1.1.0"}})


def _k0s(intent: TemplateIntent, provisioner: Json) -> Json:
    # k0smotron sets the provider ID, and uses the name of the Machine for the node.
    arguments = [f"--labels={','.join(_labels(intent))}"]
    if intent.taints:
        arguments.append(f"--taints={','.join(f'{key}={value}:{effect}' for key, value, effect in intent.taints)}")
    arguments.append(f"--profile={worker_profile(kubelet_settings(intent.kubelet_configuration, intent.max_pods))}")
    if intent.dual_stack:
        # A k0s worker of a dual-stack cluster resolves its host name, and exits unless it finds an address of each
        # family or the kubelet has an explicit node IP (K0S:pkg/component/worker/kubelet.go). Hosts have IPv4 addresses
        # only. With 0.0.0.0 the kubelet detects its IPv4 address (K8S:pkg/kubelet/nodestatus/setters.go), the same as
        # in any other cluster. A kubelet that joins with kubeadm does not require a second address.
        arguments.append("--kubelet-extra-args=--node-ip=0.0.0.0")
    return {
        "preInstalledK0s": True,
        "args": arguments,
        "provisioner": provisioner,
        **given(files=[*_mirror_files(intent)]),
    }


def _labels(intent: TemplateIntent) -> list[str]:
    return [f"node.jacquard.dev/image={intent.image_version}", *_sharing_labels(intent)]


def _sharing_labels(intent: TemplateIntent) -> Iterator[str]:
    """Yield the label that NVIDIA's MIG manager or device plugin reads.

    The kubelet registers with this label, so that GPUs are partitioned before pods use GPUs. The setting of a node
    never changes, because GPUs can be partitioned again only while no process uses GPUs. Kubelets may write labels of
    ``nvidia.com``. Sources: MIGP:cmd/nvidia-mig-manager, NVDP:cmd/config-manager.
    """
    sharing = intent.gpu_sharing
    if sharing is None:
        return
    if sharing.time_slices is not None:
        yield f"nvidia.com/device-plugin.config={time_slicing(sharing.time_slices)}"
    else:
        # This is the MIG manager's name of the layout with one profile on all GPUs (MIGP:pkg/mig/builder/builder.go).
        yield f"nvidia.com/mig.config=all-{sharing.mig}"


def _mirror_files(intent: TemplateIntent) -> Iterator[Json]:
    """Yield the configuration with which containerd resolves tags and pulls content through the mirror."""
    if intent.mirror is not None:
        content = f'[host."https://{intent.mirror}"]\n  capabilities = ["pull", "resolve"]\n'
        yield {"path": _MIRRORS, "permissions": "0644", "content": content}


def _clocks(network: NodeNetwork) -> Json:
    return {"enabled": True, "servers": [str(clock) for clock in network.ntp]}


def _taint(key: str, value: str, effect: str) -> dict[str, str]:
    return {"key": key, **({"value": value} if value else {}), "effect": effect}


_MACHINES: Mapping[BareMetalBackend, Callable[[TemplateIntent, Json | None], Json]] = {
    BareMetalBackend.METAL3: _metal3_machine,
    BareMetalBackend.IRONCORE_METAL: _ironcore_machine,
}
_BOOTSTRAPS: Mapping[tuple[ControlPlaneBackend, BareMetalBackend], Callable[[TemplateIntent], Json]] = {
    (ControlPlaneBackend.KAMAJI, BareMetalBackend.METAL3): _kubeadm_by_config_drive,
    (ControlPlaneBackend.KAMAJI, BareMetalBackend.IRONCORE_METAL): _kubeadm_by_ignition,
    (ControlPlaneBackend.K0SMOTRON, BareMetalBackend.METAL3): _k0s_by_config_drive,
    (ControlPlaneBackend.K0SMOTRON, BareMetalBackend.IRONCORE_METAL): _k0s_by_ignition,
}
