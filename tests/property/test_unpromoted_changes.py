"""Only a promotion replaces nodes or flashes DPUs, for any change of data or of defaults.

Every leaf of every data file is changed, one at a time: either ``check`` rejects the change, or the fields that define
a node or a DPU are unchanged in every object. The lock files are never changed.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.rules.checks import check
from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.pools.intents import DpuIntent, NodeIntent
from components.specs.reading.loader import load_environment
from components.specs.reading.problems import SpecError
from tests.support.data.environment_data import REFERENCES, STARTER, copy_data
from tests.support.data.leaf_edits import Edit, Leaves

SAMPLED = {"laptop": (200, 30), "lab": (60, 10), "eu-south-03a": (25, 5), "us-east-04a": (8, 2), STARTER: (20, 5)}
"""Number of YAML leaves and inventory cells that the regular suite changes, by region."""
EVERY = {
    "laptop": (None, 600),
    "lab": (None, 200),
    "eu-south-03a": (None, 300),
    "us-east-04a": (1, 100),
    STARTER: (None, 200),
}
"""Changes of each YAML leaf in nightly runs (None: all plausible values), and of inventory cells.

Rows of an inventory are alike, and there are 110,000 changes of cells. The 1,500 leaves of us-east-04a have 6,500
changes of a second each, so nightly runs draw a new one for each leaf.
"""
PARTS = {"us-east-04a": 4}
"""Number of parallel parts of the changes of a region (default: one)."""
SEED = 20261122
MOST_REFUSED = 0.9
"""Maximum share of rejected edits: if nearly all are rejected, the test proves nothing."""
JOINS = {
    "KamajiControlPlane": ("kubelet",),
    "K0smotronControlPlane": ("k0sConfig", "spec", "workerProfiles"),
}


def nodes(environment: Environment) -> dict[str, Any]:
    """Return the fields that define a node, its registration or a DPU's flashing, by object."""
    every = (item for part in slices(environment) for item in objects(manifests(environment, part)))
    return {item.key: value for item in every for value in _decided(item)}


def _decided(item: Manifest) -> Iterator[Any]:
    spec: Any = item.body.get("spec")
    match item.kind:
        case "MachineDeployment":
            made = spec["template"]["spec"]
            fields = ("version", "failureDomain", "bootstrap", "infrastructureRef")
            yield {**{name: made.get(name) for name in fields}, "after": spec["rollout"].get("after")}
        case "DPUDeployment":
            yield {name: spec["dpus"].get(name) for name in ("bfb", "flavor", "secureBoot")}
        case "BFB" | "DPUFlavor" | "Metal3MachineTemplate" | "KubeadmConfigTemplate":
            yield spec
        case (
            "IroncoreMetalMachineTemplate"
            | "K0sWorkerConfigTemplate"
            | "HostFirmwareSettings"
            | "HostFirmwareComponents"
        ):
            yield spec
        case kind if kind in JOINS:
            for step in JOINS[kind]:
                spec = (spec or {}).get(step)
            yield spec
        case _:
            return


def moved_by(folder: Path, region: str, leaves: Leaves, edits: Iterable[Edit]) -> tuple[list[str], int, int]:
    """Return the edits that changed a field without a rejection, the number of rejected ones, and the total."""
    before, moved, refused, count = nodes(load_environment(region, folder)), [], 0, 0
    for edit in edits:
        leaves.apply(edit)
        count += 1
        try:
            environment = load_environment(region, folder)
            if check(environment):
                refused += 1
            elif nodes(environment) != before:
                moved.append(str(edit))
        except SpecError:
            refused += 1
        finally:
            leaves.restore(edit)
    return moved, refused, count


def of_each_leaf(edits: Iterable[Edit], most: int | None) -> list[Edit]:
    """Return up to ``most`` random changes of each leaf; a failure names the drawn changes."""
    leaves = defaultdict[tuple[Path, Any], list[Edit]](list)
    for edit in edits:
        leaves[edit.file, edit.path].append(edit)
    return [edit for found in leaves.values() for edit in random.sample(found, min(most or len(found), len(found)))]


def sample(edits: Iterable[Edit], most: int) -> list[Edit]:
    every = list(edits)
    return random.Random(SEED).sample(every, min(most, len(every)))  # noqa: S311 - no secret is drawn


@pytest.fixture
def folder(tmp_path: Path, region: str) -> Path:
    return copy_data(tmp_path / "environments", region)


@pytest.mark.parametrize("region", REFERENCES)
def test_no_change_of_data_moves_a_node_or_a_dpu(folder: Path, region: str) -> None:
    leaves = Leaves(folder, region)
    leaves.rewrite()
    assert check(load_environment(region, folder)) == []
    in_files, in_tables = SAMPLED[region]

    edits = [*sample(leaves.edits(), in_files), *sample(leaves.cells(), in_tables)]
    moved, refused, count = moved_by(folder, region, leaves, edits)

    assert moved == []
    assert refused <= count * MOST_REFUSED


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("region", "part"), [(region, part) for region in REFERENCES for part in range(PARTS.get(region, 1))]
)
def test_no_change_of_any_leaf_moves_a_node_or_a_dpu(folder: Path, region: str, part: int) -> None:
    leaves = Leaves(folder, region)
    leaves.rewrite()
    of_leaf, in_tables = EVERY[region]

    every = [*of_each_leaf(leaves.edits(), of_leaf), *sample(leaves.cells(), in_tables)]
    edits = every[part :: PARTS.get(region, 1)]
    moved, refused, count = moved_by(folder, region, leaves, edits)

    assert moved == []
    assert refused <= count * MOST_REFUSED


def test_a_relevant_change_is_detected(tmp_path: Path) -> None:
    """A promotion must be detected; otherwise the comparison is ineffective."""
    folder = copy_data(tmp_path / "environments", "laptop")
    environment = load_environment("laptop", folder)
    pins = environment.image_pins
    intents = {name: intent.model_copy(update={"taints": ()}) for name, intent in pins.intents.items()}
    dpus = {name: intent.model_copy(update={"mtu_bytes": 1500}) for name, intent in pins.dpu_intents.items()}

    nodes_moved = environment.model_copy(update={"image_pins": pins.model_copy(update={"intents": intents})})
    dpus_moved = environment.model_copy(update={"image_pins": pins.model_copy(update={"dpu_intents": dpus})})

    assert nodes(nodes_moved) != nodes(environment)
    assert nodes(dpus_moved) != nodes(environment)


@pytest.mark.parametrize("region", ["laptop", "eu-south-03a"])
def test_no_change_of_a_default_moves_a_node_or_a_dpu(region: str, tmp_path: Path) -> None:
    environment = load_environment(region, copy_data(tmp_path / "environments", region))
    before, seen = nodes(environment), 0

    for model, name, value in defaults(environment):
        other = with_default(environment, model, name, value)
        if other is environment:
            continue
        seen += 1
        try:
            assert check(other) or nodes(other) == before, f"{model.__name__}.{name} = {value}"
        except SpecError:
            continue

    assert seen > 40


def test_intents_have_no_default_but_nothing() -> None:
    for model in (NodeIntent, DpuIntent):
        given = {name: field.get_default(call_default_factory=True) for name, field in _optional(model)}
        assert [name for name, value in given.items() if value not in (None, (), {})] == []


def _optional(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    return [(name, field) for name, field in model.model_fields.items() if not field.is_required()]


def defaults(environment: Environment) -> Iterator[tuple[type[BaseModel], str, Any]]:
    """Yield other values for the defaults of all models with instances in the data of ``environment``."""
    models = {type(spec) for spec in _specs(environment)} - {
        Environment,
        AllocationsLock,
        ImagesLock,
        NodeIntent,
        DpuIntent,
    }
    for model in sorted(models, key=lambda model: model.__name__):
        for name, field in _optional(model):
            for other in _others(field.get_default(call_default_factory=True)):
                yield model, name, other


def _others(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value * 2)
        case str() if hasattr(type(value), "__members__"):
            yield from (member for member in type(value) if member is not value)  # type: ignore[attr-defined]
        case _:
            return


def _specs(value: Any) -> Iterator[BaseModel]:
    match value:
        case BaseModel():
            yield value
            for name in type(value).model_fields:
                yield from _specs(getattr(value, name))
        case dict():
            for inner in value.values():
                yield from _specs(inner)
        case tuple() | list():
            for inner in value:
                yield from _specs(inner)
        case _:
            return


def with_default(environment: Environment, model: type[BaseModel], name: str, value: Any) -> Environment:
    """Return ``environment`` with another default for ``name`` of ``model``; unchanged if it is not used."""
    changed: Environment = _redone(environment, model, name, value)
    return changed


def _redone(value: Any, model: type[BaseModel], name: str, default: Any) -> Any:
    match value:
        case BaseModel():
            inner = {key: getattr(value, key) for key in type(value).model_fields}
            update = {key: new for key, old in inner.items() if (new := _redone(old, model, name, default)) is not old}
            if type(value) is model and name not in value.model_fields_set:
                update[name] = default
            return value.model_copy(update=update) if update else value
        case dict():
            redone = {key: _redone(inner, model, name, default) for key, inner in value.items()}
            return redone if any(redone[key] is not inner for key, inner in value.items()) else value
        case tuple():
            items = tuple(_redone(inner, model, name, default) for inner in value)
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        case _:
            return value
