"""Rule about the steps of a restore of a data store: each step follows the one before it, in a change of its own."""

from collections.abc import Iterator

from components.lookups.pools import DataPath, clusters, problem
from components.specs.control_planes.data_stores import RestoreSpec, RestoreStep
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem
from components.specs.struct import Struct

AREA = "data-stores"
"""Prefix of the name of this rule in reports."""
_BEFORE = {RestoreStep.START: RestoreStep.STOP, RestoreStep.DONE: RestoreStep.START}


class _Entry(Struct):
    file: str
    path: DataPath
    restore: RestoreSpec


def restore_steps(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report restores of data stores whose step does not follow the step of the base.

    Members stop in step ``stop``. With ``start`` as the first step, Jobs fail because members run; with ``done``,
    nothing is restored, and API servers restart nevertheless. Commands with ``--base`` evaluate this rule. A waiver
    with the data store or the cluster as its subject permits the step.
    """
    former = _entries(base)
    for key, entry in _entries(head).items():
        step, was = entry.restore.step, former[key].restore if key in former else None
        required = _BEFORE.get(step)
        if required is None or (
            was is not None and was.snapshot == entry.restore.snapshot and was.step in {required, step}
        ):
            continue
        has = "has no restore" if was is None else f"has step {was.step} of {was.snapshot}"
        text = (
            f"'{step}' requires step {required} of the same snapshot in the base, which {has}; write step: stop, apply"
            f" it with jacquard up {head.name}, and write each further step in a later change"
        )
        yield problem(head, entry.file, (*entry.path, "step"), text, subject=key[1])


def _entries(environment: Environment) -> dict[tuple[str, str], _Entry]:
    """Return all restores by kind and name of their owner: a shared data store or a cluster."""
    found = {}
    for index, store in enumerate(environment.region.control_planes.data_stores):
        if store.restore is not None:
            path: DataPath = ("control_planes", "data_stores", index, "restore")
            found["data store", store.name] = _Entry(file=REGION, path=path, restore=store.restore)
    for placed in clusters(environment):
        if (restore := placed.cluster.control_plane.restore) is not None:
            path = (*placed.path, "control_plane", "restore")
            found["cluster", placed.cluster.name] = _Entry(file=placed.file, path=path, restore=restore)
    return found


CHANGES = (restore_steps,)
"""Rules about the change from a base to a head."""
