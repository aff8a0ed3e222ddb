"""privileged-namespace: a namespace whose pods may be root on their node.

Why: without an enforced Pod Security Standard, the author of any pod in the namespace can read the disks, memory and
credentials of its node. On a node of the management cluster, this includes the credentials of all BMCs and tenants.

Rejected: the label `pod-security.kubernetes.io/enforce: privileged`, which `pod_security: privileged` of a team's
namespace sets.
Reported: a namespace of the management cluster without the label, which then has the default of the API server.
Correct: `restricted`, or `baseline` if the pods cannot run as a non-root user.
Not evaluated: namespaces of the platform's agents that use the network, devices or files of their host, such as
`metallb-system` of the management cluster.
"""

from components.render.manifest import MANAGEMENT
from components.specs.control_planes.cluster_namespaces import PodSecurity
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, undecided, violation

[_LABEL] = PodSecurity.PRIVILEGED.labels
_CORRECT = (PodSecurity.RESTRICTED, PodSecurity.BASELINE)


def find(fact: Fact, context: Context) -> Finding:
    """Check the Pod Security Standard that a namespace enforces."""
    standard = fact.at("metadata", "labels", _LABEL)
    if standard is UNKNOWN:
        return undecided(f"the label {_LABEL}")
    is_management = fact.cluster == MANAGEMENT
    if standard in _CORRECT or (standard is None and not is_management):
        return PASS
    name = fact.at("metadata", "name")
    if name is UNKNOWN:
        return undecided("metadata.name")
    if is_management and name in context.host_namespaces:
        return NOT_APPLICABLE
    return violation(
        found=f"{_LABEL}: {standard}" if standard else f"no label {_LABEL}",
        allowed=f"{' or '.join(_CORRECT)}, except in namespaces of the platform's agents that use their host",
        fix="write restricted, or baseline for pods that run as root; for a team's namespace in pod_security",
        level=None if standard else Enforcement.ADVISORY,
    )


RULE = Rule(
    name=RuleId.PRIVILEGED_NAMESPACE,
    description="A namespace enforces the Pod Security Standard restricted or baseline.",
    why="each author of pods in the namespace can become root on a node, and read its disks and credentials",
    severity=Severity.HIGH,
    kinds=frozenset({"Namespace"}),
    find=find,
)
