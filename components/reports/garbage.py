"""Retained templates, and the objects that still refer to these templates.

A template is retained in its cluster when its MachineDeployment refers to a newer template, because MachineSets of
older nodes still create Machines from the old template. A template without any reference from a MachineSet, a
MachineDeployment or the data stays unused, because its name is the digest of its content.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.inputs.manifests import manifests
from components.lookups.slices import SliceKind, slices
from components.render import labels as keys
from components.render.backends import BARE_METAL, CONTROL_PLANES
from components.render.manifest import Manifest
from components.render.pools.metal3 import DATA_TEMPLATE
from components.specs.environment import Environment
from components.specs.struct import Struct

Json = Mapping[str, Any]
USERS = (("cluster.x-k8s.io/v1beta2", "MachineDeployment"), ("cluster.x-k8s.io/v1beta2", "MachineSet"))
"""Kinds of objects that refer to templates by name."""


class Template(Struct, order=True):
    """Template in a cluster; it may be deleted if nothing uses it."""

    namespace: str
    kind: str
    name: str
    api_version: str
    uid: str
    resource_version: str
    used_by: tuple[str, ...]
    """User of the template: ``MachineSet <name>``, or ``the data``; empty for an unused template."""
    image: str
    """Golden image, from a label of the template."""

    def __str__(self) -> str:
        """Return kind, namespace and name."""
        return f"{self.kind} {self.namespace}/{self.name}"


def template_kinds(environment: Environment) -> tuple[tuple[str, str], ...]:
    """Return API version and kind of the templates retained for pools and rollout groups of ``environment``."""
    region = environment.region
    metal, control_planes = BARE_METAL[region.bare_metal.backend], CONTROL_PLANES[region.control_planes.backend]
    return (*filter(None, [metal.machine_template, metal.data_template]), control_planes.bootstrap_template)


def judged(environment: Environment, templates: Iterable[Json], users: Iterable[Json]) -> list[Template]:
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
    return sorted(_template(body, used) for body in templates if _is_ours(body))


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


def _is_ours(body: Json) -> bool:
    labels = body["metadata"].get("labels") or {}
    is_going = body["metadata"].get("deletionTimestamp") is not None
    of_pool = not labels.keys().isdisjoint((keys.GROUP, keys.POOL))
    return labels.get(keys.MANAGED_BY) == keys.FIELD_MANAGER and of_pool and not is_going


def _template(body: Json, used: Mapping[tuple[str, str, str], set[str]]) -> Template:
    metadata = body["metadata"]
    namespace, kind, name = metadata["namespace"], body["kind"], metadata["name"]
    return Template(
        namespace=namespace,
        kind=kind,
        name=name,
        api_version=body["apiVersion"],
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
        used_by=tuple(sorted(used.get((namespace, kind, name), ()))),
        image=metadata["labels"].get(keys.IMAGE, ""),
    )
