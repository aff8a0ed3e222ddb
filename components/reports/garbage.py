"""Retained templates and golden volumes, and the objects that still refer to these templates.

A template is retained in its cluster when its MachineDeployment refers to a newer template, because MachineSets of
older nodes still create Machines from the old template. A template without any reference from a MachineSet, a
MachineDeployment or the data stays unused, because its name is the digest of its content.

The golden volume of an earlier image version is retained, because machines that were not restarted still read it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.inputs.manifests import manifests
from components.lookups.slices import SliceKind, slices
from components.render import labels as keys
from components.render.backends import BARE_METAL, CONTROL_PLANES
from components.render.manifest import MANAGEMENT, Manifest
from components.render.pools.metal3 import DATA_TEMPLATE
from components.render.vms.vm_images import GOLDEN
from components.specs.environment import Environment
from components.specs.struct import Struct

Json = Mapping[str, Any]
USERS = (("cluster.x-k8s.io/v1beta2", "MachineDeployment"), ("cluster.x-k8s.io/v1beta2", "MachineSet"))
"""Kinds of objects that refer to templates by name."""


class Retained(Struct, order=True):
    """Template or golden volume in a cluster; it may be deleted if nothing uses it."""

    cluster: str
    namespace: str
    kind: str
    name: str
    api_version: str
    uid: str
    resource_version: str
    used_by: tuple[str, ...]
    """Users of the object: ``MachineSet <name>``, or ``the data``; empty for an unused object."""
    image: str = ""
    """Golden image, from a label of a template; empty for a golden volume, which has the version in its name."""

    def __str__(self) -> str:
        """Return kind, namespace and name, with the tenant's cluster."""
        place = "" if self.cluster == MANAGEMENT else f" in {self.cluster}"
        return f"{self.kind} {self.namespace}/{self.name}{place}"

    @classmethod
    def of(cls, cluster: str, body: Json, used_by: Iterable[str], image: str = "") -> "Retained":
        """Return an object of ``cluster`` with its users."""
        metadata = body["metadata"]
        return cls(
            cluster=cluster,
            namespace=metadata["namespace"],
            kind=body["kind"],
            name=metadata["name"],
            api_version=body["apiVersion"],
            uid=metadata["uid"],
            resource_version=metadata["resourceVersion"],
            used_by=tuple(used_by),
            image=image,
        )


def template_kinds(environment: Environment) -> tuple[tuple[str, str], ...]:
    """Return API version and kind of the templates retained for pools and rollout groups of ``environment``."""
    region = environment.region
    metal, control_planes = BARE_METAL[region.bare_metal.backend], CONTROL_PLANES[region.control_planes.backend]
    return (*filter(None, [metal.machine_template, metal.data_template]), control_planes.bootstrap_template)


def judged(environment: Environment, templates: Iterable[Json], users: Iterable[Json]) -> list[Retained]:
    """Return the templates that Jacquard created, sorted, each with its user.

    Args:
        environment: environment whose data may refer to templates that no object refers to yet.
        templates: objects of `template_kinds` in all namespaces.
        users: objects of `USERS`, read after the templates.
    """
    used: dict[tuple[str, str, str], set[str]] = {}
    templates = [*templates]
    for body in (*users, *templates):
        for key in _referred(body):
            used.setdefault(key, set()).add(f"{body['kind']} {body['metadata']['name']}")
    for item in _declared(environment):
        used.setdefault((item.namespace or "", item.kind, item.name), set()).add("the data")
    return sorted(_template(body, used) for body in templates if is_managed(body) and _is_of_pool(body))


def golden_volumes(environment: Environment, cluster: str) -> frozenset[str]:
    """Return the names of the golden volumes that the data of ``cluster`` declare."""
    [part] = (part for part in slices(environment) if part.kind is SliceKind.CLUSTER and part.subject == cluster)
    return frozenset(
        item.name for item in manifests(environment, part) if isinstance(item, Manifest) and is_golden(item.body)
    )


def is_golden(body: Json) -> bool:
    """Return whether a DataVolume is a golden volume."""
    return GOLDEN in (body["metadata"].get("annotations") or {})


def is_managed(body: Json) -> bool:
    """Return whether Jacquard created an object that is not being deleted."""
    metadata = body["metadata"]
    ours = (metadata.get("labels") or {}).get(keys.MANAGED_BY) == keys.FIELD_MANAGER
    return ours and metadata.get("deletionTimestamp") is None


def _referred(body: Json) -> Iterator[tuple[str, str, str]]:
    spec = body.get("spec", {}).get("template", {}).get("spec", {})
    for reference in (spec.get("infrastructureRef"), (spec.get("bootstrap") or {}).get("configRef")):
        if reference:
            yield body["metadata"]["namespace"], reference["kind"], reference["name"]
    if spec.get("dataTemplate"):
        yield body["metadata"]["namespace"], DATA_TEMPLATE[1], spec["dataTemplate"]["name"]


def _declared(environment: Environment) -> Iterator[Manifest]:
    for part in slices(environment):
        if part.kind is SliceKind.TENANT:
            yield from (item for item in manifests(environment, part) if isinstance(item, Manifest) and item.retain)


def _is_of_pool(body: Json) -> bool:
    return not body["metadata"]["labels"].keys().isdisjoint((keys.GROUP, keys.POOL))


def _template(body: Json, used: Mapping[tuple[str, str, str], set[str]]) -> Retained:
    metadata = body["metadata"]
    users = used.get((metadata["namespace"], body["kind"], metadata["name"]), ())
    return Retained.of(MANAGEMENT, body, sorted(users), metadata["labels"].get(keys.IMAGE, ""))
