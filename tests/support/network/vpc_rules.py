"""Rules of a VPC's DPUs in a local region, edited in its HBN configuration."""

from __future__ import annotations

from typing import Any

from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.kube.objects import dig

RULES = ObjectRef("svc.dpu.nvidia.com/v1alpha1", "DPUServiceConfiguration", "acme-hbn", "dpf-operator-system")
_STARTUP = ("spec", "serviceConfiguration", "helmChart", "values", "configuration", "startupYAMLJ2")
"""Path of the rules for hosts of acme."""


def rules_of_hosts(api: ApiServer) -> str:
    """Return the startup configuration of HBN, which contains the rules for hosts of acme."""
    return str(dig(api.get(RULES), *_STARTUP))


def denied(startup: str, network: str) -> str:
    """Return an HBN configuration with the permission for ``network`` replaced by a denial."""
    head, found, tail = startup.partition(f'dest-ip: "{network}"')
    assert found, network
    return head + found + tail.replace("permit: {}", "deny: {}", 1)


def edit_rules(api: ApiServer, startup: str) -> None:
    """Replace the startup configuration of HBN manually."""
    patch: dict[str, Any] = {}
    for key in reversed(_STARTUP):
        patch = {key: patch or startup}
    api.patch(RULES, patch, field_manager="somebody")
