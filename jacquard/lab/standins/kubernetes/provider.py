"""The provider's gRPC service."""

# ruff: noqa: N802, ARG002 - methods and their parameters are the protocol's

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct

from jacquard.lab.standins.kubernetes import checks, components, config
from jacquard.lab.standins.kubernetes.failures import PartialFailure
from jacquard.lab.standins.kubernetes.objects import bodies, documents, gathering, kustomization, rules, tokens
from jacquard.lab.standins.kubernetes.objects.kept import Before
from jacquard.lab.standins.kubernetes.objects.normal import normal
from jacquard.lab.standins.kubernetes.operations import Operations
from jacquard.lab.standins.servicer import StandIn
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ObjectRef
from jacquard.providers.rpc.diff import Change, changes, diff_response
from jacquard.providers.rpc.errors import InitFailed, check_failure
from jacquard.providers.rpc.paths import Path
from jacquard.providers.rpc.server import Engine
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import Properties, decode, encode, mask

_Answer = TypeVar("_Answer")


class KubernetesProvider(StandIn):
    """Single objects of any kind, applied on the API server's side."""

    version = "4.34.2"
    capabilities: ClassVar = {
        "accept_secrets": True,
        "accept_resources": True,
        "accept_outputs": True,
        "supports_autonaming_configuration": True,
    }

    _config: config.Config
    _operations: Operations

    def __init__(self, engine: Engine) -> None:
        """Serve one engine; the cluster comes with Configure."""
        self._engine = engine
        self._cancelled = threading.Event()

    def CheckConfig(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        """Report every problem of the provider's inputs."""
        found = config.problems(
            decode(request.news).plain, default_provider=tokens.name_of(request.urn).startswith("default")
        )
        return provider_pb2.CheckResponse(
            inputs=request.news, failures=[check_failure(path, reason) for path, reason in found]
        )

    def DiffConfig(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Replace the provider, and with it its objects, only for another cluster."""
        found, moved = config.difference(decode(request.old_inputs or request.olds).plain, decode(request.news).plain)
        return diff_response(found, replaces=lambda change: config.replaces(change, moved=moved))

    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Remember the cluster; it is asked at the first need only."""
        self._config = config.read(request.variables, os.environ)
        self._operations = Operations(self._config, self._engine, self._cancelled)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True,
            acceptResources=True,
            acceptOutputs=True,
            supportsPreview=True,
            supports_autonaming_configuration=True,
        )

    def Invoke(self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext) -> provider_pb2.InvokeResponse:
        """Read YAML, of a text or of what kustomize makes of a folder; other functions are not done here."""
        args = decode(request.args).plain
        if request.tok == documents.FUNCTION:
            text, namespace = args["text"], args.get("defaultNamespace") or ""
        elif request.tok == kustomization.FUNCTION:
            text, namespace = kustomization.build(args["directory"]), ""
        else:
            raise ProviderError(tokens.not_done(request.tok))
        found = documents.decode_yaml(text, namespace, self._is_namespaced)
        answer = provider_pb2.InvokeResponse()
        getattr(answer, "return").CopyFrom(encode({"result": found}))  # a word of Python's own
        return answer

    def _is_namespaced(self, api_version: str, kind: str) -> bool:
        try:
            return self._config.cluster.api().resource(api_version, kind).namespaced
        except ProviderError:
            return True  # as the vendor's takes kinds that nobody serves yet

    def Construct(
        self, request: provider_pb2.ConstructRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConstructResponse:
        """Make ConfigFile, ConfigGroup and Directory of many objects; a Chart is not done here."""
        if request.type not in gathering.TYPES:
            raise ProviderError(tokens.not_done(request.type))
        return components.construct(request, self._config.cluster, self._engine)

    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        """Complete the inputs and report every problem of them."""
        news, old = decode(request.news), decode(request.olds).plain
        refusal = tokens.refusal(request.urn, news.plain)
        if refusal:
            raise ProviderError(refusal)
        body, problems = checks.complete(request, news.plain, old, self._config.cluster)
        return provider_pb2.CheckResponse(
            inputs=encode(body, bodies.secret_paths(body, news.secrets)),
            failures=[check_failure(path, reason) for path, reason in problems],
        )

    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Compare with what was applied last, as the last refresh has corrected it; no request to the cluster.

        Both are compared in one spelling: states keep inputs as they were given to an older version of this one.
        """
        old, state, new = decode(request.old_inputs).plain, decode(request.olds).plain, decode(request.news).plain
        before = _with_namespace(normal(bodies.without_nulls(old)), state)
        after = _with_namespace(normal(new), state)
        forced = self._forced(request.urn, after)

        def replaces(change: Change) -> bool:
            moved = change.path == ("apiVersion",) and rules.group(before) != rules.group(after)
            return moved or rules.touches(change.path, forced)

        return diff_response(
            changes(before, after), replaces=replaces, delete_before_replace=_keeps_its_name(before, after)
        )

    def _forced(self, urn: str, body: Mapping[str, Any]) -> tuple[Path, ...]:
        if tokens.is_patch(urn, body):
            return rules.PATCHED
        mutable_config_maps, mutable_secrets = self._config.mutable_config_maps, self._config.mutable_secrets
        return rules.replaced_by(body, mutable_config_maps=mutable_config_maps, mutable_secrets=mutable_secrets)

    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:
        """Make the object; in a preview ask what it would become."""
        inputs = _inputs(request.properties)
        if request.preview:
            planned = self._call(inputs, lambda: self._operations.plan(request.urn, inputs))
            return provider_pb2.CreateResponse(properties=_encode(planned, inputs))
        made = self._call(inputs, lambda: self._operations.create(request.urn, inputs, request.timeout))
        return provider_pb2.CreateResponse(id=bodies.identity(made), properties=_encode(made, inputs))

    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:
        """Apply the new inputs; in a preview ask what the object would become."""
        inputs, old = _inputs(request.news), decode(request.olds)
        before = Before(_inputs(request.old_inputs).plain, old.plain)

        def work() -> Mapping[str, Any]:
            if request.preview:
                return self._operations.plan(request.urn, inputs, before)
            return self._operations.update(request.urn, inputs, before, request.timeout)

        return provider_pb2.UpdateResponse(properties=_encode(self._call(inputs, work), inputs))

    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        """Look at the object; inputs follow what has moved since, so that drift shows in the next diff."""
        inputs, state = _inputs(request.inputs), decode(request.properties)
        ref = _reference(request.urn, request.id, inputs.plain or state.plain)
        found = self._call(inputs, lambda: self._operations.read(request.urn, ref, inputs.plain, state.plain))
        if found is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(
            id=request.id or found.identity,
            properties=_encode(found.outputs, inputs),
            inputs=_encode(found.inputs, inputs),
        )

    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> Empty:
        """Delete the object and wait until it is gone."""
        inputs, state = _inputs(request.old_inputs), decode(request.properties)
        ref = _reference(request.urn, request.id, inputs.plain or state.plain)
        self._call(
            inputs,
            lambda: self._operations.delete(request.urn, ref, inputs.plain, state.plain, request.timeout),
        )
        return Empty()

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Empty:
        """Give up every wait; what was applied stays in the state."""
        self.cancel()
        return Empty()

    def cancel(self) -> None:
        """Let every running wait end with what it has."""
        self._cancelled.set()

    def _call(self, inputs: Properties, work: Callable[[], _Answer]) -> _Answer:
        """Do ``work``; failures lose every secret value on their way out."""
        try:
            return work()
        except PartialFailure as failure:
            secrets = bodies.secret_texts(inputs)
            raise InitFailed(
                mask(str(failure), secrets),
                reasons=[mask(reason, secrets) for reason in failure.reasons],
                id_=failure.identity,
                properties=_encode(failure.outputs, inputs),
                inputs=_encode(failure.inputs, inputs),
            ) from None
        except ProviderError as error:
            raise ProviderError(mask(str(error), bodies.secret_texts(inputs))) from None


def _inputs(struct: Struct) -> Properties:
    """Return inputs in one spelling; what of a Secret was secret text is secret data then."""
    given = decode(struct)
    return Properties(normal(given.plain), given.secrets, given.unknowns)


def _encode(body: Mapping[str, Any], inputs: Properties) -> Struct:
    return encode(body, bodies.secret_paths(body, inputs.secrets))


def _reference(urn: str, identity: str, plain: Mapping[str, Any]) -> ObjectRef:
    namespace, _, name = identity.rpartition("/")
    kind = tokens.kind_of(urn, plain)
    return ObjectRef(kind.api_version, kind.kind, name, namespace or None)


def _with_namespace(body: dict[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs with the namespace that the object lives in, where they leave it to the cluster."""
    metadata, lives = body.get("metadata"), (state.get("metadata") or {}).get("namespace")
    if not isinstance(metadata, dict) or "namespace" in metadata or not lives:
        return body
    return {**body, "metadata": {**metadata, "namespace": lives}}


def _keeps_its_name(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether the new object would collide with the old one, so that this one has to go first."""
    if bodies.annotation(after, bodies.AUTONAMED) == "true":
        return False
    old, new = before.get("metadata"), after.get("metadata")
    if not isinstance(old, dict) or not isinstance(new, dict):
        return False
    return all(old.get(key) == new.get(key) for key in ("name", "namespace"))
