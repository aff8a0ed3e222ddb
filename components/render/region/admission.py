"""Admission policies of one cluster: policies that CEL can express, for objects that bypass Pulumi.

Each policy of ``components/lookups/admission`` is a ValidatingAdmissionPolicy with a binding. An expression that fails
for an object rejects the object (``failurePolicy: Fail``), as a policy that cannot be decided does.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.region.admission_rule import AdmissionRule
from components.specs.region.admission import AdmissionAction
from components.specs.region.policy import Enforcement
from components.specs.struct import Struct, field

_GROUP = "admissionregistration.k8s.io/v1"
_PREFIX = "jacquard"
_CONTROLLERS = ("kube-system",)
"""Namespaces with accounts of Kubernetes' controllers, which create pods and aggregate roles."""
_API_SERVER = "system:apiserver"
"""User with which an API server creates the roles of Kubernetes at its start."""
_CONTROLLER_MANAGER = "system:kube-controller-manager"
"""User of Kubernetes' controllers without ``--use-service-account-credentials``, which kubeadm sets."""
_KUBELETS = "system:nodes"
"""Group of kubelets, which create no pods but mirror pods of static pods (K8S:pkg/kubelet/pod/mirror_client.go,
plugin/pkg/admission/noderestriction/admission.go). Every user can set the annotation of mirror pods.
"""
_CHANGED = (
    "request.operation != 'UPDATE' || request.kind.kind == 'Namespace' || !has(object.spec) || !has(oldObject.spec)"
    " || object.spec != oldObject.spec"
)
"""Excludes updates of the metadata alone, such as of finalizers. Without them, an object that is older than its policy
could not be deleted (KV:pkg/virt-controller/watch/vm/vm.go removeVMFinalizer). The label of a Namespace is
metadata, and roles have no spec."""


class PolicyAdmission(Struct):
    """Policy of one cluster."""

    rule: AdmissionRule
    level: Enforcement
    waived: tuple[str, ...] = ()
    """Objects with a waiver: ``Kind namespace/name``, or the name of a host."""

    @property
    def name(self) -> str:
        """Return the name of the objects."""
        return f"{_PREFIX}-{self.rule.policy}"


class AdmissionInput(Struct):
    """Admission policies of a cluster."""

    name: str
    cluster: str
    action: AdmissionAction
    policies: tuple[PolicyAdmission, ...]
    exempt: tuple[str, ...] = ()
    """Namespaces whose accounts are not evaluated."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Data of the environment for expressions, by name."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the policies and their bindings."""
        return tuple(item for policy in self.policies for item in self._objects(policy))

    def _objects(self, policy: PolicyAdmission) -> Iterator[Manifest]:
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": list(_resources(policy.rule))},
            "matchConditions": self._conditions(),
            "variables": list(self._variables(policy)),
            "validations": [
                {
                    "expression": f"variables.is_waived || ({policy.rule.allowed})",
                    "message": f"{policy.rule.policy}: {policy.rule.message}",
                    "reason": "Invalid",
                }
            ],
        }
        denies = policy.level is Enforcement.MANDATORY and self.action is AdmissionAction.DENY
        binding = {"policyName": policy.name, "validationActions": ["Deny"] if denies else ["Warn", "Audit"]}
        yield manifest(_GROUP, "ValidatingAdmissionPolicy", policy.name, cluster=self.cluster, spec=spec)
        yield manifest(_GROUP, "ValidatingAdmissionPolicyBinding", policy.name, cluster=self.cluster, spec=binding)

    def _conditions(self) -> list[dict[str, str]]:
        """Return the conditions under which a request is evaluated."""
        accounts = [f"system:serviceaccounts:{name}" for name in sorted({*_CONTROLLERS, *self.exempt})]
        groups = _literal([*accounts, _KUBELETS])
        user = "request.userInfo.username"
        return [
            {"name": "no-api-server", "expression": f"!({user} in {_literal((_API_SERVER, _CONTROLLER_MANAGER))})"},
            {"name": "no-controller", "expression": f"!request.userInfo.groups.exists(g, g in {groups})"},
            {"name": "changed", "expression": _CHANGED},
        ]

    def _variables(self, policy: PolicyAdmission) -> Iterator[dict[str, str]]:
        for name in policy.rule.values:
            yield {"name": name, "expression": _literal(self.values.get(name, ()))}
        yield {"name": "is_waived", "expression": _is_waived(policy.waived)}
        for name, expression in policy.rule.variables.items():
            yield {"name": name, "expression": expression}


def _resources(rule: AdmissionRule) -> Iterator[dict[str, Any]]:
    for resources in rule.resources:
        yield {
            "apiGroups": [resources.group],
            "apiVersions": ["*"],
            "operations": ["CREATE", "UPDATE"],
            "resources": list(resources.names),
        }


def _is_waived(subjects: tuple[str, ...]) -> str:
    if not subjects:
        return "false"
    place = "(has(object.metadata.namespace) ? object.metadata.namespace + '/' : '')"
    named, waived = f"request.kind.kind + ' ' + {place} + object.metadata.name", _literal(subjects)
    return f"object.metadata.name in {waived} || {named} in {waived}"


def _literal(texts: Any) -> str:
    """Return a CEL list of strings; JSON strings are CEL strings."""
    return json.dumps(list(texts))
