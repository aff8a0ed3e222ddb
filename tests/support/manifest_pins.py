"""Version vectors that deliver otherwise than the catalogue: operators by manifests, Cluster API by tags."""

from __future__ import annotations

from components.render.cluster_api import PROVIDERS
from components.specs.environment import Environment
from components.specs.versions import ManifestArtefact, VersionVector

OPERATORS = ("ironic-standalone-operator", "ironcore-metal", "kubevirt-operator", "cdi-operator")
"""Operators that upstream publishes as manifests alone, and that need no values."""
REGISTRY = "registry.cloud.example/cluster-api"


def by_manifests(environment: Environment, *, handed_over: bool = False) -> Environment:
    """Return ``environment`` with these operators by manifests; their charts are there still while ``handed_over``."""
    versions = environment.versions
    taken = tuple(
        ManifestArtefact(
            name=chart.name, url=chart.url, version=chart.version, digest=chart.digest, made_from=chart.made_from or ""
        )
        for chart in versions.charts
        if chart.name in OPERATORS
    )
    charts = tuple(chart for chart in versions.charts if handed_over or chart.name not in OPERATORS)
    return _with(environment, charts=charts, manifests=(*versions.manifests, *taken))


def cluster_api_by_tag(environment: Environment, registry: str | None = REGISTRY) -> Environment:
    """Return ``environment`` with Cluster API from a registry by tag; without one, from where upstream publishes it."""
    versions = environment.versions
    others = tuple(one for one in versions.manifests if one.name != PROVIDERS)
    return _with(
        environment, manifests=others, cluster_api=versions.cluster_api.model_copy(update={"registry": registry})
    )


def _with(environment: Environment, **changed: object) -> Environment:
    versions: VersionVector = environment.versions.model_copy(update=changed)
    return environment.model_copy(update={"versions": versions})
