"""Node templates, revision 4: revision 3, and the registry that containers of the node are pulled through. Frozen too.

Where no registry is asked for, the templates are those of revision 3 byte by byte.
"""

from __future__ import annotations

from typing import Any

from components.render.manifest import Json
from components.render.pools import template_revision_3
from components.render.pools.node_templates import NodeTemplates, TemplateIntent

HOSTS = "/etc/containerd/certs.d/_default/hosts.toml"
"""What containerd asks for any registry, where its ``config_path`` is ``/etc/containerd/certs.d`` (docs/hosts.md of
containerd). It goes to the registry itself when this one does not answer."""


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
    """Return the hosts that containerd asks: ``mirror``, for tags and for content."""
    return f'[host."https://{mirror}"]\n  capabilities = ["pull", "resolve"]\n'
