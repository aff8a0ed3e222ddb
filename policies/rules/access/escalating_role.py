"""escalating-role: a role with permissions that lead to all permissions.

Why: Kubernetes only prevents users from granting permissions that they do not have. A subject with one of these
permissions can obtain any other one, read all Secrets, or act as an administrator. Only the role names the subject, and
no other check compares it with its purpose (Kubernetes: "Role Based Access Control Good Practices").

Rejected: a Role or ClusterRole with `*`, also in a resource such as `*/proxy`, which matches `nodes/proxy`.
Rejected: the verbs `escalate` and `bind` of roles, and `impersonate`; `nodes/proxy`, writes of admission webhooks
and of mutating admission policies, and approval of certificates.
Rejected: tokens of service accounts without `resourceNames`.
Rejected: a ClusterRole that reads Secrets without `resourceNames`, because it reads the Secrets of all namespaces.
Rejected: a ClusterRole whose `aggregationRule` selects every other role.
Correct: the verbs and resources that the program uses, as a Role of its namespace, or with `resourceNames`.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

from components.specs.region.policy import RuleId
from policies.facts import Context, Fact, contains_unknown
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation

_ANY = "*"
_IMPERSONATE = "impersonate"
"""Verb, also with a suffix: ``impersonate:user-info`` (Kubernetes: "Constrained Impersonation")."""
_WRITES = frozenset({"create", "update", "patch"})
_READS = frozenset({"get", "list", "watch"})
_RBAC = "rbac.authorization.k8s.io"
_CERTIFICATES = "certificates.k8s.io"
_WEBHOOKS = (
    *("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
    *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
)
_Permission: TypeAlias = tuple[str, tuple[str, ...], frozenset[str]]
_ESCALATIONS: tuple[_Permission, ...] = (
    (_RBAC, ("roles", "clusterroles"), frozenset({"escalate", "bind"})),
    ("", ("nodes/proxy",), frozenset({*_READS, *_WRITES, "delete"})),
    ("admissionregistration.k8s.io", _WEBHOOKS, _WRITES),
    (_CERTIFICATES, ("certificatesigningrequests/approval",), frozenset({"update", "patch"})),
    (_CERTIFICATES, ("signers",), frozenset({"approve", "sign"})),
)
"""Permissions that lead to others: API group, resources and verbs."""
_UNNAMED: tuple[_Permission, ...] = (("", ("serviceaccounts/token",), frozenset({"create"})),)
"""Permissions that lead to others unless ``resourceNames`` limits them."""


def find(fact: Fact, _context: Context) -> Finding:
    """Check the rules of a role for permissions that lead to all permissions."""
    rules, aggregation = fact.at("rules"), fact.at("aggregationRule")
    if contains_unknown(rules) or contains_unknown(aggregation):
        return undecided("the permissions of the role")
    excessive = [text for rule in rules or () for text in _excessive(rule, is_global=fact.kind == "ClusterRole")]
    excessive += ["aggregationRule for all roles"] if _selects_all(aggregation) else []
    if not excessive:
        return PASS
    return violation(
        found=listed(list(dict.fromkeys(excessive))),
        allowed="the verbs and resources that the subject needs, without permissions that lead to others",
        fix="list single verbs and resources; limit Secrets to a namespace by a Role, or to names by resourceNames",
    )


def _excessive(rule: Any, *, is_global: bool) -> Iterator[str]:
    """Yield the permissions of ``rule`` that are not allowed."""
    verbs, groups, resources = (set(rule.get(key) or ()) for key in ("verbs", "apiGroups", "resources"))
    for key in ("verbs", "apiGroups", "resources", "nonResourceURLs"):
        yield from (f"{key} {value}" for value in rule.get(key) or () if _is_wildcard(key, value))
    for verb in sorted(verb for verb in verbs if verb.startswith(_IMPERSONATE)):
        yield from (f"{verb} {name}" for name in sorted(resources))
    is_named = bool(rule.get("resourceNames"))
    for group, names, actions in (*_ESCALATIONS, *(() if is_named else _UNNAMED)):
        for name in names:
            if group in groups and name in resources:
                yield from (f"{verb} {name}" for verb in sorted(actions & verbs))
    if is_global and "" in groups and "secrets" in resources and not is_named:
        yield from (f"{verb} secrets of all namespaces" for verb in sorted(_READS & verbs))


def _is_wildcard(key: str, value: str) -> bool:
    """Return whether ``value`` is a wildcard (kubernetes:pkg/apis/rbac/v1/evaluation_helpers.go)."""
    if key == "resources":
        return value == _ANY or value.startswith("*/") or value.endswith("/*")
    return value in {_ANY, "/*"}


def _selects_all(aggregation: Any) -> bool:
    selectors = (aggregation or {}).get("clusterRoleSelectors") or ()
    return any(not selector.get("matchLabels") and not selector.get("matchExpressions") for selector in selectors)


RULE = Rule(
    name=RuleId.ESCALATING_ROLE,
    description="A role has no permissions that lead to all permissions.",
    why="a subject with this role can obtain all permissions in the cluster, or read all its Secrets",
    severity=Severity.HIGH,
    kinds=frozenset({"Role", "ClusterRole"}),
    find=find,
)
