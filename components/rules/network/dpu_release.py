"""Rules about the release of maintenance holds of DPUs: tool image, Metal3 hosts, and limits on unavailable hosts."""

from collections.abc import Iterator

from components.lookups.pools import place, problem
from components.render.program_pods import TOOL
from components.rollout.limits import NVLINK, PER_FABRIC, RolloutLimits
from components.rules.rule import Rules
from components.rules.tools import missing_tool
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem

_PATH = ("dpus", "release")


def needs(environment: Environment) -> Iterator[Problem]:
    """Report the release of maintenance holds without the tool image, or on hosts that it cannot power-cycle."""
    if environment.region.dpus.release is None:
        return
    metal = environment.region.bare_metal.backend
    if missing := missing_tool(environment, TOOL):
        yield problem(environment, REGION, _PATH, f"requires {missing}, or remove release")
    if metal is not BareMetalBackend.METAL3:
        there = place(environment, REGION, ("bare_metal", "backend"))
        text = f"power-cycles hosts of {BareMetalBackend.METAL3} only, these use {metal} ({there}); remove release"
        yield problem(environment, REGION, _PATH, text)


def within_limits(environment: Environment) -> Iterator[Problem]:
    """Report limits on unavailable hosts for DPU maintenance that exceed the limits for rollouts of nodes."""
    release, limits = environment.region.dpus.release, environment.region.nodes.rollouts
    if release is None:
        return
    allowed = RolloutLimits(environment).allowed_on_fabrics()
    least = min(allowed, key=lambda fabric: allowed[fabric], default=None)
    if least is not None and release.max_away > allowed[least]:
        there = place(environment, REGION, ("nodes", "rollouts", PER_FABRIC))
        text = (
            f"{release.max_away} hosts may all be on fabric {least}, where {PER_FABRIC} ({there}) allows"
            f" {allowed[least]}; write {max(allowed[least], 1)} or less, or raise that limit"
        )
        yield problem(environment, REGION, (*_PATH, "max_away"), text)
    domains = limits.max_rolling_nvlink_domains
    if domains is not None and release.max_away_per_vpc > domains:
        there = place(environment, REGION, ("nodes", "rollouts", NVLINK))
        text = (
            f"{release.max_away_per_vpc} hosts may be in as many NVLink domains, {NVLINK} ({there}) allows {domains};"
            f" write {domains} or less, or raise that limit"
        )
        yield problem(environment, REGION, (*_PATH, "max_away_per_vpc"), text)


RULES = Rules(data=(needs,), locks=(within_limits,))
