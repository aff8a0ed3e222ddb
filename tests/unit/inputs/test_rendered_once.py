"""Each input of a slice is rendered once, for any number of uses of its objects."""

from __future__ import annotations

import pytest

from components.inputs.manifests import manifests
from components.inputs.slice_inputs import made
from components.lookups.slices import slices
from components.render.pools.node_pool import NodePoolInput
from components.specs.environment import Environment
from tests.support.data.external_store import with_store


def test_an_input_is_rendered_once_for_all_its_readers(region: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[str] = []
    render = NodePoolInput.render

    def counted(pool: NodePoolInput) -> object:
        rendered.append(pool.name)
        return render(pool)

    monkeypatch.setattr(NodePoolInput, "render", counted)
    for part in slices(with_store(region)):
        inputs = made(with_store(region), part)
        for one in (*inputs, *inputs):
            assert one.rendered is one.rendered

    assert len(rendered) == len(set(rendered)) > 1


def test_inputs_that_nothing_reads_are_not_rendered(region: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NodePoolInput, "render", lambda _: pytest.fail("rendered"))

    assert [part.name for part in slices(region) if made(region, part)]


def test_objects_of_a_slice_are_those_of_its_inputs(region: Environment) -> None:
    for part in slices(region):
        assert manifests(region, part) == tuple(item for one in made(region, part) for item in one.rendered)
