"""Reads the inspected hardware of a region's hosts and compares it with the data."""

from components.reports.enrolment.report import Enrolment, enrolment
from components.specs.environment import Environment
from jacquard.observe.backends import bare_metal
from jacquard.observe.objects import Kind
from jacquard.observe.observation import Observation


def management_kinds(environment: Environment) -> tuple[Kind, ...]:
    """Return the kinds that `enrolled` reads in the management cluster."""
    metal = bare_metal(environment)
    return tuple(dict.fromkeys((*metal.inspections, *metal.reports)))


def enrolled(environment: Environment, seen: Observation) -> Enrolment:
    """Return the enrolment of ``environment``; ``seen`` contains an answer of the management cluster."""
    metal = bare_metal(environment)
    return enrolment(environment, metal.inspected(seen.of, metal.report(seen.of)))
