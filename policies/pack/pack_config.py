"""Configuration of the policy pack by ``--policy-pack-config``: stricter levels and parameters of policies.

The engine resolves ``all`` and merges the file with the levels of ``pack_info``: `Overrides.of` gets a level for each
policy. Levels and parameters of the environment are reviewed data, so the file can only be stricter.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.specs.reading.problems import listed, shown, suggestion
from components.specs.region.policy import Enforcement
from components.specs.struct import Struct, field, replace
from policies.facts import Context
from policies.parameters import Parameter
from policies.verdict import MAX_LISTED, Rule

ALL = "all"
"""Key of the file that sets the level of all policies."""
DISABLED = "disabled"
REMEDIATE = "remediate"
LEVELS = (DISABLED, *reversed(Enforcement))
"""Levels, the least strict first; a policy that is not evaluated in a stage is disabled."""


class PackConfigError(Exception):
    """The configuration of the pack is invalid; the text has one line for each error."""


class PolicyConfig(Struct):
    """Configuration of one policy."""

    level: str | None = None
    """Level; None if the engine sent a number without a meaning."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Values of parameters, by name."""


class Overrides(Struct, kw_only=False):
    """Valid configuration: stricter levels by policy, and values of parameters."""

    levels: Mapping[str, Enforcement] = field(default_factory=dict)
    values: tuple[tuple[Parameter, Any], ...] = ()

    @classmethod
    def of(cls, config: Mapping[str, PolicyConfig], rules: Sequence[Rule], context: Context) -> "Overrides":
        """Return the overrides of ``config`` for the environment of ``context``.

        Raises:
            PackConfigError: a policy, level or parameter is unknown, or weaker than in the environment.
        """
        if errors := list(_errors(config, rules, context)):
            raise PackConfigError("\n".join(f"policy-pack-config: {error}" for error in errors))
        given = [(rule, config[rule.name]) for rule in rules if rule.name in config]
        return cls(
            {
                rule.name: Enforcement(str(item.level))
                for rule, item in given
                if item.level not in {None, level_of(rule, context)}
            },
            tuple((p, item.values[p.name]) for rule, item in given for p in rule.parameters if p.name in item.values),
        )

    def applied(self, context: Context) -> Context:
        """Return ``context`` with the overrides."""
        for parameter, value in self.values:
            context = parameter.apply(value, context)
        return replace(context, levels={**context.levels, **self.levels})


def level_of(rule: Rule, context: Context) -> str:
    """Return the level of ``rule`` in the environment of ``context``."""
    return rule.level(context) or DISABLED


def _errors(config: Mapping[str, PolicyConfig], rules: Sequence[Rule], context: Context) -> Iterator[str]:
    names = [str(rule.name) for rule in rules]
    common = config[ALL].level if ALL in config else None
    yield from _errors_of_all(config.get(ALL), rules, context)
    for name in sorted(config.keys() - {*names, ALL}):
        yield f"'{name}' is not a policy (docs/reference/policies.md){suggestion(name, [*names, ALL])}"
    for rule in rules:
        if item := config.get(rule.name):
            if item.level is None or item.level != common:
                yield from _errors_of_level(rule, item.level, context)
            yield from _errors_of_values(rule, item.values, context)


def _errors_of_all(item: PolicyConfig | None, rules: Sequence[Rule], context: Context) -> Iterator[str]:
    if item is None:
        return
    for name in item.values:
        yield f"{ALL}.{name}: is not a parameter, since {ALL} has only a level; write it below a policy"
    weakened = [rule.name for rule in rules if item.level in LEVELS and _is_weaker(item.level, rule, context)]
    if item.level == REMEDIATE:
        yield _no_remediation(ALL)
    elif weakened:
        yield (
            f"{ALL}: '{item.level}' is weaker than the level of {len(weakened)} policies in {_place(context)} "
            f"({listed(weakened, MAX_LISTED)}); write single policies instead, {_reviewed(context)}"
        )


def _errors_of_level(rule: Rule, level: str | None, context: Context) -> Iterator[str]:
    if level == REMEDIATE:
        yield _no_remediation(rule.name)
    elif level not in LEVELS:
        yield f"{rule.name}: the level must be one of {listed(LEVELS)}"
    elif _is_weaker(level, rule, context):
        own = level_of(rule, context)
        yield f"{rule.name}: '{level}' is weaker than '{own}', its level in {_place(context)}; {_reviewed(context)}"


def _errors_of_values(rule: Rule, values: Mapping[str, Any], context: Context) -> Iterator[str]:
    parameters = {parameter.name: parameter for parameter in rule.parameters}
    for name, value in values.items():
        if name not in parameters:
            known = f"parameters: {listed(parameters)}" if parameters else "it has none"
            yield f"{rule.name}.{name}: is not a parameter of the policy ({known}){suggestion(name, parameters)}"
        elif fault := parameters[name].fault(value, context):
            yield f"{rule.name}.{name}: {fault} (got {shown(value)})"


def _is_weaker(level: str, rule: Rule, context: Context) -> bool:
    return LEVELS.index(level) < LEVELS.index(level_of(rule, context))


def _no_remediation(name: str) -> str:
    return (
        f"{name}: 'remediate' is not supported, since objects are changed in the reviewed data only; write mandatory "
        "and fix the data"
    )


def _place(context: Context) -> str:
    known = context.freezes is not None
    return f"environment {context.environment}" if known else "a stack without a readable environment"


def _reviewed(context: Context) -> str:
    folder = f"environments/{context.environment or 'ENV'}"
    return f"set levels in {folder}/policy.yaml, and waive single violations in {folder}/waivers.yaml"
