"""Rules and components of a users' repository are evaluated and listed like built-in ones; failures are reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from policies.pack import analyzer

Invoke = Callable[..., Result]
EditFile = Callable[[Path, str, str], None]
RULE, COMPONENT = "extensions/policies/note_without_contact.py", "extensions/components/region_note.py"


def problems(result: Result) -> list[str]:
    """Return the lines of a report below its headline."""
    assert result.exit_code == 2, result.output
    return [" ".join(line.split()) for line in result.output.splitlines()[1:]]


def test_its_rule_can_have_an_advisory_period(invoke: Invoke, regions: Path, edit: EditFile) -> None:
    period = 'AdvisoryPeriod(since="1", binding=dt.date(2999, 1, 1))'
    edit(regions / RULE, "    find=find,\n", f"    find=find,\n    advisory_period={period},\n")
    imports = "import datetime as dt\n\nfrom components.rules.rule import AdvisoryPeriod\n"
    edit(regions / RULE, "from policies.verdict", f"{imports}from policies.verdict")
    edit(regions / COMPONENT, '"platform@cloud.example"', '"nobody"')

    warned, strict = invoke("check", "edge-1"), invoke("check", "edge-1", "--strict")

    assert warned.exit_code == 0, warned.output
    assert "  warning (an error from 2999-01-01): note-without-contact: " in warned.stdout
    assert strict.exit_code == 4


def test_its_rule_refuses_is_listed_and_can_be_waived(
    invoke: Invoke, regions: Path, edit: EditFile, tmp_path: Path
) -> None:
    edit(regions / COMPONENT, '"platform@cloud.example"', '"nobody"')
    refused = invoke("check", "edge-1")
    assert refused.exit_code == 4
    assert "note-without-contact: ConfigMap kube-public/region-note in cluster first-train" in refused.output
    assert "    fix:     set CONTACT in extensions/components/region_note.py" in refused.output

    log = json.loads(invoke("check", "--format", "sarif").stdout)["runs"][0]
    assert "note-without-contact" in {rule["id"] for rule in log["tool"]["driver"]["rules"]}
    assert [found["ruleId"] for found in log["results"]] == ["note-without-contact"] * 2
    assert invoke("explain", "note-without-contact").stdout.startswith("note-without-contact: The note in each cluster")

    (regions / "environments" / "edge-1" / "waivers.yaml").write_text(
        "schema_version: 1\nwaivers:\n  - rule: note-without-contact\n    subject: ConfigMap kube-public/region-note\n"
        "    reason: moves\n    owner: ada\n    ticket: T-1\n    expires: 2999-01-01\n"
    )
    waived = invoke("check", "edge-1", "--format", "json")
    assert waived.exit_code == 0, waived.output
    assert [item["policy"] for item in json.loads(waived.stdout)[0]["waived"]] == ["note-without-contact"] * 2
    assert not (tmp_path / "out").exists()


MEND = "fix it, or move it out of extensions/policies/"
CLASH = "name: 'unpinned-image' is already a rule of jacquard; choose another name"
BROKEN_RULES = {
    "a_import.py": (
        "import nowhere_to_be_found\n",
        f":1 cannot be imported: ModuleNotFoundError: No module named 'nowhere_to_be_found'; {MEND}",
    ),
    "b_syntax.py": (
        "\ndef\n",
        f":2 cannot be imported: SyntaxError: invalid syntax; {MEND}",
    ),
    "c_empty.py": ("", " has no RULE; define it, or prefix the file name with _ to ignore it"),
    "d_type.py": ("RULE = {}\n", " RULE: is of type dict; write RULE = Rule(...) of policies.verdict"),
    "e_clash.py": ("{note-without-contact -> unpinned-image}", f":31 RULE.{CLASH}"),
    "f_name.py": (
        "{note-without-contact -> No Note}",
        ":31 RULE.name: must be lower-case letters, digits and '-', such as no-latest (got 'No Note')",
    ),
    "g_twice.py": (
        "{note-without-contact -> note-without-contact}",
        (
            ":31 RULE.name: 'note-without-contact' is already a rule of extensions/policies/a_first.py; "
            "choose another name"
        ),
    ),
    "_helper.py": ("import nowhere_to_be_found\n", ""),
}


def test_all_invalid_rules_are_reported_together(
    invoke: Invoke, regions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del capsys
    folder = (regions / RULE).parent
    example = (regions / RULE).read_text()
    (regions / RULE).rename(folder / "a_first.py")
    for name, (text, _) in BROKEN_RULES.items():
        old, arrow, new = text.strip("{}").partition(" -> ")
        (folder / name).write_text(example.replace(f'name="{old}"', f'name="{new}"') if arrow else text)

    reported = problems(invoke("check", "edge-1"))

    wanted = {name: text for name, (_, text) in BROKEN_RULES.items() if text}
    assert sorted(reported) == sorted(f"../../extensions/policies/{name}{text}" for name, text in wanted.items())
    explained = invoke("explain")
    assert explained.exit_code == 2
    clash = "extensions/policies/e_clash.py:31: 'unpinned-image' is already a rule of jacquard; choose"
    assert clash in explained.stderr
    with pytest.raises(SystemExit, match=r"extensions/policies/a_import.py:1: cannot be imported: ModuleNotFoundError"):
        analyzer.run()


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ("def concepts", "def other", "region_note.py has no concepts; define it, or prefix the file name with _"),
        ("def concepts", "concepts = 1\ndef other", "region_note.py concepts is of type int; write def concepts"),
        (
            "if cluster is None:",
            "if 1 / 0:",
            "region_note.py:24 concepts() fails on slice foundation: ZeroDivisionError: division by zero; fix it",
        ),
        (
            "    yield ExtensionInput",
            "    yield placed\n    ExtensionInput",
            "yields Manifest for slice foundation; yield ExtensionInput",
        ),
        (
            '"ConfigMap", "region-note", namespace="kube-public"',
            '"Namespace", "kamaji-system"',
            "'management-note': Namespace kamaji-system of cluster management is defined twice in slice foundation;",
        ),
        (
            "    yield ExtensionInput",
            "    yield ExtensionInput(name='management-note', objects=())\n    yield ExtensionInput",
            (
                "component 'management-note' of slice foundation is also in extensions/components/region_note.py; "
                "rename it"
            ),
        ),
        (
            'namespace="kube-public"',
            'namespace="kube-public", annotations={"pulumi.com/skipAwait": "yes"}',
            "of cluster management: annotation pulumi.com/skipAwait is 'yes'; write one of true, false",
        ),
    ],
    ids=["nothing", "no function", "breaks", "manifest", "twin", "twice", "order"],
)
def test_an_invalid_component_is_reported_with_its_line(
    invoke: Invoke, regions: Path, edit: EditFile, old: str, new: str, reported: str
) -> None:
    edit(regions / COMPONENT, old, new)

    [problem] = problems(invoke("check", "edge-1"))

    assert reported in problem
    assert invoke("render", "edge-1", "--out", str(regions / "out")).exit_code == 2


@pytest.mark.parametrize(
    ("former", "folder"), [("components", "extensions/components"), ("policies/rules", "extensions/policies")]
)
def test_code_in_a_former_folder_is_reported(invoke: Invoke, regions: Path, former: str, folder: str) -> None:
    (regions / former).mkdir(parents=True)
    (regions / former / "old.py").write_text("")

    assert problems(invoke("check", "edge-1")) == [f"../../{former}/old.py is not loaded; move it to {folder}/"]


@pytest.mark.parametrize("name", ["components", "jacquard", "policies", "stacks"])
def test_a_folder_that_hides_a_package_of_jacquard_is_refused(invoke: Invoke, regions: Path, name: str) -> None:
    (regions / name).mkdir()
    (regions / name / "__init__.py").touch()

    assert problems(invoke("check", "edge-1")) == [
        (
            f"../../{name}/__init__.py hides the package {name} of Jacquard from programs run in this folder; "
            "move your code to extensions/"
        )
    ]
