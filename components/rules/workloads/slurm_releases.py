"""Rules about Slurm's images: the version vector has them, and their releases work together and with the operator."""

import re
from collections.abc import Iterator
from itertools import pairwise

from components.lookups.pools import clusters, place, problem
from components.render.workloads.slurm import images_of
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import VERSIONS
from components.specs.reading.problems import Problem, listed
from components.specs.region.versions import Tool

AREA = "slurm"
ORDER = ("slurmdbd", "slurmctld", "slurmd")
"""Daemons in the order in which they are upgraded: each accepts requests of the next one, of older releases."""
COMPATIBLE = 3
"""Number of previous major releases whose requests a daemon accepts (SLURM:doc/html/upgrades.shtml, since 24.11)."""
_RELEASE = re.compile(r"^(\d\d)\.(05|11)\b")


def images(environment: Environment) -> Iterator[Problem]:
    """Report images of Slurm that the version vector lacks."""
    known = environment.versions.tool_names
    using = {
        placed.cluster.name: [name for name in images_of(placed.cluster.slurm) if name not in known]
        for placed in clusters(environment)
        if placed.cluster.slurm
    }
    missing = list(dict.fromkeys(name for names in using.values() for name in names))
    if missing:
        users = listed(cluster for cluster, names in using.items() if names)
        text = f"lacks {listed(missing)}, which Slurm of {users} runs; add a row for each, with its digest"
        yield problem(environment, VERSIONS, ("tools",), text)


def releases(environment: Environment) -> Iterator[Problem]:
    """Report daemons of Slurm that are newer than the daemon upgraded before them, or too old for it.

    A tag begins with the release, such as ``25.11``. Images without a tag are not compared.
    """
    tools = {tool.name: (at, tool) for at, tool in enumerate(environment.versions.tools)}
    chain = [tools[name] for name in ORDER if name in tools and _release(tools[name][1]) is not None]
    for (before, first), (at, tool) in pairwise(chain):
        upper, lower = _release(first), _release(tool)
        if upper is None or lower is None or 0 <= upper - lower <= COMPATIBLE:
            continue
        there = place(environment, VERSIONS, ("tools", before))
        fault = (
            f"is newer than {first.name} {first.tag} ({there}), which is upgraded first"
            if lower > upper
            else f"is more than {COMPATIBLE} major releases older than {first.name} {first.tag} ({there})"
        )
        text = f"'{tool.tag}' {fault} and would reject or lose jobs; write a release that both support"
        yield problem(environment, VERSIONS, ("tools", at, "tag"), text)


def _release(tool: Tool) -> int | None:
    """Return the number of the major release of an image, counted in half years; None without a tag of a release."""
    match = _RELEASE.match(tool.tag or "")
    return None if match is None else 2 * int(match[1]) + (match[2] == "11")


RULES = Rules(references=(images,), data=(releases,))
