"""Files of slurmctld: the lists of its Controller are mounted alike."""

from __future__ import annotations

from typing import Any

import pytest

from components.lookups.effects.changes import changes
from components.lookups.effects.effect import Effect
from components.render.manifest import Manifest
from jacquard.previews.impacts.machines import Machines
from jacquard.previews.impacts.refined import Refinement
from tests.support.data.environment_data import reference

FILE = [{"name": "slurm-prolog"}]


def controller(**lists: Any) -> Manifest:
    body = {
        "apiVersion": "slinky.slurm.net/v1beta1",
        "kind": "Controller",
        "metadata": {"name": "slurm", "namespace": "slurm"},
        "spec": lists,
    }
    return Manifest(body=body, cluster="meridian-train")


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ({"prologScriptRefs": FILE}, {"configFileRefs": FILE}, Effect.IN_PLACE),
        ({"configFileRefs": FILE}, {"epilogScriptRefs": FILE}, Effect.IN_PLACE),
        ({"configFileRefs": FILE}, {}, Effect.RESTARTED),
        ({}, {"configFileRefs": FILE}, Effect.RESTARTED),
        ({"configFileRefs": FILE}, {"configFileRefs": FILE, "prologScriptRefs": FILE}, Effect.RESTARTED),
    ],
)
def test_a_file_that_moves_between_lists_restarts_nothing(
    before: dict[str, Any], after: dict[str, Any], effect: Effect
) -> None:
    laptop = reference("laptop")
    refinement = Refinement(laptop, laptop, Machines(laptop, laptop))

    found = refinement.of(("meridian", "meridian-train"), changes([controller(**before)], [controller(**after)]))

    assert {change.effect for change in found} == {effect}
