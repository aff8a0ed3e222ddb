"""Node templates, revision 1. Frozen: a change of one byte here would roll nodes when the library is upgraded.

What must change goes into a new revision beside this one; a rollout group takes it when it rolls anyway.
"""

from __future__ import annotations

from typing import Any

from components.render.node_templates import NodeTemplates, TemplateIntent


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of both templates of a rollout group."""
    return NodeTemplates(machine=_machine(intent), bootstrap=_bootstrap(intent))


def _machine(intent: TemplateIntent) -> dict[str, Any]:
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


def _bootstrap(intent: TemplateIntent) -> dict[str, Any]:
    labels = f"metal3.io/uuid={{{{ ds.meta_data.uuid }}}},node.jacquard.dev/image={intent.image_version}"
    registration: dict[str, Any] = {
        "name": "{{ ds.meta_data.name }}",
        "kubeletExtraArgs": [{"name": "node-labels", "value": labels}],
    }
    if intent.taints:
        registration["taints"] = [_taint(*taint) for taint in intent.taints]
    return {"template": {"spec": {"joinConfiguration": {"nodeRegistration": registration}}}}


def _taint(key: str, value: str, effect: str) -> dict[str, str]:
    return {"key": key, **({"value": value} if value else {}), "effect": effect}
