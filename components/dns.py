"""Names of a tenant cluster's Services in the DNS."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.render.region.dns import ClusterDnsInput, domain_of
from components.resources import PACKAGE, Clusters, register


@dataclass(frozen=True, kw_only=True)
class ClusterDnsArgs:
    """What ClusterDns is made from."""

    dns: ClusterDnsInput
    clusters: Clusters


class ClusterDns(pulumi.ComponentResource):
    """What writes the names of one cluster's Services, beside its control plane.

    Children: one resource per item of `ClusterDnsInput.render`.
    """

    domain: pulumi.Output[str]
    """Domain in which the cluster's Services have names."""

    def __init__(self, name: str, args: ClusterDnsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:ClusterDns", name, {}, opts)
        register(self, name, args.dns.render(), args.clusters)
        self.domain = pulumi.Output.from_input(domain_of(args.dns.cluster, args.dns.dns))
        self.register_outputs({"domain": self.domain})
