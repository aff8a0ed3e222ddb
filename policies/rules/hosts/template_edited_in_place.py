"""template-edited-in-place: a machine template whose content does not match its name.

Why: machines keep the template from which they were created. If a template changes under the same name, old and new
machines differ without a rollout, and Cluster API does not notice.

Rejected: another image in the template ``acme-train-infer-a01-0123456789``.
Correct: a new template, whose name ends with the digest of its new content; the pool refers to it.
"""

from components.render.objects import digest
from components.specs.region.policy import RuleId
from policies.facts import UNKNOWN, Context, Fact, contains_unknown
from policies.node_image import TEMPLATES
from policies.verdict import PASS, Finding, Rule, Severity, undecided, violation

_DIGITS = 10
"""Hex digits of the digest in a template's name."""


def find(fact: Fact, context: Context) -> Finding:
    """Compare the digest in a template's name with the digest of its content."""
    del context
    name, spec = fact.at("metadata", "name"), fact.at("spec")
    if name is UNKNOWN or contains_unknown(spec):
        return undecided("metadata.name" if name is UNKNOWN else "spec")
    right = digest(spec, _DIGITS)
    stem, _, written = str(name).rpartition("-")
    if written == right:
        return PASS
    return violation(
        found=f"a spec with digest {right} but a name that ends with {written}",
        allowed=f"{stem or name}-{right}: a template's name ends with the digest of its spec",
        fix="change the pool's data and let the library render a new template; never edit a rendered template",
    )


RULE = Rule(
    name=RuleId.TEMPLATE_EDITED_IN_PLACE,
    description="A machine template is never edited; new content is a new template.",
    why="machines of one pool would differ without a rollout, and no check would detect it",
    severity=Severity.CRITICAL,
    kinds=TEMPLATES | {"KubeadmConfigTemplate", "K0sWorkerConfigTemplate", "Metal3DataTemplate"},
    find=find,
)
