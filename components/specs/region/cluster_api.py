"""Releases of Cluster API and its providers. They are part of the version vector because they must be compatible."""

from typing import Annotated

from pydantic import StringConstraints

from components.specs.base import Registry, Spec

RELEASE = r"^v[0-9]+\.[0-9]+\.[0-9]+(-[-.a-z0-9]+)?$"
Release = Annotated[str, StringConstraints(pattern=RELEASE)]
"""Tag of a release, such as ``v1.13.5``."""


class ClusterApiSpec(Spec):
    """Releases that the Cluster API operator installs. A region needs ``core`` and the providers of its backends."""

    registry: Registry | None = None
    """Registry from which the operator fetches releases by tag. For example, ``<registry>/bootstrap-kubeadm:v1.13.5``
    contains ``metadata.yaml`` and ``components.yaml`` of one provider. By default the operator fetches releases over
    the internet from upstream. If ``manifests`` of the vector contain ``cluster-api-providers``, the operator uses
    these manifests by digest and fetches nothing."""
    core: Release
    """Release of Cluster API and of its kubeadm bootstrap provider, which have the same release numbers."""
    kamaji: Release | None = None
    """Release of the control-plane provider for Kamaji; Kamaji itself is installed from a chart."""
    k0smotron: Release | None = None
    """Release of k0smotron, which is a control-plane and a bootstrap provider."""
    metal3: Release | None = None
    """Release of the infrastructure provider for Metal3 and of its IP address manager, a prerequisite of the
    provider."""
    ironcore_metal: Release | None = None
    """Release of the infrastructure provider for IronCore metal; its operators are installed from a chart."""

    @property
    def releases(self) -> dict[str, Release]:
        """Return the configured releases by field name."""
        return {name: value for name, value in self if name != "registry" and value is not None}


def numbers(release: Release) -> tuple[int, ...]:
    """Return the three numbers of ``release``; a release candidate counts as its release."""
    return tuple(int(part) for part in release[1:].split("-")[0].split("."))
