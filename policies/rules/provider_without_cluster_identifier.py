"""provider-without-cluster-identifier: a provider that knows its cluster by its kubeconfig only.

Why: when the kubeconfig changes, because a certificate was renewed or it is unknown in a preview, the engine plans to
replace the provider and with it every object in the cluster. The default provider goes to whatever cluster is ambient.

Refused: ``pulumi_kubernetes.Provider("acme", kubeconfig=path)``
Right: ``components.resources.Cluster(name=..., kubeconfig=..., identifier="<environment>/<cluster>").kubernetes``
"""

from __future__ import annotations

from components.specs.region.policy import RuleId
from policies.facts import PROVIDER, UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, undecided, violation


def find(fact: Fact, context: Context) -> Finding:
    """Look at the inputs of a provider of cluster objects."""
    del context
    identifier = fact.at("clusterIdentifier")
    if identifier is UNKNOWN:
        return undecided("clusterIdentifier")
    if isinstance(identifier, str) and identifier:
        return PASS
    return violation(
        found="no clusterIdentifier",
        allowed="a fixed name, <environment>/<cluster>, as components/resources.py gives it",
        fix="reach the cluster through components.resources.Cluster, and never through a default provider",
    )


RULE = Rule(
    name=RuleId.PROVIDER_WITHOUT_CLUSTER_IDENTIFIER,
    description="A provider names its cluster by a clusterIdentifier that never changes.",
    why="a renewed kubeconfig would replace every object in the cluster",
    severity=Severity.CRITICAL,
    kinds=frozenset({PROVIDER}),
    find=find,
)
