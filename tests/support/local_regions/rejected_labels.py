"""Admission policy that rejects labels of machines, so that an object fails although its data are valid."""

from __future__ import annotations

from typing import Any

from jacquard.providers.kube import ApiServer, ObjectRef

LABEL = "node.cluster.x-k8s.io/stage"
_ADMISSION, _NAME = "admissionregistration.k8s.io/v1", "no-label"


class RejectedLabels:
    """Rejects MachineDeployments whose machines have `LABEL`.

    Args:
        api: API server that rejects them.
        message: text of the rejection.
        namespace: the only namespace with the policy; None for all namespaces.
        previews: also reject dry runs, so that a preview sees the rejection.
    """

    def __init__(self, api: ApiServer, message: str, *, namespace: str | None = None, previews: bool = True) -> None:
        labelled = f"'{LABEL}' in object.spec.template.metadata.labels"
        rule = {
            "apiGroups": ["cluster.x-k8s.io"],
            "apiVersions": ["*"],
            "resources": ["machinedeployments"],
            "operations": ["CREATE", "UPDATE"],
        }
        matched: dict[str, Any] = {"resourceRules": [rule]}
        if namespace is not None:
            matched["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
        expression = f"!({labelled})" if previews else f"request.dryRun || !({labelled})"
        self._api = api
        self._bodies: tuple[dict[str, Any], ...] = (
            _body(
                "ValidatingAdmissionPolicy",
                {"matchConstraints": matched, "validations": [{"expression": expression, "message": message}]},
            ),
            _body("ValidatingAdmissionPolicyBinding", {"policyName": _NAME, "validationActions": ["Deny"]}),
        )

    def start(self) -> None:
        """Create the policy and its binding."""
        for body in self._bodies:
            self._api.apply(body, field_manager="test")

    def end(self) -> None:
        """Delete the binding and the policy."""
        for body in reversed(self._bodies):
            self._api.delete(ObjectRef(_ADMISSION, str(body["kind"]), _NAME, None))


def _body(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": _ADMISSION, "kind": kind, "metadata": {"name": _NAME}, "spec": spec}
