"""A client of the kubernetes stand-in without an engine: plain data in, plain data out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jacquard.lab.standins.kubernetes.provider import KubernetesProvider
from jacquard.providers.rpc.server import Engine
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import decode, encode

_KINDS = {
    provider_pb2.PropertyDiff.ADD: "add",
    provider_pb2.PropertyDiff.DELETE: "delete",
    provider_pb2.PropertyDiff.UPDATE: "update",
}


class DrivenStandIn:
    """The stand-in, connected to one cluster."""

    def __init__(self, kubeconfig: Path) -> None:
        """Configure it as components do."""
        self._provider = KubernetesProvider(Engine(None))
        given = {"kubeconfig": str(kubeconfig), "enableConfigMapMutable": "true", "enableSecretMutable": "true"}
        variables = {f"kubernetes:config:{name}": value for name, value in given.items()}
        self._provider.Configure(provider_pb2.ConfigureRequest(variables=variables), None)

    def check(self, urn: str, inputs: dict[str, Any], old: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the checked inputs."""
        request = provider_pb2.CheckRequest(urn=urn, news=encode(inputs), olds=encode(old or {}))
        answer = self._provider.Check(request, None)
        assert not answer.failures, list(answer.failures)
        return decode(answer.inputs).plain

    def diff(self, urn: str, old: dict[str, Any], state: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
        """Return the planned changes by path; ``replace`` for those that need a new object."""
        request = provider_pb2.DiffRequest(urn=urn, old_inputs=encode(old), olds=encode(state), news=encode(new))
        answer = self._provider.Diff(request, None)
        return {path: _KINDS.get(change.kind, "replace") for path, change in answer.detailedDiff.items()}

    def create(self, urn: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Create the object, and return its state."""
        request = provider_pb2.CreateRequest(urn=urn, properties=encode(inputs))
        return decode(self._provider.Create(request, None).properties).plain

    def update(
        self, urn: str, old: dict[str, Any], state: dict[str, Any], new: dict[str, Any], *, preview: bool = False
    ) -> dict[str, Any]:
        """Update the object, and return its state, or the planned state in a preview."""
        request = provider_pb2.UpdateRequest(
            urn=urn, old_inputs=encode(old), olds=encode(state), news=encode(new), preview=preview
        )
        return decode(self._provider.Update(request, None).properties).plain

    def plan(self, urn: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the planned state of an object to create."""
        request = provider_pb2.CreateRequest(urn=urn, properties=encode(inputs), preview=True)
        return decode(self._provider.Create(request, None).properties).plain

    def delete(self, urn: str, inputs: dict[str, Any], state: dict[str, Any]) -> None:
        """Delete the object, or release the fields of a patch."""
        request = provider_pb2.DeleteRequest(
            urn=urn, id=_identity(state), old_inputs=encode(inputs), properties=encode(state)
        )
        self._provider.Delete(request, None)

    def read(self, urn: str, inputs: dict[str, Any], state: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Refresh and return inputs and state."""
        request = provider_pb2.ReadRequest(
            urn=urn, id=_identity(state), inputs=encode(inputs), properties=encode(state)
        )
        answer = self._provider.Read(request, None)
        return decode(answer.inputs).plain, decode(answer.properties).plain


def _identity(state: dict[str, Any]) -> str:
    metadata = state["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
