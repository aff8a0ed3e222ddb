"""Results of rules as SARIF 2.1.0, in the subset that code scanning reads."""

import hashlib
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Any

from components.specs.reading.problems import FORM
from components.specs.region.policy import Enforcement, RuleId
from jacquard.cli.views.results.places import uri
from jacquard.cli.views.rules import rules
from policies.results import IDLE, Result, State

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MISFORMED = "A data file does not match its schema."
_UNUSED = "A waiver matches no violation."
_LIVE = {
    RuleId.UNIFORMITY.value: "Nodes of a pool are identical.",
    "enrolment": "Hosts have the hardware and cabling of the inventory.",
    "health": "Nodes have no faults.",
}
"""Rules about live facts."""
_UNDESCRIBED = "A rule of another policy pack, or the effect of a change."
_HELP = "The message names the wrong value and the value to write instead."
_LEVELS = {Enforcement.MANDATORY: "error", Enforcement.ADVISORY: "warning"}
_BASELINES = {State.NEW: "new", State.EXISTING: "unchanged"}


def report(results: Iterable[Result], category: str = "check", failure: str | None = None) -> dict[str, Any]:
    """Return the SARIF log of a command; results that environments share are included once.

    Args:
        results: results of rules.
        category: name of the command, and of the environment if each environment has its own log.
        failure: reason why the command could not judge everything; None if it could.
    """
    entries = {_fingerprint(result, with_line=True): _entry(result) for result in results}
    rule_ids = dict.fromkeys(entry["ruleId"] for entry in entries.values())
    notes = [{"level": "error", "message": {"text": failure}}] if failure else []
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "jacquard",
                        "version": version("jacquard"),
                        "rules": list(_rules(rule_ids)),
                    }
                },
                "automationDetails": {"id": f"jacquard-{category}/"},
                "invocations": [
                    {
                        "executionSuccessful": failure is None,
                        **({"toolExecutionNotifications": notes} if notes else {}),
                    }
                ],
                "columnKind": "unicodeCodePoints",
                "results": list(entries.values()),
            }
        ],
    }


def _entry(result: Result) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": uri(result), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": max(1, result.line)},
    }
    return {
        "ruleId": result.rule,
        "level": _LEVELS[result.level],
        "message": {"text": result.text},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"primaryLocationLineHash": _fingerprint(result)},
        "properties": {"source": result.source.value},
        **({"baselineState": _BASELINES[result.state]} if result.state else {}),
        **({"suppressions": [{"kind": "external", "justification": str(result.waiver)}]} if result.waiver else {}),
    }


def _fingerprint(result: Result, *, with_line: bool = False) -> str:
    """Return a digest of a result, by default without its line number."""
    line = [str(result.line)] if with_line else []
    return hashlib.sha256("\n".join([result.rule, uri(result), result.text, *line]).encode()).hexdigest()


def _rules(used: Iterable[str]) -> Iterator[dict[str, Any]]:
    known = {name: f"{rule.text}\n\n{rule.why}" if rule.why else rule.text for name, rule in rules().items()}
    texts = {FORM: _MISFORMED, IDLE: _UNUSED, **_LIVE} | {name: text for name, text in known.items() if name != FORM}
    for name, text in (dict.fromkeys(used, _UNDESCRIBED) | texts).items():
        yield {
            "id": name,
            "shortDescription": {"text": text.partition("\n")[0]},
            "fullDescription": {"text": text},
            "help": {"text": _HELP},
            "defaultConfiguration": {"level": "error"},
        }
