"""Reads the declared objects of a region from its clusters, as policies judge them."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render import labels
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from components.specs.struct import Struct
from jacquard.observe.differing import set_by_hand
from jacquard.observe.objects import Object, key
from jacquard.observe.observation import connect
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer, KindNotFound, ObjectRef
from jacquard.providers.kube.overlay import seen

_WORKERS = 8
_MARK = f"{labels.MANAGED_BY}={labels.FIELD_MANAGER}"


class LiveObject(Struct):
    """A declared object as a cluster has it."""

    cluster: str
    body: Object
    """Declared fields with their live values, and fields that a person set by hand. Values that a controller or the
    API server adds are omitted, because they are not part of a declaration."""


class LiveObjects(Struct):
    """Declared objects that exist in the clusters of a region."""

    objects: tuple[LiveObject, ...] = ()
    unread: tuple[str, ...] = ()
    """Clusters and kinds that could not be read, each with the reason."""


def live_objects(
    environment: Environment,
    kinds: Container[str],
    connect: Callable[[Environment, str], ApiServer] = connect,
) -> LiveObjects:
    """Return the declared objects of ``kinds`` from all clusters that have such objects, in order of declaration."""
    declared: dict[str, list[Manifest]] = defaultdict(list)
    for piece in slices(environment):
        for manifest in objects(manifests(environment, piece)):
            if manifest.kind in kinds:
                declared[manifest.cluster].append(manifest)

    def read(cluster: str) -> LiveObjects:
        try:
            return _read(cluster, connect(environment, cluster), declared[cluster])
        except (ProviderError, OSError) as error:
            return LiveObjects(unread=(f"cluster {cluster}: {error}",))

    with ThreadPoolExecutor(_WORKERS) as workers:
        answers = list(workers.map(read, declared))
    return LiveObjects(
        objects=tuple(item for answer in answers for item in answer.objects),
        unread=tuple(text for answer in answers for text in answer.unread),
    )


def as_judged(declared: Object, live: Object) -> Object:
    """Return the declared fields of ``live``, and the fields that a person set by hand."""
    body = seen(declared, live)
    for path, value in set_by_hand(declared, live):
        body = _with(body, path, value)
    return body


def _read(cluster: str, api: ApiServer, declared: Sequence[Manifest]) -> LiveObjects:
    unread: list[str] = []

    def of_kind(wanted: list[Manifest]) -> Iterator[LiveObject]:
        first = wanted[0]
        try:
            listed = api.list(first.api_version, first.kind, label_selector=_MARK)
            marked = {key(body): body for body in listed}
            for manifest in wanted:
                body = marked.get((manifest.namespace or "", manifest.name)) or api.get(
                    ObjectRef(manifest.api_version, manifest.kind, manifest.name, manifest.namespace)
                )
                if body is not None:
                    yield LiveObject(cluster=cluster, body=as_judged(dict(manifest.body), body))
        except KindNotFound:
            return
        except ApiError as error:
            if error.status == 0:
                raise
            unread.append(f"cluster {cluster}, {first.kind}: {error}")

    by_kind: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for manifest in declared:
        by_kind[manifest.api_version, manifest.kind].append(manifest)
    found = tuple(item for wanted in by_kind.values() for item in of_kind(wanted))
    return LiveObjects(objects=found, unread=tuple(unread))


def _with(body: Object, path: Sequence[str | int], value: object) -> Object:
    """Return ``body`` with ``value`` at ``path``, whose steps are keys."""
    first, *rest = path
    inner = body.get(str(first))
    return {**body, str(first): _with(inner if isinstance(inner, dict) else {}, rest, value) if rest else value}
