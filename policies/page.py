"""Generates the page about the policies from their docstrings: ``docs/reference/policies.md``."""

from inspect import cleandoc
from types import ModuleType

from components.specs.base import Stage
from policies.rules import MODULES
from policies.verdict import Rule

FILE = "docs/reference/policies.md"
"""Path of the page, relative to the repository."""
_MARK = "<!-- written by jacquard schema --write from the docstrings in policies/rules; do not edit -->\n"
_LABELS = ("Rejected", "Reported", "Correct", "Not evaluated")
_INTRODUCTION = """# Policies

Look up the policies that every deployment must satisfy, their levels, and how to waive them. A policy is a pure
function over rendered objects and checks for one kind of violation.

Three commands evaluate the policies:

- `jacquard check` evaluates all objects of an environment, without an engine.
- `jacquard up` evaluates them before it starts.
- The Pulumi engine evaluates each resource before it is created, with [`--policy-pack
  policies`](../guides/policy-pack.md). This also works for plain `pulumi up`.

Policies fail closed: a value that is unknown before apply, an error in a policy, and unreadable settings are rejected.

## Settings

Levels are reviewed data of the environment. The command line can only make them
[stricter](../guides/policy-pack.md#configuration).

- `rules:` in `policy.yaml` sets the level of a policy: `mandatory` (a violation blocks the deployment) or `advisory`
  (a violation is reported). The default is the level of the stage in the table below. A policy without a level is not
  evaluated in that stage. A new policy can be advisory for [a time](rules.md#new-rules), as its description says. In
  `production` a critical policy is always mandatory; waive each exception individually.
- `jacquard show ENV policies` lists the level of each policy with its origin, limits, violations, and all waivers with
  the remaining days, also unused ones.
- `freezes:` in `policy.yaml`: see `change-in-freeze`.
- `waivers.yaml` permits violations of one policy by one subject until the day `expires`, with a reason, an owner and a
  ticket.

A waiver names one of the following as its `rule`:

- a policy of this page
- a cross-check that [can be waived](rules.md#what-may-be-waived)
- `uniformity`, which [rollouts](../pools/rollouts.md) describes

The subject of a waiver is a host (`a01-u01`), a pool (`acme-train/infer`), a tenant (for `change-in-freeze`) or an
object (`ConfigMap acme-train/settings`), as in the report.

Waived violations are reported and counted, in SARIF as suppressed. An expired waiver has no effect, and the violation
says so. A waiver that matches nothing is reported. Exceptions are `provider-without-cluster-identifier`,
`forgetful-provider`, `foreign-region`, `ignored-changes`, `change-in-freeze` and `uniformity`, which only a deployment
or the status of nodes can match. An unknown value cannot be waived.

The date is that of the start of the command, in UTC. To test another date, set `JACQUARD_NOW=2026-12-24T12:00:00Z` or
use `jacquard check --today`.

"""


def text() -> str:
    """Return the page."""
    head = f"| rule | severity | {' | '.join(Stage)} |\n|---|---|{'---|' * len(Stage)}\n"
    rows = "".join(_row(module.RULE) for module in MODULES)
    return f"{_MARK}{_INTRODUCTION}## Rules\n\n{head}{rows}\n" + "\n".join(map(_section, MODULES))


def _row(rule: Rule) -> str:
    levels = " | ".join(rule.levels.get(stage, "-") for stage in Stage)
    return f"| [{rule.name}](#{rule.name}) | {rule.severity} | {levels} |\n"


def _section(module: ModuleType) -> str:
    rule, (_, _, page) = module.RULE, cleandoc(module.__doc__ or "").partition("\n")
    paragraphs = page.strip().replace("``", "`")
    for label in _LABELS:
        paragraphs = paragraphs.replace(f"\n{label}:", f"\n- {label}:")
    period = f"- Level: {rule.advisory_period}.\n" if rule.advisory_period else ""
    return f"### {rule.name}\n\n{rule.description}\n\n{paragraphs}\n{period}"
