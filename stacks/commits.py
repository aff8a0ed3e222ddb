"""Commits of the slices that an operator applies. They are no data: `jacquard up` sets them for each run."""

import json
import os
from collections.abc import Mapping

from components.render.concept import Concept, Made
from components.render.region.engine.engine import EngineInput
from components.specs.struct import replace
from jacquard.machine import settings
from stacks.errors import StackError


def at_commits(
    item: Made[Concept], stack: str, *, preview: bool, variables: Mapping[str, str] = os.environ
) -> Made[Concept]:
    """Return ``item`` with the commits of this run, if it is the input of the engine.

    Raises:
        StackError: an applying run without a commit for each slice.
    """
    concept = item.concept
    if not isinstance(concept, EngineInput):
        return item
    commits = json.loads(variables.get(settings.COMMITS) or "{}")
    missing = [entry.name for entry in concept.slices if entry.name not in commits]
    if missing and not preview:
        environment = stack.partition(".")[0]
        msg = (
            f"stack '{stack}': {settings.COMMITS} has no commit for slice {missing[0]}, without which the operator"
            f" cannot apply the slice; run jacquard up {environment}, which sets the commits"
        )
        raise StackError(msg)
    return Made(replace(concept, commits=commits))
