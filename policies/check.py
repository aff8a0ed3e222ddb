"""The same rules without an engine, for ``jacquard check``."""

from __future__ import annotations

from components.plan.manifests import manifests
from components.plan.slices import slices
from components.render.manifest import objects
from components.specs.environment import Environment
from policies.facts import Context, manifest_facts
from policies.rules import RULES
from policies.verdict import Violation, violations


def judge(environment: Environment) -> list[Violation]:
    """Return what the rules refuse about everything that ``environment`` renders."""
    context = Context.of(environment)
    return [
        violation
        for piece in slices(environment)
        for fact in manifest_facts(objects(manifests(environment, piece)))
        for violation in violations(RULES, fact, context)
    ]
