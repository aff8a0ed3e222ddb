"""excessive-binding: a binding of an administrator's role, or of a role to anonymous users.

Why: the role `cluster-admin` permits everything. The roles `admin` and `edit` include all Secrets of a namespace; a
ClusterRoleBinding extends this to all namespaces. Anonymous users are everyone who reaches the API server.

Rejected: a binding of `cluster-admin` or a controller of Kubernetes to another subject than the administrators of the
cluster's tenant (`oidc.admin_group`).
Rejected: a ClusterRoleBinding of `admin` or `edit`.
Rejected: any binding to `system:anonymous` or `system:unauthenticated`, and to `system:masters`, whose members may do
everything without a binding.
Correct: a role with the required permissions, or a RoleBinding of `edit` in the namespace of a team.
"""

from typing import Any

from components.specs.region.policy import RuleId
from policies.facts import Context, Fact, contains_unknown
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation

_ADMIN = "cluster-admin"
_WIDE = frozenset({"admin", "edit"})
"""Roles of Kubernetes for namespaces."""
_CONTROLLERS = ("system:controller:", "system:kube-")
_SUBJECTS = frozenset({"system:anonymous", "system:unauthenticated", "system:masters"})
"""Subjects that no binding may have."""


def find(fact: Fact, context: Context) -> Finding:
    """Check the role and the subjects of a binding."""
    role, subjects = fact.at("roleRef"), fact.at("subjects")
    if contains_unknown(role) or contains_unknown(subjects):
        return undecided("the role or a subject of the binding")
    excessive = [
        f"{(role or {}).get('name')} of {subject.get('kind')} {subject.get('name')}"
        for subject in subjects or ()
        if _is_excessive(fact, role or {}, subject, context)
    ]
    if not excessive:
        return PASS
    return violation(
        found=listed(excessive),
        allowed="roles with the required permissions, and cluster-admin for oidc.admin_group of the cluster only",
        fix="bind a Role or ClusterRole with the required permissions, in one namespace where possible",
    )


def _is_excessive(fact: Fact, role: Any, subject: Any, context: Context) -> bool:
    name = str(role.get("name"))
    if subject.get("name") in _SUBJECTS:
        return True
    if role.get("kind") != "ClusterRole":
        return False
    if name == _ADMIN:
        return (subject.get("kind"), subject.get("name")) != ("Group", context.admins.get(fact.cluster))
    return name.startswith(_CONTROLLERS) or (name in _WIDE and fact.kind == "ClusterRoleBinding")


RULE = Rule(
    name=RuleId.EXCESSIVE_BINDING,
    description="A binding grants no administrator's role and has no anonymous subjects.",
    why="the subject gets all permissions in the cluster, or all Secrets of all namespaces",
    severity=Severity.HIGH,
    kinds=frozenset({"RoleBinding", "ClusterRoleBinding"}),
    find=find,
)
