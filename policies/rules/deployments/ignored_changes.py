"""ignored-changes: a resource whose changes the engine ignores.

Why: with `ignoreChanges`, the engine keeps the former value of a field, and no later change of the data is applied or
shown. Hosts, templates and policies then differ from the reviewed data without a report.

Rejected: `pulumi.ResourceOptions(ignore_changes=["spec"])` for an object, an object set or a provider.
Correct: no `ignore_changes`. Fields that a controller owns are omitted from the object, and `metadata.annotations` and
`status` may be ignored.
"""

from components.specs.region.policy import RuleId
from policies.facts import RESOURCE, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, listed, violation

_IGNORABLE = ("metadata.annotations", "status")


def find(fact: Fact, _context: Context) -> Finding:
    """Check the property paths of which the engine ignores changes."""
    ignored = [path for path in fact.at("ignoreChanges") or () if not path.startswith(_IGNORABLE)]
    if not ignored:
        return PASS
    return violation(
        found=f"ignoreChanges: {listed(ignored)}",
        allowed=f"ignored changes of {' and '.join(_IGNORABLE)} only",
        fix="remove ignore_changes, and omit fields that a controller writes",
    )


RULE = Rule(
    name=RuleId.IGNORED_CHANGES,
    description="The engine ignores no changes of objects.",
    why="the object would differ from the reviewed data, and no preview would show it",
    severity=Severity.HIGH,
    kinds=frozenset({RESOURCE}),
    find=find,
)
