"""The provider behind ``jacquard:index:ObjectSet``: Pulumi's calls, turned into changes of a set."""
# ruff: noqa: N802, ARG002 - methods and their parameters are the protocol's

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct

from providers.errors import ProviderError
from providers.kube import ApiServer, KubeconfigError, Unreachable
from providers.objectset import config, inputs, schema
from providers.objectset.config import CONNECTIONS, Config
from providers.objectset.converge import Change, Result
from providers.objectset.inputs import ObjectSet
from providers.objectset.reading import read
from providers.objectset.removal import remove
from providers.objectset.workers import Workers
from providers.rpc.diff import changes, diff_response
from providers.rpc.errors import InitFailed
from providers.rpc.server import Engine
from providers.rpc.stubs import ResourceProviderServicer, plugin_pb2, provider_pb2
from providers.rpc.values import UNKNOWN, Properties, decode, encode, mask

TIMEOUT_SECONDS = 600.0
"""How long finalizers may hold what is deleted, unless the program's ``custom_timeouts`` say otherwise."""
_REPLACES = ("setName", "namespace")
_NEW = Properties({})


class ObjectSetProvider(ResourceProviderServicer):
    """One provider process: one cluster, any number of sets.

    Outputs are ``setName``, ``namespace`` and ``uids``. The members are inputs only: the engine records inputs anyway,
    and a second copy would double the state of a large inventory.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._workers = Workers(CONNECTIONS)
        self._config: Config | None = None
        self._connected: ApiServer | None = None
        self._connecting = threading.Lock()

    def cancel(self) -> None:
        """Begin nothing more; what runs finishes, and the state says what was done."""
        self._workers.cancelled.set()

    def close(self) -> None:
        """Let go of threads and connections."""
        self.cancel()
        self._workers.close()
        if self._connected is not None:
            self._connected.close()

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Empty:
        """Do as `cancel`."""
        self.cancel()
        return Empty()

    def Handshake(
        self, request: provider_pb2.ProviderHandshakeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ProviderHandshakeResponse:
        """Say what kinds of values are understood."""
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    def GetPluginInfo(self, request: Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """Return the version."""
        return plugin_pb2.PluginInfo(version=schema.plugin_version())

    def GetSchema(
        self, request: provider_pb2.GetSchemaRequest, context: grpc.ServicerContext
    ) -> provider_pb2.GetSchemaResponse:
        """Return the package schema."""
        return provider_pb2.GetSchemaResponse(schema=schema.schema())

    def CheckConfig(
        self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext
    ) -> provider_pb2.CheckResponse:
        """Check the provider's settings."""
        failures = config.check(decode(request.news).plain)
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Say whether changed settings mean another cluster."""
        old = request.old_inputs if request.HasField("old_inputs") else request.olds
        return config.diff(decode(old).plain, decode(request.news).plain)

    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Take the settings; the cluster is first talked to when a set needs it."""
        self._config = Config.of(decode(request.args).plain)
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        """Check the inputs of a set, all problems at once."""
        given = decode(request.news)
        failures = inputs.check(given.plain)
        for failure in failures:
            failure.reason = given.mask(failure.reason)
        hidden = inputs.contents_of_secrets(given.plain)
        news = encode(given.plain, given.secrets | hidden) if hidden else request.news
        return provider_pb2.CheckResponse(inputs=news, failures=failures)

    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Compare member by member; another name or namespace is another set, and the old one goes first."""
        found = changes(decode(request.old_inputs).plain, decode(request.news).plain)
        return diff_response(found, replaces=lambda change: change.path[0] in _REPLACES, delete_before_replace=True)

    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:
        """Apply a new set, adopting what carries its label already."""
        given = decode(request.properties)
        result = self._change(given, _NEW, {}, request)
        wanted = ObjectSet.of(given.plain)
        return provider_pb2.CreateResponse(id=wanted.id, properties=_outputs(wanted, result.uids))

    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:
        """Apply changed members, then prune removed ones."""
        given = decode(request.news)
        uids = decode(request.olds).plain.get("uids") or {}
        result = self._change(given, decode(request.old_inputs), uids, request)
        return provider_pb2.UpdateResponse(properties=_outputs(ObjectSet.of(given.plain), result.uids))

    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        """Read a set back with live values; no id when nothing of it is left."""
        recorded = decode(request.inputs)
        wanted = ObjectSet.of(recorded.plain)
        if not recorded.plain:
            msg = (
                f"ObjectSet {request.id} cannot be imported; "
                "declare it and run up: objects that carry its label are adopted as they are"
            )
            raise ProviderError(msg)
        with _masked(recorded):
            found = read(self._api(), self._workers, wanted)
        if not found.members and not found.has_parent:
            return provider_pb2.ReadResponse()
        live = encode({**recorded.plain, "members": found.members}, recorded.secrets)
        outputs = _outputs(wanted, found.uids)
        if not found.has_parent:
            reason = f"ConfigMap {wanted.id}, the set's parent, is missing; the next up writes it again"
            message = f"ObjectSet {wanted.id} is damaged"
            raise InitFailed(message, reasons=[reason], id_=request.id, properties=outputs, inputs=live)
        return provider_pb2.ReadResponse(id=request.id, properties=outputs, inputs=live)

    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> Empty:
        """Delete the members that are still ours, then the parent."""
        recorded = decode(request.old_inputs)
        with _masked(recorded):
            removal = remove(
                self._api(), self._workers, ObjectSet.of(recorded.plain), timeout_seconds=_timeout(request)
            )
        self._warn_of_strays(removal.left_alone, request.urn)
        return Empty()

    def _change(
        self,
        given: Properties,
        recorded: Properties,
        uids: Mapping[str, Any],
        request: provider_pb2.CreateRequest | provider_pb2.UpdateRequest,
    ) -> Result:
        wanted = ObjectSet.of(given.plain)
        unknown = {str(path[1]) for path in given.unknowns if path[0] == "members" and len(path) > 1}
        if request.preview and self._is_out_of_reach(given, request.urn):
            return Result(dict.fromkeys(wanted.members, UNKNOWN) | dict(uids))
        with _masked(given, recorded):
            before = ObjectSet.of(recorded.plain) if recorded.plain else None
            change = Change(self._api(), self._workers, wanted, urn=request.urn, recorded=before, uids=uids)
            result = change.preview(unknown) if request.preview else change.run(_timeout(request))
            left_alone = change.left_alone()
        self._warn_of_strays(left_alone, request.urn)
        if result.unchecked:
            count = f"{result.unchecked} of {len(wanted.members)} objects"
            self._engine.info(f"{count} not checked: their kind or namespace is not there yet", request.urn)
        if result.problems:
            self._fail(wanted, given, recorded, result)
        return result

    def _fail(self, wanted: ObjectSet, given: Properties, recorded: Properties, result: Result) -> None:
        """Report a change that was done in part; the uids tell the next run what is as recorded."""
        secrets = given.secret_texts() | recorded.secret_texts()
        message = f"ObjectSet {wanted.id}: {len(result.problems)} problem(s); the next run goes on from here"
        raise InitFailed(
            message,
            reasons=[mask(problem, secrets) for problem in result.problems],
            id_=wanted.id,
            properties=_outputs(wanted, result.uids),
        )

    def _api(self) -> ApiServer:
        with self._connecting:
            if self._connected is None:
                if self._config is None:
                    msg = "the provider's kubeconfig is not known yet; let it be a path that does not change"
                    raise ProviderError(msg)
                self._connected = self._config.connect()
            return self._connected

    def _is_out_of_reach(self, given: Properties, urn: str) -> bool:
        """Return whether a preview cannot ask the cluster, which is no fault while the cluster is still to come."""
        if UNKNOWN in (given.plain.get("setName"), given.plain.get("namespace"), given.plain.get("members")):
            return True
        try:
            if self._config is not None:
                self._api().resource("v1", "ConfigMap")
                return False
            why = "the kubeconfig is not known yet"
        except (KubeconfigError, Unreachable) as error:
            why = str(error)
        self._engine.warning(f"{len(given.plain['members'])} objects not checked: {why}", urn)
        return True

    def _warn_of_strays(self, strays: list[str], urn: str) -> None:
        if strays:
            names = ", ".join(strays)
            words = f"no longer in the set, and without its label left alone: {names}; delete by hand what nobody needs"
            self._engine.warning(words, urn)


def _outputs(wanted: ObjectSet, uids: Mapping[str, Any]) -> Struct:
    return encode({"setName": wanted.name, "namespace": wanted.namespace, "uids": uids})


def _timeout(request: provider_pb2.CreateRequest | provider_pb2.UpdateRequest | provider_pb2.DeleteRequest) -> float:
    return request.timeout or TIMEOUT_SECONDS


@contextmanager
def _masked(*properties: Properties) -> Iterator[None]:
    """Take secrets out of any error: API servers quote the values they refuse."""
    try:
        yield
    except ProviderError as error:
        text = str(error)
        for known in properties:
            text = known.mask(text)
        raise ProviderError(text) from None
