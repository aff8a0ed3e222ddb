"""Rules about releases of Cluster API and its providers: present for the region's backends, and compatible."""

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
"""First release of each provider that serves the rendered API version."""
_WITHOUT_GRANT = "v0.20.0"
"""Last release of Kamaji's provider whose role does not let the kubeadm bootstrap read control planes."""
_GRANT_NEEDED = (1, 14)
"""First Cluster API release whose kubeadm bootstrap reads the control plane's version for each joining node."""


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
    """Report a registry of releases that is unused because a provider artefact contains the releases."""
    versions = environment.versions
    for index, manifest in enumerate(versions.manifests):
        if manifest.name == PROVIDERS and versions.cluster_api.registry:
            there = place(environment, VERSIONS, ("manifests", index))
            text = (
                f"is unused, because '{PROVIDERS}' contains the releases; remove '{PROVIDERS}' from {there}, or remove"
                " this"
            )
            yield problem(environment, VERSIONS, (*PATH, "registry"), text)


def fit(environment: Environment) -> Iterator[Problem]:
    """Report releases of Cluster API and providers that are incompatible with each other or with Jacquard."""
    required = _found(environment)
    core, minor = required["core"], numbers(required["core"])[:2]
    for name, (first, version) in _FIRST.items():
        if name in required and numbers(required[name]) < numbers(first):
            text = f"{required[name]} does not serve {version}, which Jacquard renders; write {first} or later"
            yield problem(environment, VERSIONS, (*PATH, name), text)
    if "kamaji" in required and minor >= _GRANT_NEEDED and numbers(required["kamaji"]) <= numbers(_WITHOUT_GRANT):
        text = (
            f"nodes cannot join under {core} with kamaji {required['kamaji']}, whose role does not let the kubeadm"
            " bootstrap read control planes (cluster-api-control-plane-provider-kamaji#392); write a release of v1.13,"
            f" or a later release of kamaji ({place(environment, VERSIONS, (*PATH, 'kamaji'))})"
        )
        yield problem(environment, VERSIONS, (*PATH, "core"), text)
    if "metal3" in required and numbers(required["metal3"])[:2] != minor:
        there = place(environment, VERSIONS, (*PATH, "core"))
        text = (
            f"{required['metal3']} requires a Cluster API core of the same minor version, but core is {core} ({there});"
            " use releases of the same minor version for both"
        )
        yield problem(environment, VERSIONS, (*PATH, "metal3"), text)


def _found(environment: Environment) -> dict[str, Release]:
    """Return the required releases that the version vector declares, by key of the version vector."""
    needed = {provider.release for provider in providers(environment.region)}
    return {name: release for name, release in environment.versions.cluster_api.releases.items() if name in needed}


RULES = Rules(data=(releases, source, fit))
