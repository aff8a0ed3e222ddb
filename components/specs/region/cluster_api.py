"""Releases of Cluster API and its providers: part of the version vector, since they go with each other only."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from components.specs.base import Registry, Spec

RELEASE = r"^v[0-9]+\.[0-9]+\.[0-9]+(-[-.a-z0-9]+)?$"
Release = Annotated[str, StringConstraints(pattern=RELEASE)]
"""Tag of a release, such as ``v1.13.5``."""


class ClusterApiSpec(Spec):
    """What the Cluster API operator installs; a region needs ``core`` and the providers of its backends."""

    registry: Registry | None = None
    """Where the operator gets releases from, by tag: ``<registry>/bootstrap-kubeadm:v1.13.5`` holds ``metadata.yaml``
    and ``components.yaml`` of one provider. It gets them over the internet, where upstream publishes them, when it is
    left out. It asks nobody where ``manifests`` of the vector have them, as ``cluster-api-providers``, by digest."""
    core: Release
    """Release of Cluster API itself, and of its kubeadm bootstrap provider, which is released with it."""
    kamaji: Release | None = None
    """Release of the control-plane provider for Kamaji; Kamaji itself is a chart."""
    k0smotron: Release | None = None
    """Release of k0smotron, which is a control-plane and a bootstrap provider."""
    metal3: Release | None = None
    """Release of the infrastructure provider for Metal3, and of its IP address manager, without which it does not
    start."""
    ironcore_metal: Release | None = None
    """Release of the infrastructure provider for IronCore metal; its operators are a chart."""

    @property
    def releases(self) -> dict[str, Release]:
        """Return the releases that are given, by their keys here."""
        return {name: value for name, value in self if name != "registry" and value is not None}


def numbers(release: Release) -> tuple[int, ...]:
    """Return the three numbers of ``release``; a candidate counts as what it is a candidate for."""
    return tuple(int(part) for part in release[1:].split("-")[0].split("."))
