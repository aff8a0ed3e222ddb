"""Node templates, revision 1. Frozen: any change of the output would roll nodes when the library is upgraded.

Changes require a new revision; a rollout group uses it from its next rollout.
"""

from __future__ import annotations

from typing import Any

from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.region import ControlPlaneBackend

INTENT = (
    "control_plane",
    "bare_metal",
    "cluster",
    "pool",
    "failure_domain",
    "image_version",
    "image_url",
    "image_sha256",
    "taints",
)
"""Fields of the intent that this revision uses."""
_HOSTNAME = "$${METAL_HOSTNAME}"
"""Placeholder that IronCore's provider replaces by the Machine's name, in this spelling, after Ignition encoding."""


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of both templates of a rollout group."""
    return NodeTemplates(
        machine=_MACHINES[intent.bare_metal](intent),
        bootstrap={"template": {"spec": _BOOTSTRAPS[intent.control_plane, intent.bare_metal](intent)}},
    )


def _metal3_machine(intent: TemplateIntent) -> dict[str, Any]:
    return {
        "nodeReuse": True,
        "template": {
            "spec": {
                "image": {
                    "url": intent.image_url,
                    "checksum": intent.image_sha256,
                    "checksumType": "sha256",
                    "diskFormat": "raw",
                },
                "hostSelector": {
                    "matchLabels": {
                        "jacquard.dev/failure-domain": intent.failure_domain,
                        "jacquard.dev/pool": intent.pool,
                    }
                },
                "automatedCleaningMode": "metadata",
            }
        },
    }


def _ironcore_machine(intent: TemplateIntent) -> dict[str, Any]:
    # Netboot images are in an OCI registry: the URL is that of the repository, the digest that of the manifest.
    repository = intent.image_url.removeprefix("https://")
    return {
        "template": {
            "spec": {
                "image": f"{repository}@sha256:{intent.image_sha256}",
                # Servers are cluster-scoped: without the cluster label, pools of the same name could claim them.
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


def _kubeadm_by_config_drive(intent: TemplateIntent) -> dict[str, Any]:
    labels = f"metal3.io/uuid={{{{ ds.meta_data.uuid }}}},{_image_label(intent)}"
    return _join(intent, "{{ ds.meta_data.name }}", [{"name": "node-labels", "value": labels}])


def _kubeadm_by_ignition(intent: TemplateIntent) -> dict[str, Any]:
    arguments = [
        {"name": "node-labels", "value": _image_label(intent)},
        # Not set by any other component; Cluster API finds the node of a Machine by its provider ID.
        {"name": "provider-id", "value": f"metal://{intent.cluster}/{_HOSTNAME}"},
    ]
    return {
        "format": "ignition",
        "preKubeadmCommands": [f"hostnamectl set-hostname {_HOSTNAME}"],
        **_join(intent, _HOSTNAME, arguments),
    }


def _join(intent: TemplateIntent, name: str, arguments: list[dict[str, str]]) -> dict[str, Any]:
    registration: dict[str, Any] = {"name": name, "kubeletExtraArgs": arguments}
    if intent.taints:
        registration["taints"] = [_taint(*taint) for taint in intent.taints]
    return {"joinConfiguration": {"nodeRegistration": registration}}


def _taint(key: str, value: str, effect: str) -> dict[str, str]:
    return {"key": key, **({"value": value} if value else {}), "effect": effect}


def _k0s_by_config_drive(intent: TemplateIntent) -> dict[str, Any]:
    return _k0s(intent, {"type": "cloud-config"})


def _k0s_by_ignition(intent: TemplateIntent) -> dict[str, Any]:
    return _k0s(intent, {"type": "ignition", "ignition": {"variant": "flatcar", "version": "1.1.0"}})


def _k0s(intent: TemplateIntent, provisioner: dict[str, Any]) -> dict[str, Any]:
    # k0smotron sets the name of the node to that of its Machine, and sets the provider ID.
    arguments = [f"--labels={_image_label(intent)}"]
    if intent.taints:
        arguments.append(f"--taints={','.join(f'{key}={value}:{effect}' for key, value, effect in intent.taints)}")
    return {"preInstalledK0s": True, "args": arguments, "provisioner": provisioner}


def _image_label(intent: TemplateIntent) -> str:
    return f"node.jacquard.dev/image={intent.image_version}"


_MACHINES = {
    BareMetalBackend.METAL3: _metal3_machine,
    BareMetalBackend.IRONCORE_METAL: _ironcore_machine,
}
_BOOTSTRAPS = {
    (ControlPlaneBackend.KAMAJI, BareMetalBackend.METAL3): _kubeadm_by_config_drive,
    (ControlPlaneBackend.KAMAJI, BareMetalBackend.IRONCORE_METAL): _kubeadm_by_ignition,
    (ControlPlaneBackend.K0SMOTRON, BareMetalBackend.METAL3): _k0s_by_config_drive,
    (ControlPlaneBackend.K0SMOTRON, BareMetalBackend.IRONCORE_METAL): _k0s_by_ignition,
}
"""Bootstrap templates by backend: the control-plane backend determines the kind, the bare-metal backend the format."""
