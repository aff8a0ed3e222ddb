"""Components that the provider itself makes: one resource for each object, in order, below the component's.

Names, types and parents of the resources are the vendor's, so that either plug-in goes on where the other ended.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from typing import Any

import grpc

from jacquard.lab.standins.kubernetes.cluster import Cluster
from jacquard.lab.standins.kubernetes.objects.bodies import secret_paths
from jacquard.lab.standins.kubernetes.objects.gathering import DIRECTORY, complete, gather
from jacquard.lab.standins.kubernetes.objects.ordering import DEFINITION, Key, brought, dependencies, key
from jacquard.lab.standins.kubernetes.waits import SKIP_AWAIT
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import KindNotFound
from jacquard.providers.rpc.paths import Path
from jacquard.providers.rpc.server import MESSAGE_BYTES, Engine
from jacquard.providers.rpc.stubs import provider_pb2, resource_pb2, resource_pb2_grpc
from jacquard.providers.rpc.values import RESOURCE, SIGNATURE, UNKNOWN, decode, encode

_PACKAGE = "kubernetes"
_PASSED_ON = (
    "parent",
    "protect",
    "dependencies",
    "providers",
    "aliases",
    "deletedWith",
    "retainOnDelete",
    "ignoreChanges",
    "replaceOnChanges",
    "additionalSecretOutputs",
)
"""Options of the component that its registration has under the same name."""
_UNREADABLE = frozenset({"apiVersion", "kind", "metadata"})

_Register = Callable[[resource_pb2.RegisterResourceRequest], resource_pb2.RegisterResourceResponse]


def construct(
    request: provider_pb2.ConstructRequest, cluster: Cluster, engine: Engine
) -> provider_pb2.ConstructResponse:
    """Register a component and every object that its inputs name.

    Args:
        request: of a type in `gathering.TYPES`.
        cluster: tells which kinds live in namespaces, and the namespace of what names none.
        engine: is told what a preview cannot know.

    Raises:
        ProviderError: the inputs cannot be read, or an object could not be made.
    """
    options = [("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)]
    with grpc.insecure_channel(request.monitorEndpoint, options=options) as channel:
        register = resource_pb2_grpc.ResourceMonitorStub(channel).RegisterResource
        urn = register(_component(request)).urn
        given = decode(request.inputs)
        if given.unknowns:
            engine.warning("what it holds is known only after the apply; this preview lacks its objects", urn)
            return _answer(urn, UNKNOWN)
        objects = _objects(request, given.plain, cluster, engine, urn)
        children = _Children(request, given.plain, urn, are_secret=bool(given.secrets))
        made = _register_in_order(objects, children.request_of, register, at_once=max(request.parallel, 1))
    return _answer(urn, [_reference(one) for one in made])


def _component(request: provider_pb2.ConstructRequest) -> resource_pb2.RegisterResourceRequest:
    passed_on = {field.name: value for field, value in request.ListFields() if field.name in _PASSED_ON}
    hooks = resource_pb2.RegisterResourceRequest.ResourceHooksBinding
    return resource_pb2.RegisterResourceRequest(
        type=request.type,
        name=request.name,
        acceptSecrets=True,
        acceptResources=True,
        aliasSpecs=True,
        hooks=hooks.FromString(request.resource_hooks.SerializeToString()),  # two messages of one form
        parentStackTraceHandle=request.stack_trace_handle,
        **passed_on,
    )


def _objects(
    request: provider_pb2.ConstructRequest, given: Mapping[str, Any], cluster: Cluster, engine: Engine, urn: str
) -> list[dict[str, Any]]:
    found = gather(request.type, given)
    api = cluster.api()
    scopes = {
        brought(one): (one.get("spec") or {}).get("scope") == "Namespaced" for one in found if one["kind"] == DEFINITION
    }

    def is_namespaced(api_version: str, kind: str) -> bool | None:
        group = api_version.rpartition("/")[0]
        if (group, kind) in scopes:
            return scopes[group, kind]
        try:
            return bool(api.resource(api_version, kind).namespaced)
        except KindNotFound:
            return None

    own = given.get("namespace") if request.type == DIRECTORY else None
    objects, unknown = complete(found, own or api.namespace, is_namespaced)
    if unknown:
        engine.warning(f"nobody serves {', '.join(unknown)} yet: where no namespace is given, none is", urn)
    return objects


class _Children:
    """What the resources of a component's objects have in common."""

    def __init__(
        self, request: provider_pb2.ConstructRequest, given: Mapping[str, Any], parent: str, *, are_secret: bool
    ) -> None:
        self._prefix = given.get("resourcePrefix", request.name)
        self._skip_await = bool(given.get("skipAwait"))
        self._provider = request.providers.get(_PACKAGE, "")
        self._parent = parent
        self._are_secret = are_secret

    def request_of(self, obj: dict[str, Any], after: list[str]) -> resource_pb2.RegisterResourceRequest:
        """Return how an object is registered after the resources ``after``."""
        if self._skip_await:
            metadata = obj["metadata"]
            annotations = {**(metadata.get("annotations") or {}), SKIP_AWAIT: "true"}
            obj = {**obj, "metadata": {**metadata, "annotations": annotations}}
        name = "/".join(filter(None, (obj["metadata"].get("namespace"), obj["metadata"]["name"])))
        version = obj["apiVersion"]
        return resource_pb2.RegisterResourceRequest(
            type=f"{_PACKAGE}:{version if '/' in version else f'core/{version}'}:{obj['kind']}",
            name=f"{self._prefix}:{name}" if self._prefix else name,
            parent=self._parent,
            custom=True,
            object=encode(obj, secret_paths(obj, self._secrets(obj))),
            dependencies=after,
            provider=self._provider,
            acceptSecrets=True,
            acceptResources=True,
            supportsPartialValues=True,
            aliasSpecs=True,
        )

    def _secrets(self, obj: Mapping[str, Any]) -> list[Path]:
        """Return all but what names the object, where some input was secret: nobody can tell what came of it."""
        return [(section,) for section in obj if section not in _UNREADABLE] if self._are_secret else []


def _register_in_order(
    objects: list[dict[str, Any]],
    request_of: Callable[[dict[str, Any], list[str]], resource_pb2.RegisterResourceRequest],
    register: _Register,
    *,
    at_once: int,
) -> list[resource_pb2.RegisterResourceResponse]:
    """Register each object when those before it are made, and return the answers in the order of the objects.

    Raises:
        ProviderError: one could not be made; what depends on it was not tried.
    """
    before = dependencies(objects)
    bodies = {key(one): one for one in objects}
    made: dict[Key, resource_pb2.RegisterResourceResponse] = {}
    running: dict[Future[resource_pb2.RegisterResourceResponse], Key] = {}
    sorter = TopologicalSorter(before)
    sorter.prepare()
    with ThreadPoolExecutor(at_once) as pool:
        while sorter.is_active():
            for name in sorter.get_ready():
                after = sorted(made[other].urn for other in before[name])
                running[pool.submit(register, request_of(bodies[name], after))] = name
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                name = running.pop(future)
                try:
                    made[name] = future.result()
                except grpc.RpcError as error:
                    msg = f"{name} was not made: {error.details()}"
                    raise ProviderError(msg) from None
                sorter.done(name)
    return [made[name] for name in bodies]


def _reference(made: resource_pb2.RegisterResourceResponse) -> dict[str, Any]:
    return {SIGNATURE: RESOURCE, "urn": made.urn, "id": made.id or UNKNOWN, "packageVersion": ""}


def _answer(urn: str, resources: object) -> provider_pb2.ConstructResponse:
    return provider_pb2.ConstructResponse(urn=urn, state=encode({"resources": resources}))
