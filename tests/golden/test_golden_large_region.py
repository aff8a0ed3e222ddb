"""The large region: a line for each object, a file for each slice, and whole objects of a few.

A change of what is rendered shows in the lines of the objects it touches and, in full, in the chosen objects. Hosts
have a line for each rack and kind: those of a rack differ in identity only, and are applied as one resource.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from environment_data import ENVIRONMENTS
from golden import UPDATE, assert_reviewed, documents, line, short_digest

from components.inputs.manifests import manifests
from components.inputs.slice_inputs import inputs
from components.lookups.slices import Slice, slices
from components.render.concept import Concept
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import Manifest, Rendered, objects
from components.render.network.tenant_network import TenantNetworkInput
from components.render.pools.node_pool import NodePoolInput
from components.render.region.region import RegionInput
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment

NAME = "us-east-04a"
FOLDER = Path(__file__).parent / NAME
OBJECTS = FOLDER / "objects"
PARTS = [part.name for part in slices(load_environment(NAME, ENVIRONMENTS))]
CHOSEN: dict[str, tuple[type[Concept], str]] = {
    "foundation": (RegionInput, NAME),
    "vpc": (TenantNetworkInput, "aurelia"),
    "partition": (TenantNetworkInput, "aurelia-train-aurelia"),
    "hosted_control_plane": (HostedControlPlaneInput, "borealis-train"),
    "hgx_group": (NodePoolInput, "borealis-train-h100"),
    "nvl72_group": (NodePoolInput, "aurelia-train-nvl72"),
}
"""By golden file: what is shown whole, by its kind and name; of a pool the first rollout group."""


@pytest.fixture(scope="module")
def region() -> Environment:
    return load_environment(NAME, ENVIRONMENTS)


def lines(item: Rendered) -> Iterator[str]:
    """Yield what a resource is: an object, or for each kind of a set how many there are."""
    if isinstance(item, Manifest):
        yield line(item)
        return
    by_kind = defaultdict(list)
    for member in objects((item,)):
        by_kind[member.kind].append(member)
    for kind, members in by_kind.items():
        yield f"{item.cluster} {item.namespace}/{item.name}: {len(members)} {kind} {short_digest(members)}"


def listing(region: Environment, part: Slice) -> str:
    """Return what ``part`` has in numbers, and its objects in the order they are applied."""
    rendered = manifests(region, part)
    head = f"# {len(rendered) + len(inputs(region, part))} resources, {sum(1 for _ in objects(rendered))} objects"
    return "\n".join([head, *chain.from_iterable(map(lines, rendered)), ""])


@pytest.mark.parametrize("name", PARTS)
def test_a_slice_of_the_large_region_has_the_objects_that_were_reviewed(region: Environment, name: str) -> None:
    [part] = [part for part in slices(region) if part.name == name]

    assert_reviewed(OBJECTS / f"{name}.txt", listing(region, part))


def test_what_changed_is_told_by_the_lines_that_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(UPDATE, raising=False)
    metadata = {"name": "config", "namespace": "acme"}
    before, after = (
        line(Manifest(body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": value}}))
        for value in ("1", "2")
    )
    file = tmp_path / "slice.txt"
    file.write_text(f"first\n{before}\nlast\n")

    with pytest.raises(pytest.fail.Exception) as failure:
        assert_reviewed(file, f"first\n{after}\nlast\n")

    assert str(failure.value).splitlines()[1:] == [
        "--- reviewed",
        "+++ rendered",
        "@@ -2 +2 @@",
        f"-{before}",
        f"+{after}",
    ]
    assert before.startswith("management ConfigMap acme/config ")


@pytest.mark.parametrize("file", CHOSEN)
def test_chosen_objects_of_the_large_region_are_what_was_reviewed(region: Environment, file: str) -> None:
    kind, name = CHOSEN[file]
    every = [item for part in slices(region) for item in inputs(region, part)]
    [concept] = [item for item in every if isinstance(item, kind) and item.name == name]
    if isinstance(concept, NodePoolInput):
        concept = replace(concept, groups=concept.groups[:1])

    assert_reviewed(FOLDER / f"{file}.yaml", documents(objects(concept.render())))


def test_there_is_no_golden_file_without_a_test() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {OBJECTS.name, *(f"{file}.yaml" for file in CHOSEN)}
    assert sorted(path.stem for path in OBJECTS.iterdir()) == sorted(PARTS)
