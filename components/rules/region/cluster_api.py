"""Rules about releases of Cluster API and its providers: present for the region's backends, and compatible."""

from __future__ import annotations

from collections.abc import Iterator

from components.lookups.pools import DataPath, place, problem
from components.render.region.cluster_api import PROVIDERS, providers
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import REGION, VERSIONS
from components.specs.reading.problems import Problem
from components.specs.region.cluster_api import Release, numbers

PATH: DataPath = ("cluster_api",)
_FIRST = {"core": ("v1.11.0", "v1beta2"), "kamaji": ("v0.20.0", "v1alpha2")}
"""First release that serves the API version that is rendered."""
_WITHOUT_GRANT = "v0.20.0"
"""Last release of Kamaji's provider without permission for the kubeadm bootstrap to read its control planes."""
_GRANT_NEEDED = (1, 14)
"""First Cluster API whose kubeadm bootstrap reads the version of a control plane for each joining node."""


def releases(environment: Environment) -> Iterator[Problem]:
    """Report backends whose Cluster API provider has no release in the version vector."""
    needed = {provider.release: provider.role for provider in providers(environment.region)}
    for release, role in needed.items():
        if release not in _found(environment):
            concept = "bare_metal" if role == "infrastructure" else "control_planes"
            text = (
                f"requires a release of '{release}' in cluster_api ({place(environment, VERSIONS, PATH)}); add it there"
            )
            yield problem(environment, REGION, (concept, "backend"), text)


def source(environment: Environment) -> Iterator[Problem]:
    """Report a registry of releases that is unused because an artefact contains the releases."""
    versions = environment.versions
    for index, one in enumerate(versions.manifests):
        if one.name == PROVIDERS and versions.cluster_api.registry:
            there = place(environment, VERSIONS, ("manifests", index))
            text = (
                f"is unused, because '{PROVIDERS}' contains the releases; remove '{PROVIDERS}' from {there}, or remove"
                " this"
            )
            yield problem(environment, VERSIONS, (*PATH, "registry"), text)


def fit(environment: Environment) -> Iterator[Problem]:
    """Report releases of Cluster API and of the region's providers that are incompatible with each other or with us."""
    found = _found(environment)
    core, minor = found["core"], numbers(found["core"])[:2]
    for name, (first, version) in _FIRST.items():
        if name in found and numbers(found[name]) < numbers(first):
            text = f"{found[name]} does not serve {version}, which Jacquard renders; write {first} or later"
            yield problem(environment, VERSIONS, (*PATH, name), text)
    if "kamaji" in found and minor >= _GRANT_NEEDED and numbers(found["kamaji"]) <= numbers(_WITHOUT_GRANT):
        text = (
            f"nodes cannot join under {core} with kamaji {found['kamaji']}, whose role does not let the kubeadm"
            " bootstrap read control planes (cluster-api-control-plane-provider-kamaji#392); write a release of v1.13,"
            f" or a later one of kamaji ({place(environment, VERSIONS, (*PATH, 'kamaji'))})"
        )
        yield problem(environment, VERSIONS, (*PATH, "core"), text)
    if "metal3" in found and numbers(found["metal3"])[:2] != minor:
        there = place(environment, VERSIONS, (*PATH, "core"))
        text = (
            f"{found['metal3']} requires the same minor of Cluster API, but core is {core} ({there}); write two of one"
            " minor"
        )
        yield problem(environment, VERSIONS, (*PATH, "metal3"), text)


def _found(environment: Environment) -> dict[str, Release]:
    """Return the releases that the region requires and the version vector has, by their keys there."""
    needed = {provider.release for provider in providers(environment.region)}
    return {name: one for name, one in environment.versions.cluster_api.releases.items() if name in needed}


RULES = Rules(data=(releases, source, fit))
