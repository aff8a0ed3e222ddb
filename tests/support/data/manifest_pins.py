"""Version vectors with other delivery than the catalogue: operators by charts, Cluster API by tags."""

from __future__ import annotations

from components.render.region.cluster_api import PROVIDERS
from components.specs.environment import Environment
from components.specs.region.versions import Chart, VersionVector

REGISTRY = "registry.cloud.example/cluster-api"


def by_charts(environment: Environment, *, handed_over: bool = False) -> Environment:
    """Return ``environment`` with all operators by charts; their manifests still exist while ``handed_over``."""
    versions = environment.versions
    made = tuple(
        Chart(name=one.name, url=one.url, version=one.version, digest=one.digest, made_from=one.made_from)
        for one in versions.manifests
        if one.name != PROVIDERS
    )
    kept = tuple(one for one in versions.manifests if handed_over or one.name == PROVIDERS)
    return _with(environment, charts=(*versions.charts, *made), manifests=kept)


def cluster_api_by_tag(environment: Environment, registry: str | None = REGISTRY) -> Environment:
    """Return ``environment`` with Cluster API by tag: from a registry, or from upstream's releases without one."""
    versions = environment.versions
    others = tuple(one for one in versions.manifests if one.name != PROVIDERS)
    return _with(
        environment, manifests=others, cluster_api=versions.cluster_api.model_copy(update={"registry": registry})
    )


def _with(environment: Environment, **changed: object) -> Environment:
    versions: VersionVector = environment.versions.model_copy(update=changed)
    return environment.model_copy(update={"versions": versions})
