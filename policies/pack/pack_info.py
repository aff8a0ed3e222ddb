"""Description of the policy pack for ``pulumi policy`` and the engine: each policy with level, tags and parameters."""

from collections.abc import Iterable, Sequence
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import Any

import yaml
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2

from components.specs.region.policy import Enforcement
from policies.facts import Context
from policies.pack.pack_config import DISABLED, level_of
from policies.rules import MODULES
from policies.verdict import Rule, Severity

PACK = "jacquard"
VERSION = "0.1.0"
LEVELS = {
    DISABLED: analyzer_pb2.DISABLED,
    Enforcement.ADVISORY: analyzer_pb2.ADVISORY,
    Enforcement.MANDATORY: analyzer_pb2.MANDATORY,
}
SEVERITIES = {
    Severity.HIGH: analyzer_pb2.POLICY_SEVERITY_HIGH,
    Severity.CRITICAL: analyzer_pb2.POLICY_SEVERITY_CRITICAL,
}
_TYPES = {False: analyzer_pb2.POLICY_TYPE_RESOURCE, True: analyzer_pb2.POLICY_TYPE_STACK}
_CATALOGUE = Path(__file__).parents[1] / "catalogue.yaml"
_FRAMEWORK = "Catalogue of rules for a GPU cloud"
_PAGE = "docs/reference/policies.md"
_CORRECT = "Correct:"


def analyzer_info(rules: Sequence[Rule], context: Context) -> analyzer_pb2.AnalyzerInfo:
    """Return the description of the pack, with the levels of the environment of ``context``."""
    return analyzer_pb2.AnalyzerInfo(
        name=PACK,
        displayName="Jacquard",
        description="Policies that every deployment of a region must satisfy",
        version=VERSION,
        supportsConfig=True,
        policies=[_policy(rule, context) for rule in rules],
    )


def _policy(rule: Rule, context: Context) -> analyzer_pb2.PolicyInfo:
    rows = _rows().get(rule.name, ())
    return analyzer_pb2.PolicyInfo(
        name=rule.name,
        displayName=rule.name.replace("-", " ").capitalize(),
        description=rule.description,
        message=rule.why,
        enforcementLevel=LEVELS[level_of(rule, context)],
        policy_type=_TYPES[rule.is_stack_wide],
        severity=SEVERITIES[rule.severity],
        configSchema=_schema(rule),
        framework=_framework(rows),
        tags=[identifier for identifier, _ in rows],
        remediation_steps=_remedies().get(rule.name, ""),
        url=f"{_PAGE}#{rule.name}" if rule.name in _remedies() else "",
    )


def _schema(rule: Rule) -> analyzer_pb2.PolicyConfigSchema | None:
    if not rule.parameters:
        return None
    properties = struct_pb2.Struct()
    properties.update({parameter.name: dict(parameter.schema) for parameter in rule.parameters})
    return analyzer_pb2.PolicyConfigSchema(properties=properties)


def _framework(rows: Iterable[tuple[str, str]]) -> analyzer_pb2.PolicyComplianceFramework | None:
    known = list(rows)
    if not known:
        return None
    return analyzer_pb2.PolicyComplianceFramework(
        name=_FRAMEWORK,
        version=VERSION,
        reference=", ".join(identifier for identifier, _ in known),
        specification=". ".join(text for _, text in known),
    )


@cache
def _rows() -> dict[str, list[tuple[str, str]]]:
    """Return the ids and texts of the catalogue by policy. ``policies.catalogue`` loads more than the pack needs."""
    rows: dict[str, list[tuple[str, str]]] = {}
    data: Any = yaml.load(_CATALOGUE.read_bytes(), Loader=yaml.CSafeLoader)
    for row in data["rows"]:
        for name in row["rules"]:
            rows.setdefault(name, []).append((row["id"], row["text"]))
    return rows


@cache
def _remedies() -> dict[str, str]:
    """Return the correct objects of each policy of Jacquard, as its docstring describes them."""
    pages = {str(module.RULE.name): cleandoc(module.__doc__ or "").splitlines() for module in MODULES}
    return {name: " ".join(_correct(lines)) for name, lines in pages.items()}


def _correct(lines: Sequence[str]) -> Iterable[str]:
    is_remedy = False
    for line in lines:
        is_remedy = line.startswith(_CORRECT) or (is_remedy and bool(line) and not _is_label(line))
        if is_remedy:
            yield line.removeprefix(_CORRECT).strip()


def _is_label(line: str) -> bool:
    return line.split(" ", maxsplit=1)[0].endswith(":") or line.startswith("Not evaluated:")
