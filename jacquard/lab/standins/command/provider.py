"""gRPC service of the command provider."""

# ruff: noqa: N802, ARG002 - the protocol defines methods and parameters

import secrets
from collections.abc import Callable
from typing import ClassVar

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct

from jacquard.lab.standins.command.inputs import INSTALL, command, problems
from jacquard.lab.standins.command.shell import CommandError, Output, run
from jacquard.lab.standins.processes import Children
from jacquard.lab.standins.servicer import StandIn
from jacquard.providers.rpc.diff import changes, diff_response
from jacquard.providers.rpc.errors import check_failure
from jacquard.providers.rpc.paths import Path
from jacquard.providers.rpc.server import Engine
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import UNKNOWN, Properties, decode, encode, mask

TOKEN = "command:local:Command"  # noqa: S105 - a resource type
OUTPUTS = ("stdout", "stderr")

_MASKED_LINE_LENGTH = 8
"""Minimum length of single masked lines of a multi-line secret; shorter lines occur in any text."""


class CommandProvider(StandIn):
    """``command:local:Command`` with the rules of the vendor's provider.

    A change of ``triggers`` replaces the resource; any other change runs ``update``, or ``create`` without ``update``.
    A preview runs nothing. If an input is secret, both outputs are secret.
    """

    version = "1.2.1"
    capabilities: ClassVar = {"accept_secrets": True, "accept_resources": True, "accept_outputs": True}

    def __init__(self, engine: Engine, children: Children) -> None:
        """Serve one engine; the processes in ``children`` are terminated when the provider exits."""
        self._engine = engine
        self._children = children

    def CheckConfig(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        """Accept the empty configuration."""
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Return no difference, because there is no configuration."""
        return diff_response(())

    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Return the supported features of the protocol."""
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, acceptResources=True, acceptOutputs=True, supportsPreview=True
        )

    def Invoke(self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext) -> provider_pb2.InvokeResponse:
        """Reject the call: functions are not supported."""
        raise _refusal(request.tok)

    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        """Report all problems of the inputs."""
        _only_local_command(request.urn)
        messages = problems(decode(request.news).plain)
        return provider_pb2.CheckResponse(
            inputs=request.news, failures=[check_failure(path, reason) for path, reason in messages]
        )

    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Compare the inputs; changed triggers replace the resource."""
        differences = changes(decode(request.old_inputs).plain, decode(request.news).plain)
        return diff_response(differences, replaces=lambda change: change.path[0] == "triggers")

    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:
        """Run ``create``; a preview runs nothing."""
        inputs = decode(request.properties)
        identity = f"{request.name}{secrets.token_hex(4)}"
        if request.preview:
            return provider_pb2.CreateResponse(id=identity, properties=_outputs(inputs, None))
        output = self._run("create", ("create",), inputs, Properties({}), request.urn)
        return provider_pb2.CreateResponse(id=identity, properties=_outputs(inputs, output))

    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:
        """Run ``update``, or ``create`` without ``update``; a preview runs nothing."""
        inputs = decode(request.news)
        if request.preview:
            return provider_pb2.UpdateResponse(properties=_outputs(inputs, None))
        output = self._run("update", ("update", "create"), inputs, decode(request.olds), request.urn)
        return provider_pb2.UpdateResponse(properties=_outputs(inputs, output))

    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        """Return the recorded state, which is the only state of a command."""
        return provider_pb2.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)

    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> Empty:
        """Run ``delete`` of the last inputs."""
        state = decode(request.properties)
        recorded = decode(request.old_inputs)
        self._run("delete", ("delete",), recorded if recorded.plain else state, state, request.urn)
        return Empty()

    def cancel(self) -> None:
        """End all running commands, each of which returns an error, and start no further ones."""
        self._children.end(closed=True)

    def _run(self, verb: str, keys: tuple[str, ...], inputs: Properties, state: Properties, urn: str) -> Output:
        """Run the first command that is set under ``keys``; without one, return the previous output."""
        previous = Output(**{name: str(state.plain.get(name) or "") for name in OUTPUTS})
        line = next((inputs.plain[key] for key in keys if inputs.plain.get(key) is not None), None)
        if line is None:
            return previous
        try:
            return run(
                verb,
                line,
                command({key: value for key, value in inputs.plain.items() if key not in OUTPUTS}),
                previous,
                self._children,
                log=lambda text: self._engine.info(text, urn),
                mask=_masker(inputs, state),
            )
        except CommandError:
            if self._children.closed:
                message = f"the {verb} command was stopped because the operation was cancelled; run it again"
                raise CommandError(message) from None
            raise


def _outputs(inputs: Properties, output: Output | None) -> Struct:
    """Return the inputs with the output of the command, or with unknown outputs before its run."""
    written = {name: UNKNOWN if output is None else getattr(output, name) for name in OUTPUTS}
    marked: set[Path] = set(inputs.secrets)
    if marked:
        marked |= {(name,) for name in OUTPUTS}
    return encode({**inputs.plain, **written}, marked)


def _masker(*sources: Properties) -> Callable[[str], str]:
    texts = {text for source in sources for text in source.secret_texts()}
    lines = {line for text in texts for line in text.splitlines() if len(line) >= _MASKED_LINE_LENGTH}
    return lambda text: mask(text, texts | lines)


def _only_local_command(urn: str) -> None:
    token = urn.split("::", 3)[2].rpartition("$")[2]
    if token != TOKEN:
        raise _refusal(token)


def _refusal(token: str) -> CommandError:
    return CommandError(f"this stand-in for pulumi-command does not support {token}, only {TOKEN}; {INSTALL}")
