"""Components that the provider expands into one child resource per object, registered in dependency order.

Names, types and parents of the resources match the vendor's provider, so that each plug-in can continue the other's
state.
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
"""Options with the same name in the Construct request and in the registration of a resource."""
_UNREADABLE = frozenset({"apiVersion", "kind", "metadata"})

_Register = Callable[[resource_pb2.RegisterResourceRequest], resource_pb2.RegisterResourceResponse]


def construct(
    request: provider_pb2.ConstructRequest, cluster: Cluster, engine: Engine
) -> provider_pb2.ConstructResponse:
    """Register a component and all objects of its inputs.

    Args:
        request: request for a type in `gathering.TYPES`.
        cluster: cluster that reports which kinds are namespaced, and the default namespace.
        engine: engine that shows the warnings of a preview.

    Raises:
        ProviderError: the inputs are invalid, or an object could not be created.
    """
    options = [("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)]
    with grpc.insecure_channel(request.monitorEndpoint, options=options) as channel:
        register = resource_pb2_grpc.ResourceMonitorStub(channel).RegisterResource
        urn = register(_component(request)).urn
        inputs = decode(request.inputs)
        if inputs.unknowns:
            engine.warning("its inputs are known only after the apply; this preview does not include its objects", urn)
            return _response(urn, UNKNOWN)
        objects = _objects(request, inputs.plain, cluster, engine, urn)
        children = _Children(request, inputs.plain, urn, are_secret=bool(inputs.secrets))
        resources = _register_in_order(objects, children.request_of, register, parallel=max(request.parallel, 1))
    return _response(urn, [_reference(resource) for resource in resources])


def _component(request: provider_pb2.ConstructRequest) -> resource_pb2.RegisterResourceRequest:
    passed_on = {field.name: value for field, value in request.ListFields() if field.name in _PASSED_ON}
    hooks = resource_pb2.RegisterResourceRequest.ResourceHooksBinding
    return resource_pb2.RegisterResourceRequest(
        type=request.type,
        name=request.name,
        acceptSecrets=True,
        acceptResources=True,
        aliasSpecs=True,
        hooks=hooks.FromString(request.resource_hooks.SerializeToString()),  # two messages with the same fields
        parentStackTraceHandle=request.stack_trace_handle,
        **passed_on,
    )


def _objects(
    request: provider_pb2.ConstructRequest, inputs: Mapping[str, Any], cluster: Cluster, engine: Engine, urn: str
) -> list[dict[str, Any]]:
    gathered = gather(request.type, inputs)
    api = cluster.api()
    scopes = {
        brought(obj): (obj.get("spec") or {}).get("scope") == "Namespaced"
        for obj in gathered
        if obj["kind"] == DEFINITION
    }

    def is_namespaced(api_version: str, kind: str) -> bool | None:
        group = api_version.rpartition("/")[0]
        if (group, kind) in scopes:
            return scopes[group, kind]
        try:
            return bool(api.resource(api_version, kind).namespaced)
        except KindNotFound:
            return None

    namespace = inputs.get("namespace") if request.type == DIRECTORY else None
    objects, unknown = complete(gathered, namespace or api.namespace, is_namespaced)
    if unknown:
        engine.warning(f"kinds not served yet: {', '.join(unknown)}; no default namespace is set on their objects", urn)
    return objects


class _Children:
    """Common options of the child resources of a component."""

    def __init__(
        self, request: provider_pb2.ConstructRequest, inputs: Mapping[str, Any], parent: str, *, are_secret: bool
    ) -> None:
        self._prefix = inputs.get("resourcePrefix", request.name)
        self._skip_await = bool(inputs.get("skipAwait"))
        self._provider = request.providers.get(_PACKAGE, "")
        self._parent = parent
        self._are_secret = are_secret

    def request_of(self, obj: dict[str, Any], after: list[str]) -> resource_pb2.RegisterResourceRequest:
        """Return the registration of an object that depends on the resources ``after`` (URNs)."""
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
        """Return all fields except the identity if any input was secret: its values cannot be traced into objects."""
        return [(section,) for section in obj if section not in _UNREADABLE] if self._are_secret else []


def _register_in_order(
    objects: list[dict[str, Any]],
    request_of: Callable[[dict[str, Any], list[str]], resource_pb2.RegisterResourceRequest],
    register: _Register,
    *,
    parallel: int,
) -> list[resource_pb2.RegisterResourceResponse]:
    """Register each object after its dependencies, and return the responses in the order of the objects.

    Raises:
        ProviderError: an object could not be created; its dependents were not registered.
    """
    before = dependencies(objects)
    bodies = {key(obj): obj for obj in objects}
    responses: dict[Key, resource_pb2.RegisterResourceResponse] = {}
    running: dict[Future[resource_pb2.RegisterResourceResponse], Key] = {}
    sorter = TopologicalSorter(before)
    sorter.prepare()
    with ThreadPoolExecutor(parallel) as pool:
        while sorter.is_active():
            for name in sorter.get_ready():
                after = sorted(responses[other].urn for other in before[name])
                running[pool.submit(register, request_of(bodies[name], after))] = name
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                name = running.pop(future)
                try:
                    responses[name] = future.result()
                except grpc.RpcError as error:
                    msg = f"{name} was not created: {error.details()}"
                    raise ProviderError(msg) from None
                sorter.done(name)
    return [responses[name] for name in bodies]


def _reference(resource: resource_pb2.RegisterResourceResponse) -> dict[str, Any]:
    return {SIGNATURE: RESOURCE, "urn": resource.urn, "id": resource.id or UNKNOWN, "packageVersion": ""}


def _response(urn: str, resources: object) -> provider_pb2.ConstructResponse:
    return provider_pb2.ConstructResponse(urn=urn, state=encode({"resources": resources}))
