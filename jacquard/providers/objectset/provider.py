"""The provider of ``jacquard:index:ObjectSet``: translates Pulumi's calls to changes of sets."""
# ruff: noqa: N802, ARG002 - the protocol defines the methods and their parameters

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import KubeconfigError, Unreachable
from jacquard.providers.objectset import config, importing, inputs, schema
from jacquard.providers.objectset.config import CONNECTIONS, Config
from jacquard.providers.objectset.converge import Change, Recorded, Result
from jacquard.providers.objectset.explaining import TAKE_FIELDS_FROM
from jacquard.providers.objectset.handover import Announcements
from jacquard.providers.objectset.inputs import ObjectSet
from jacquard.providers.objectset.reading import read
from jacquard.providers.objectset.removal import remove
from jacquard.providers.objectset.session import Session, Tell
from jacquard.providers.objectset.workers import Workers
from jacquard.providers.rpc.diff import Change as Difference
from jacquard.providers.rpc.diff import ChangeKind, changes, diff_response
from jacquard.providers.rpc.errors import InitFailed
from jacquard.providers.rpc.server import Engine
from jacquard.providers.rpc.stubs import ResourceProviderServicer, plugin_pb2, provider_pb2
from jacquard.providers.rpc.values import UNKNOWN, Properties, decode, encode, mask

TIMEOUT_SECONDS = 600.0
"""Default time limit for finalizers of deleted objects; the program's ``custom_timeouts`` override it."""
_REPLACES = ("setName", "namespace")
_NAMED = 3
"""Maximum number of objects listed in a message about waiting."""
_NEW = Properties({})


class ObjectSetProvider(ResourceProviderServicer):
    """A provider process: one cluster, any number of sets.

    Outputs are ``setName``, ``namespace``, ``cluster`` and ``uids``, and ``waiting`` while objects of other controllers
    do not have the set's fields. Members are inputs only, because the engine records inputs anyway, and a second copy
    would double the state of a large inventory.

    Args:
        engine: Log for messages.
        taking: Field managers whose fields are taken over on conflict.
    """

    def __init__(self, engine: Engine, taking: Iterable[str] = ()) -> None:
        self._engine = engine
        self._taking = frozenset(taking)
        self._workers = Workers(CONNECTIONS)
        self._announced = Announcements()
        self._config: Config | None = None
        self._connected: Session | None = None
        self._cluster = ""
        self._connecting = threading.Lock()

    def cancel(self) -> None:
        """Start no further tasks; running tasks finish, and the state records the finished changes."""
        self._workers.cancelled.set()

    def close(self) -> None:
        """Release threads and connections."""
        self.cancel()
        self._workers.close()
        if self._connected is not None:
            self._connected.api.close()

    def Cancel(self, request: Empty, context: grpc.ServicerContext) -> Empty:
        """Call `cancel`."""
        self.cancel()
        return Empty()

    def Handshake(
        self, request: provider_pb2.ProviderHandshakeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ProviderHandshakeResponse:
        """Return the supported kinds of values."""
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
        """Validate the provider's settings."""
        failures = config.check(decode(request.news).plain)
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Return whether changed settings refer to another cluster."""
        old = request.old_inputs if request.HasField("old_inputs") else request.olds
        return config.diff(decode(old).plain, decode(request.news).plain)

    def Configure(
        self, request: provider_pb2.ConfigureRequest, context: grpc.ServicerContext
    ) -> provider_pb2.ConfigureResponse:
        """Store the settings; the first operation on a set contacts the cluster."""
        self._config = Config.of(decode(request.args).plain)
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Check(self, request: provider_pb2.CheckRequest, context: grpc.ServicerContext) -> provider_pb2.CheckResponse:
        """Validate the inputs of a set and return all errors."""
        news = decode(request.news)
        failures = inputs.check(news.plain)
        for failure in failures:
            failure.reason = news.mask(failure.reason)
        if not failures:
            self._announced.announce(ObjectSet.of(news.plain))
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def Diff(self, request: provider_pb2.DiffRequest, context: grpc.ServicerContext) -> provider_pb2.DiffResponse:
        """Compare members; another name or namespace is another set. Waiting objects are also a difference.

        A set with another name adopts the members before the old set is deleted; a set in another namespace cannot find
        the members.
        """
        differences = changes(decode(request.old_inputs).plain, decode(request.news).plain)
        first = any(change.path[0] == "namespace" for change in differences)
        answer = diff_response(
            differences, replaces=lambda change: change.path[0] in _REPLACES, delete_before_replace=first
        )
        if decode(request.olds).plain.get("waiting"):
            answer.MergeFrom(diff_response([Difference(("waiting",), ChangeKind.DELETE)], inputs=False))
        return answer

    def Create(self, request: provider_pb2.CreateRequest, context: grpc.ServicerContext) -> provider_pb2.CreateResponse:
        """Apply a new set; objects with its label are adopted."""
        properties = decode(request.properties)
        outputs = self._change(properties, _NEW, {}, request)
        return provider_pb2.CreateResponse(id=ObjectSet.of(properties.plain).id, properties=outputs)

    def Update(self, request: provider_pb2.UpdateRequest, context: grpc.ServicerContext) -> provider_pb2.UpdateResponse:
        """Apply changed members, then prune removed members."""
        olds = decode(request.olds).plain
        outputs = self._change(decode(request.news), decode(request.old_inputs), olds, request)
        return provider_pb2.UpdateResponse(properties=outputs)

    def Read(self, request: provider_pb2.ReadRequest, context: grpc.ServicerContext) -> provider_pb2.ReadResponse:
        """Return a set with live values, without an id if it does not exist. A request without inputs is an import."""
        recorded = decode(request.inputs)
        wanted = ObjectSet.of(recorded.plain)
        with _masked(recorded):
            session = self._session(decode(request.properties).plain, request.urn)
            if not recorded.plain:
                wanted = importing.find(session, request.id)
            live_set = read(session, wanted)
        if not live_set.members and not live_set.has_parent:
            return provider_pb2.ReadResponse()
        place = {"setName": wanted.name, "namespace": wanted.namespace}
        patches = {"patches": live_set.patches} if live_set.patches else {}
        live = encode({**place, "members": live_set.members, **patches}, recorded.secrets)
        outputs = self._outputs(wanted, live_set.uids)
        if not live_set.has_parent:
            reason = f"ConfigMap {wanted.id}, the set's parent, is missing; the next up recreates it"
            message = f"ObjectSet {wanted.id} is damaged"
            raise InitFailed(message, reasons=[reason], id_=request.id, properties=outputs, inputs=live)
        return provider_pb2.ReadResponse(id=request.id, properties=outputs, inputs=live)

    def Delete(self, request: provider_pb2.DeleteRequest, context: grpc.ServicerContext) -> Empty:
        """Delete the members that still have the set's marks, then the parent."""
        recorded = decode(request.old_inputs)
        with _masked(recorded):
            session = self._session(decode(request.properties).plain, request.urn)
            tell = self._tell(request.urn)
            strays = remove(session, ObjectSet.of(recorded.plain), tell=tell, timeout_seconds=_timeout(request))
        self._warn_of_strays(strays, request.urn)
        return Empty()

    def _change(
        self,
        news: Properties,
        recorded: Properties,
        olds: Mapping[str, Any],
        request: provider_pb2.CreateRequest | provider_pb2.UpdateRequest,
    ) -> Struct:
        """Make or preview a change, log its messages, and return the outputs to record."""
        wanted = ObjectSet.of(news.plain)
        unknown = {str(path[1]) for path in news.unknowns if path[0] == "members" and len(path) > 1}
        known = not any(path[0] == "patches" for path in news.unknowns)
        uids, waiting = olds.get("uids") or {}, olds.get("waiting") or ()
        if request.preview and self._is_out_of_reach(news, request.urn):
            return self._outputs(wanted, dict.fromkeys(wanted.members, UNKNOWN) | uids, waiting)
        with _masked(news, recorded):
            session = self._session(olds, request.urn)
            before = Recorded(ObjectSet.of(recorded.plain), uids, waiting) if recorded.plain else None
            change = Change(session, wanted, urn=request.urn, recorded=before, tell=self._tell(request.urn))
            result = change.preview(unknown, patches_known=known) if request.preview else change.run(_timeout(request))
        self._log(wanted, result, request.urn)
        if result.problems:
            self._fail(wanted, news, recorded, result)
        return self._outputs(wanted, result.uids, result.waiting)

    def _fail(self, wanted: ObjectSet, news: Properties, recorded: Properties, result: Result) -> None:
        """Report a partial change; the uids identify the members that match their record."""
        secrets = news.secret_texts() | recorded.secret_texts()
        message = f"ObjectSet {wanted.id}: {len(result.problems)} problem(s); the next run continues from here"
        raise InitFailed(
            message,
            reasons=[mask(problem, secrets) for problem in result.problems],
            id_=wanted.id,
            properties=self._outputs(wanted, result.uids, result.waiting),
        )

    def _session(self, olds: Mapping[str, Any], urn: str) -> Session:
        """Connect, and verify that the cluster is the recorded cluster of the set.

        Raises:
            ProviderError: It is another cluster, in which all members would seem to be missing.
        """
        with self._connecting:
            if self._connected is None:
                if self._config is None:
                    msg = "the provider's kubeconfig is not known yet; use a path that does not change"
                    raise ProviderError(msg)
                self._connected = Session(self._config.connect(), self._workers, self._announced, self._taking)
            self._cluster = self._cluster or self._connected.cluster_uid()
        recorded = olds.get("cluster")
        if recorded and recorded is not UNKNOWN and recorded != self._cluster:
            msg = (
                f"{self._connected.api.server} is not the cluster to which this set was applied (the uid of namespace "
                f"kube-system was {recorded} and is {self._cluster}); point the kubeconfig to that cluster, or, if it "
                f"no longer exists, remove the set from the state: pulumi state delete '{urn}'"
            )
            raise ProviderError(msg)
        return self._connected

    def _outputs(self, wanted: ObjectSet, uids: Mapping[str, Any], waiting: Collection[str] = ()) -> Struct:
        place = {"setName": wanted.name, "namespace": wanted.namespace, "cluster": self._cluster or UNKNOWN}
        return encode({**place, "uids": uids, **({"waiting": list(waiting)} if waiting else {})})

    def _tell(self, urn: str) -> Tell:
        return lambda line: self._engine.info(line, urn, ephemeral=True)

    def _is_out_of_reach(self, news: Properties, urn: str) -> bool:
        """Return whether a preview cannot query the cluster, which is normal before the cluster exists."""
        if UNKNOWN in (news.plain.get("setName"), news.plain.get("namespace"), news.plain.get("members")):
            return True
        try:
            if self._config is not None:
                self._session({}, urn)
                return False
            reason = "the kubeconfig is not known yet"
        except (KubeconfigError, Unreachable) as error:
            reason = str(error)
        wanted = ObjectSet.of(news.plain)
        self._engine.warning(f"{len(wanted.members) + len(wanted.targets())} objects not checked: {reason}", urn)
        return True

    def _log(self, wanted: ObjectSet, result: Result, urn: str) -> None:
        self._warn_of_strays(result.left_alone, urn)
        if result.unchecked:
            count = f"{result.unchecked} of {len(wanted.members)} objects"
            self._engine.info(f"{count} not checked: their kind or namespace does not exist yet", urn)
        if result.waiting and not result.problems:
            self._engine.info(_awaited(result.waiting), urn)
        if result.handed_over:
            self._engine.info(f"handed over unchanged: {', '.join(result.handed_over)}", urn)
        if result.taken:
            self._engine.warning(f"fields taken over with {TAKE_FIELDS_FROM}: {', '.join(result.taken)}", urn)

    def _warn_of_strays(self, strays: Iterable[str], urn: str) -> None:
        if names := ", ".join(strays):
            reason = "removed from the set, but not deleted because they lack its marks"
            self._engine.warning(f"{reason}: {names}; delete them manually", urn)


def _awaited(objects: Sequence[str]) -> str:
    more = f" and {len(objects) - _NAMED} more" if len(objects) > _NAMED else ""
    first = ", ".join(objects[:_NAMED])
    return f"{len(objects)} objects of other controllers cannot be patched yet; the next up patches them: {first}{more}"


def _timeout(request: provider_pb2.CreateRequest | provider_pb2.UpdateRequest | provider_pb2.DeleteRequest) -> float:
    return request.timeout or TIMEOUT_SECONDS


@contextmanager
def _masked(*properties: Properties) -> Iterator[None]:
    """Mask secrets in errors, because API servers quote rejected values."""
    try:
        yield
    except ProviderError as error:
        text = str(error)
        for known in properties:
            text = known.mask(text)
        raise ProviderError(text) from None
