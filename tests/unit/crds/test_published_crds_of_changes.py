"""The table of effects marks every immutable field of published kinds as rejected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from components.inputs.manifests import manifests
from components.lookups.effects.effect import Effect
from components.lookups.effects.table import effects_table
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.network.tenant_network import Isolation
from components.specs.reading.loader import load_environment
from components.specs.region.region import ControlPlaneBackend
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.second_backends import with_backends
from tests.support.objects.published_crds import BUILT_IN, CrdFolder

Path = tuple[str, ...]
_FIELD = re.compile(r"oldSelf\.(\w+)")


def immutable(schema: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """Yield the paths of ``schema`` whose rules compare a value with the previous one."""
    for rule in schema.get("x-kubernetes-validations", ()):
        text = rule["rule"]
        if "oldSelf" in text and "==" in text:
            yield from sorted({(*path, name) for name in _FIELD.findall(text)}) or [path]
    for key, inner in schema.get("properties", {}).items():
        yield from immutable(inner, (*path, key))


def has(body: Any, path: Path) -> bool:
    return not path or (isinstance(body, Mapping) and path[0] in body and has(body[path[0]], path[1:]))


def custom(environments: Iterable[Environment]) -> Iterator[Manifest]:
    for environment in environments:
        for part in slices(environment):
            yield from (one for one in objects(manifests(environment, part)) if one.api_version not in BUILT_IN)


def test_immutable_fields_of_rendered_kinds_are_marked_as_rejected() -> None:
    folder, laptop = CrdFolder(), load_environment("laptop", ENVIRONMENTS)
    backends = zip(ControlPlaneBackend, BareMetalBackend, strict=False)
    chosen = [
        with_backends(laptop, control_planes=planes, bare_metal=metal, isolation=isolation, data_store="dedicated")
        for (planes, metal), isolation in product(backends, Isolation)
    ]
    effects: dict[str, Effect | None] = {}
    for item in custom((laptop, *chosen)):
        group, _, version = item.api_version.partition("/")
        served = folder.definition(group, item.kind)["spec"]["versions"]
        [schema] = (one["schema"]["openAPIV3Schema"] for one in served if one["name"] == version)
        for path in immutable(schema):
            if has(item.body, path):
                row = effects_table().row(f"{group}/{item.kind}", path)
                effects[f"{item.kind} {'.'.join(path)}"] = row and row.effect

    assert {path: effect for path, effect in effects.items() if effect is not Effect.REFUSED} == {}
    assert effects.keys() >= IMMUTABLE


IMMUTABLE = {
    "BFB spec.url",
    "DPUDevice spec.serialNumber",
    "DPUFlavor spec",
    "DPUServiceInterface spec.template.spec.template.spec.pf.virtualNetwork",
    "DPUVPC spec.tenant",
    "DPUVirtualNetwork spec",
    "IsolationClass spec.provisioner",
}
"""Known examples, which must be found; otherwise the test does not parse rules."""
