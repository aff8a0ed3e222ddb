"""Rules of a VPC's DPUs in a local region, edited in its configuration of HBN."""

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
    """Return a configuration of HBN whose permission for ``network`` is a denial."""
    head, found, tail = startup.partition(f'dest-ip: "{network}"')
    assert found, network
    return head + found + tail.replace("permit: {}", "deny: {}", 1)


def edit_rules(api: ApiServer, startup: str) -> None:
    """Replace the startup configuration of HBN by hand."""
    patch: dict[str, Any] = {}
    for key in reversed(_STARTUP):
        patch = {key: patch or startup}
    api.patch(RULES, patch, field_manager="somebody")
