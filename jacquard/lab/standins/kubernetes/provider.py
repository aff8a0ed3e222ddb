"""gRPC service of the Kubernetes provider."""

# ruff: noqa: N802, ARG002 - the protocol defines methods and parameters

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
    """Manages single objects of any kind by server-side apply."""

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
        """Serve one engine; Configure sets the cluster."""
        self._engine = engine
        self._cancelled = threading.Event()

    def CheckConfig(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        """Report all problems of the provider's inputs."""
        problems = config.problems(
            decode(request.news).plain, default_provider=tokens.name_of(request.urn).startswith("default")
        )
        return provider_pb2.CheckResponse(
            inputs=request.news, failures=[check_failure(path, reason) for path, reason in problems]
        )

    def DiffConfig(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Replace the provider and its objects only for another cluster."""
        differences, moved = config.difference(
            decode(request.old_inputs or request.olds).plain, decode(request.news).plain
        )
        return diff_response(differences, replaces=lambda change: config.replaces(change, moved=moved))

    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Store the settings of the cluster, which is contacted on first use."""
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
        """Parse YAML of a text or of the output of kustomize; other functions are rejected."""
        args = decode(request.args).plain
        if request.tok == documents.FUNCTION:
            text, namespace = args["text"], args.get("defaultNamespace") or ""
        elif request.tok == kustomization.FUNCTION:
            text, namespace = kustomization.build(args["directory"]), ""
        else:
            raise ProviderError(tokens.not_done(request.tok))
        objects = documents.decode_yaml(text, namespace, self._is_namespaced)
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(encode({"result": objects}))  # a keyword of Python
        return response

    def _is_namespaced(self, api_version: str, kind: str) -> bool:
        try:
            return self._config.cluster.api().resource(api_version, kind).namespaced
        except ProviderError:
            return True  # as in the vendor's provider for kinds that are not served yet

    def Construct(
        self, request: provider_pb2.ConstructRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConstructResponse:
        """Create the objects of a ConfigFile, ConfigGroup or Directory; a Chart is rejected."""
        if request.type not in gathering.TYPES:
            raise ProviderError(tokens.not_done(request.type))
        return components.construct(request, self._config.cluster, self._engine)

    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        """Complete the inputs and report all problems."""
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
        """Compare the inputs with the last applied inputs, including changes of the last refresh, without a request.

        All inputs are normalized first, because states contain inputs in the format of older versions.
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
        """Create the object; in a preview, plan it."""
        inputs = _inputs(request.properties)
        if request.preview:
            planned = self._call(inputs, lambda: self._operations.plan(request.urn, inputs))
            return provider_pb2.CreateResponse(properties=_encode(planned, inputs))
        created = self._call(inputs, lambda: self._operations.create(request.urn, inputs, request.timeout))
        return provider_pb2.CreateResponse(id=bodies.identity(created), properties=_encode(created, inputs))

    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:
        """Apply the new inputs; in a preview, plan the update."""
        inputs, old = _inputs(request.news), decode(request.olds)
        before = Before(_inputs(request.old_inputs).plain, old.plain)

        def work() -> Mapping[str, Any]:
            if request.preview:
                return self._operations.plan(request.urn, inputs, before)
            return self._operations.update(request.urn, inputs, before, request.timeout)

        return provider_pb2.UpdateResponse(properties=_encode(self._call(inputs, work), inputs))

    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        """Read the object; drift is copied into the inputs, so that the next diff shows the drift."""
        inputs, state = _inputs(request.inputs), decode(request.properties)
        ref = _reference(request.urn, request.id, inputs.plain or state.plain)
        live = self._call(inputs, lambda: self._operations.read(request.urn, ref, inputs.plain, state.plain))
        if live is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(
            id=request.id or live.identity,
            properties=_encode(live.outputs, inputs),
            inputs=_encode(live.inputs, inputs),
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

    def cancel(self) -> None:
        """End all running waits; applied objects stay in the state."""
        self._cancelled.set()

    def _call(self, inputs: Properties, work: Callable[[], _Answer]) -> _Answer:
        """Run ``work``; mask secret values in its errors."""
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
    """Return normalized inputs; ``data`` from secret ``stringData`` of a Secret stays secret."""
    properties = decode(struct)
    return Properties(normal(properties.plain), properties.secrets, properties.unknowns)


def _encode(body: Mapping[str, Any], inputs: Properties) -> Struct:
    return encode(body, bodies.secret_paths(body, inputs.secrets))


def _reference(urn: str, identity: str, plain: Mapping[str, Any]) -> ObjectRef:
    namespace, _, name = identity.rpartition("/")
    kind = tokens.kind_of(urn, plain)
    return ObjectRef(kind.api_version, kind.kind, name, namespace or None)


def _with_namespace(body: dict[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs with the recorded object's namespace, unless the inputs set a namespace."""
    metadata, namespace = body.get("metadata"), (state.get("metadata") or {}).get("namespace")
    if not isinstance(metadata, dict) or "namespace" in metadata or not namespace:
        return body
    return {**body, "metadata": {**metadata, "namespace": namespace}}


def _keeps_its_name(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether both objects have the same name; the old object must then be deleted first."""
    if bodies.annotation(after, bodies.AUTONAMED) == "true":
        return False
    old, new = before.get("metadata"), after.get("metadata")
    if not isinstance(old, dict) or not isinstance(new, dict):
        return False
    return all(old.get(key) == new.get(key) for key in ("name", "namespace"))
