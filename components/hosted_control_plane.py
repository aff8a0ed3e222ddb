"""A tenant's Kubernetes API as pods of the management cluster."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.control_planes.control_plane import API_PORT
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class HostedControlPlaneArgs:
    """What a HostedControlPlane is made from."""

    control_plane: HostedControlPlaneInput
    clusters: Clusters


class HostedControlPlane(pulumi.ComponentResource):
    """The control plane of one cluster. Done when its API answers.

    Children: one resource per item of `HostedControlPlaneInput.render`.
    """

    endpoint: pulumi.Output[str]
    """URL of the API."""

    def __init__(self, name: str, args: HostedControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:HostedControlPlane", name, {}, opts)
        register(self, name, args.control_plane.render(), args.clusters)
        self.endpoint = pulumi.Output.from_input(f"https://{args.control_plane.vip}:{API_PORT}")
        self.register_outputs({"endpoint": self.endpoint})
