"""Components of the region itself: management cluster, isolation, Secrets, DNS."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.manifest import ManifestSet
from components.render.region.admission import AdmissionInput
from components.render.region.dns import ClusterDnsInput, domain_of
from components.render.region.engine.engine import EngineInput
from components.render.region.external_secrets import ExternalSecretsInput
from components.render.region.isolation import IsolationInput
from components.render.region.region import RegionInput


class Region(Component[RegionInput]):
    """Objects of the management cluster that all tenants share."""

    INPUT = RegionInput
    data_stores: pulumi.Output[list[str]]
    """Names of the data stores that control planes may use."""

    def _outputs(self, made: Made[RegionInput]) -> Outputs:
        return {"data_stores": [store.name for store in made.concept.data_stores]}


class Isolation(Component[IsolationInput]):
    """Network isolation and quotas of the management cluster's namespaces."""

    INPUT = IsolationInput
    namespaces: pulumi.Output[list[str]]
    """Isolated namespaces, sorted."""

    def _outputs(self, made: Made[IsolationInput]) -> Outputs:
        return {
            "namespaces": sorted(
                {
                    str(member.namespace)
                    for one in made.rendered
                    if isinstance(one, ManifestSet)
                    for member in one.members.values()
                }
            )
        }


class Admission(Component[AdmissionInput]):
    """Policies that the API server of one cluster evaluates."""

    INPUT = AdmissionInput
    policies: pulumi.Output[list[str]]
    """Names of the policies, sorted."""

    def _outputs(self, made: Made[AdmissionInput]) -> Outputs:
        return {"policies": sorted(policy.rule.policy for policy in made.concept.policies)}


class ExternalSecrets(Component[ExternalSecretsInput]):
    """ExternalSecrets that copy the Secrets of one slice from the region's store, without secret values."""

    INPUT = ExternalSecretsInput
    entries: pulumi.Output[list[str]]
    """Entries that the store must contain, sorted."""

    def _outputs(self, made: Made[ExternalSecretsInput]) -> Outputs:
        return {"entries": sorted({delivery.entry for delivery in made.concept.deliveries})}


class ClusterDns(Component[ClusterDnsInput]):
    """ExternalDNS of one tenant cluster, which runs in the namespace of the control plane."""

    INPUT = ClusterDnsInput
    domain: pulumi.Output[str]
    """Domain of the cluster's Services."""

    def _outputs(self, made: Made[ClusterDnsInput]) -> Outputs:
        return {"domain": domain_of(made.concept.cluster, made.concept.dns)}


class Engine(Component[EngineInput]):
    """Stacks by which the Pulumi Kubernetes Operator applies the slices of the region, and the rights of the slices."""

    INPUT = EngineInput
    slices: pulumi.Output[list[str]]
    """Names of the slices that the operator applies, in order."""

    def _outputs(self, made: Made[EngineInput]) -> Outputs:
        return {"slices": [item.name for item in made.concept.slices]}
