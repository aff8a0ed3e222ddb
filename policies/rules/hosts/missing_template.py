"""missing-template: machines whose template does not exist.

Why: Cluster API creates no machine while a template is missing, so the group cannot replace a broken node. If the
template was renamed, the MachineDeployment still refers to the former content.

Rejected: a MachineDeployment with an `infrastructureRef` or a `configRef` to a template that its stack does not render.
Correct: the templates in the same stack and namespace as the MachineDeployment, as node pools render them.
"""

from collections.abc import Iterator
from typing import Any

from components.specs.region.policy import RuleId
from policies.facts import Context, Fact, contains_unknown
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, listed, undecided, violation

MACHINES = ("spec", "template", "spec")
INFRASTRUCTURE = (*MACHINES, "infrastructureRef")
BOOTSTRAP = (*MACHINES, "bootstrap", "configRef")


def find(fact: Fact, context: Context) -> Finding:
    """Look for the templates of the machines among the objects of the stack."""
    if context.objects is None:
        return NOT_APPLICABLE
    references, namespace = list(_references(fact)), fact.at("metadata", "namespace")
    if contains_unknown(references) or contains_unknown(namespace):
        return undecided("a reference to a template")
    missing = [
        f"{reference.get('kind')} {reference.get('name')}"
        for reference in references
        if context.objects.referenced(fact, reference) is None
    ]
    if not missing:
        return PASS
    return violation(
        found=f"the stack has no {listed(missing)} in namespace {namespace}",
        allowed="references to templates that the stack contains",
        fix="render the template in the same stack and namespace, or correct the reference",
    )


def _references(fact: Fact) -> Iterator[Any]:
    """Yield the references of the machines to templates; machines with a Secret have no reference for bootstrap."""
    yield from (reference for path in (INFRASTRUCTURE, BOOTSTRAP) if (reference := fact.at(*path)))


RULE = Rule(
    name=RuleId.MISSING_TEMPLATE,
    description="Machines have templates that exist.",
    why="Cluster API creates no machine without its templates, so no broken node of the group is replaced",
    severity=Severity.HIGH,
    kinds=frozenset({"MachineDeployment", "MachineSet"}),
    find=find,
    is_stack_wide=True,
)
