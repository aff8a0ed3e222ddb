"""Customization of a provider's published Deployment, as by the Cluster API operator (component_customizer.go)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from jacquard.lab.rehearsal.operators.view import Object
from jacquard.providers.kube.objects import dig

FILE = Path(__file__).parents[2] / "provider_manifests.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderManifest:
    """Controller in the published components of one release."""

    provider: str
    """Name of the provider in clusterctl, such as ``infrastructure-metal3``."""
    version: str
    source: str
    """Upstream files with the Deployment, ``repository:path``."""
    container: str
    arguments: tuple[str, ...]
    """Arguments of the container, with the defaults of all variables."""


@cache
def recorded() -> Mapping[tuple[str, str], ProviderManifest]:
    """Return the recorded releases, by provider and version."""
    entries = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    manifests = (ProviderManifest(**{**entry, "arguments": tuple(entry["arguments"])}) for entry in entries)
    return {(manifest.provider, manifest.version): manifest for manifest in manifests}


def refusals(provider: str, spec: Object) -> Iterator[str]:
    """Yield the operator's errors for ``spec`` of a provider object. A release that is not recorded has no errors."""
    manifest = recorded().get((provider, spec.get("version", "")))
    if manifest is None:
        return
    for container in dig(spec, "deployment", "containers") or ():
        if container["name"] != manifest.container:
            yield f'cannot find container "{container["name"]}" in deployment'
    for name in dig(spec, "manager", "additionalArgs") or ():
        if any(argument.startswith(f"{name}=") for argument in manifest.arguments):
            yield f'failed to customize manager container: arg "{name}" already exists'
