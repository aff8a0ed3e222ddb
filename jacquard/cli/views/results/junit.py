"""Results of rules as JUnit XML, which most CI systems show with a pull request: one suite per environment."""

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from components.specs.reading.problems import visible
from jacquard.cli.views.results.places import path
from policies.results import Decision, Result, decision


def report(
    results: Sequence[Result], command: str, environments: Sequence[str], rules: Iterable[str], failure: str | None
) -> str:
    """Return the report of a command: one case for each rule of each environment.

    Args:
        results: results of rules.
        command: name of the command.
        environments: judged environments, also those without results.
        rules: names of the judged rules; further rules of ``results`` are appended. If the data of an environment are
            wrong, most rules were not evaluated, so only rules with results have a case.
        failure: reason why the command could not judge everything, as an erroneous case; None if it could.
    """
    root, judged = ET.Element("testsuites", name=f"jacquard {command}"), tuple(rules)
    for name in dict.fromkeys((*environments, *(result.environment for result in results))):
        suite = ET.SubElement(root, "testsuite", name=name)
        of_one = [result for result in results if result.environment == name]
        rule_cases(suite, of_one, () if decision(of_one) is Decision.BAD_DATA else judged)
        counted(suite)
    if failure:
        suite = ET.SubElement(root, "testsuite", name=f"jacquard {command}")
        case(suite, "run", command, [failure], tag="error")
        counted(suite)
    return text(root)


def rule_cases(suite: ET.Element, results: Iterable[Result], rules: Iterable[str] = ()) -> None:
    """Append a case for each rule: failed if a result blocks, skipped if all are waived, else with its advice."""
    by_rule: dict[str, list[Result]] = {name: [] for name in rules}
    for result in results:
        by_rule.setdefault(result.rule, []).append(result)
    for rule, items in by_rule.items():
        failures = [_line(item) for item in items if item.blocks]
        added = case(suite, "rules", rule, failures)
        rest = [item for item in items if not item.blocks]
        if rest and not failures and all(item.waiver for item in rest):
            ET.SubElement(added, "skipped", message=visible(f"waived: {rest[0].waiver}"))
        if rest:
            ET.SubElement(added, "system-out").text = "\n".join(map(_noted, rest))


def case(suite: ET.Element, group: str, name: str, failures: Sequence[str], *, tag: str = "failure") -> ET.Element:
    """Append a case to ``suite``, which fails if there are ``failures``, and return it."""
    added = ET.SubElement(suite, "testcase", classname=visible(f"{suite.get('name')}.{group}"), name=visible(name))
    if failures:
        shown = _lines(failures)
        ET.SubElement(added, tag, message=shown[0] if shown else "").text = "\n".join(shown)
    return added


def counted(suite: ET.Element) -> None:
    """Set the numbers of cases of a complete suite."""
    suite.set("tests", str(len(suite)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))


def text(root: ET.Element) -> str:
    """Return a report as text."""
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _line(result: Result) -> str:
    return f"{path(result)}:{result.line}: {result.text}"


def _noted(result: Result) -> str:
    word = f"waived ({result.waiver})" if result.waiver else "advice"
    return f"{word}: " + "\n".join(_lines([_line(result)]))


def _lines(texts: Iterable[str]) -> list[str]:
    return [visible(line) for item in texts for line in item.splitlines()]
