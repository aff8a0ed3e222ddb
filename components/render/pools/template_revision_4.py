"""Node templates, revision 4: revision 3 with a registry mirror for image pulls of the node. Frozen.

If an intent has no mirror, the templates are byte-identical to those of revision 3.
"""

from __future__ import annotations

from typing import Any

from components.render.manifest import Json
from components.render.pools import template_revision_3
from components.render.pools.node_templates import NodeTemplates, TemplateIntent

HOSTS = "/etc/containerd/certs.d/_default/hosts.toml"
"""Mirror configuration of containerd for all registries, if its ``config_path`` is ``/etc/containerd/certs.d``
(docs/hosts.md of containerd). If the mirror does not respond, containerd pulls from the registry itself."""


def build(intent: TemplateIntent) -> NodeTemplates:
    """Return the specs of both templates of a rollout group."""
    before = template_revision_3.build(intent)
    if intent.mirror is None:
        return before
    return NodeTemplates(machine=before.machine, bootstrap=_pulling(before.bootstrap, intent.mirror))


def _pulling(bootstrap: Json, mirror: str) -> Json:
    spec = bootstrap["template"]["spec"]
    file: dict[str, Any] = {"path": HOSTS, "permissions": "0644", "content": hosts(mirror)}
    return {"template": {"spec": {**spec, "files": [*spec.get("files", []), file]}}}


def hosts(mirror: str) -> str:
    """Return the ``hosts.toml`` of containerd with ``mirror``, for resolving tags and pulling content."""
    return f'[host."https://{mirror}"]\n  capabilities = ["pull", "resolve"]\n'
