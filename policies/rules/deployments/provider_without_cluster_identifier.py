"""provider-without-cluster-identifier: a provider that identifies its cluster only by kubeconfig.

Why: if the kubeconfig changes or is unknown in a preview, for example after the renewal of a certificate, the engine
plans to replace the provider and every object in the cluster. The default provider uses the ambient cluster.

Rejected: ``pulumi_kubernetes.Provider("acme", kubeconfig=path)``
Correct: ``components.resources.Cluster(name=..., kubeconfig=..., identifier="<environment>/<cluster>").kubernetes``
"""

from components.specs.region.policy import RuleId
from policies.facts import PROVIDER, UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, undecided, violation


def find(fact: Fact, context: Context) -> Finding:
    """Check the inputs of a provider of cluster objects."""
    del context
    identifier = fact.at("clusterIdentifier")
    if identifier is UNKNOWN:
        return undecided("clusterIdentifier")
    if isinstance(identifier, str) and identifier:
        return PASS
    return violation(
        found="no clusterIdentifier",
        allowed="a fixed name, <environment>/<cluster>, as components/resources.py sets it",
        fix="access the cluster through components.resources.Cluster, never through a default provider",
    )


RULE = Rule(
    name=RuleId.PROVIDER_WITHOUT_CLUSTER_IDENTIFIER,
    description="A provider identifies its cluster by a clusterIdentifier that never changes.",
    why="a renewed kubeconfig would replace every object in the cluster",
    severity=Severity.CRITICAL,
    kinds=frozenset({PROVIDER}),
    find=find,
)
