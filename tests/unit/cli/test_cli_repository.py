"""A repository of regions: what ``jacquard new --repository`` writes is right at once, and its own code joins ours."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import Result
from walkthrough import Command, Edit, steps

from cli.command import build
from components.specs import schema
from components.specs.kinds import KINDS
from policies import analyzer
from toolchain import paths, pins

Invoke = Callable[..., Result]
EditFile = Callable[[Path, str, str], None]
RULE, COMPONENT = "policies/rules/note_without_contact.py", "components/region_note.py"
NO_ENGINE = {"allocate", "check", "explain", "render"}


@pytest.fixture
def regions(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new repository with one region, in which a user stands."""
    folder = tmp_path / "regions"
    made = invoke("new", "edge-1", "--repository", str(folder))
    assert made.exit_code == 0, made.output
    monkeypatch.delenv("JACQUARD_ENVIRONMENTS")
    monkeypatch.chdir(folder / "environments" / "edge-1")
    assert invoke("allocate", "edge-1").exit_code == 0
    return folder


def problems(result: Result) -> list[str]:
    """Return the lines of a report below its headline."""
    assert result.exit_code == 2, result.output
    return [" ".join(line.split()) for line in result.output.splitlines()[1:]]


def test_a_new_repository_has_all_that_a_region_needs(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("new", "edge-1", "--repository", str(tmp_path / "regions"), "--format", "json")

    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    around = [name for name in answer["files"] if not name.startswith("environments/")]
    schemas = [f"schemas/{schema.file_name(kind)}" for kind in KINDS]
    assert around == sorted(
        [
            ".gitattributes",
            ".github/workflows/check.yml",
            ".github/workflows/up.yml",
            ".gitignore",
            "Pulumi.yaml",
            "README.md",
            COMPONENT,
            "policies/PulumiPolicy.yaml",
            "policies/__main__.py",
            RULE,
            "requirements.txt",
            *schemas,
            "stacks/__main__.py",
        ]
    )
    assert all((tmp_path / "regions" / name).is_file() for name in answer["files"])
    assert answer["next"][1:] == [
        "git init",
        "python3 -m venv .venv",
        ".venv/bin/pip install -r requirements.txt",
        "source .venv/bin/activate",
        "jacquard setup",
        "jacquard allocate edge-1",
        "jacquard check edge-1",
        "jacquard up edge-1",
    ]
    assert "note: requirements.txt pins a path of this machine; before others use the repository" in result.stderr


def test_workflows_call_jacquard_only_with_commands_that_there_are(regions: Path) -> None:
    called = set()
    for path in (regions / ".github" / "workflows").iterdir():
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            called |= {step["run"] for step in job["steps"] if "run" in step}
    called.remove("python -m venv .venv && .venv/bin/pip install -r requirements.txt")
    known = {command.name for command in build().registered_commands}

    assert all(command.startswith(".venv/bin/jacquard ") for command in called)
    assert {command.split()[1] for command in called} == {"setup", "check", "schema", "preview", "up"} & known


def test_the_page_does_as_it_says_up_to_the_engine(invoke: Invoke, regions: Path) -> None:
    for step in steps("your-own-repository.md"):
        match step:
            case Edit():
                step.apply(regions)
            case Command(words=("jacquard", verb, *rest)) if verb in NO_ENGINE:
                result = invoke(verb, *rest)
                assert result.exit_code == 0, f"{verb}: {result.output}"
    assert "on-call@cloud.example" in (regions / COMPONENT).read_text()


def test_generated_files_are_current_and_pages_of_ours_stay_away(invoke: Invoke, regions: Path) -> None:
    result = invoke("schema")

    assert result.exit_code == 0, result.output
    assert not (regions / "docs").exists()


def test_its_component_is_rendered_in_each_cluster(invoke: Invoke, regions: Path, tmp_path: Path) -> None:
    assert invoke("render", "edge-1", "--out", str(tmp_path / "out")).exit_code == 0

    for cluster in ("management", "first-train"):
        body = yaml.safe_load((tmp_path / "out" / cluster / "kube-public" / "configmap-region-note.yaml").read_text())
        assert body["data"] == {"region": "edge-1", "stage": "rehearsal", "contact": "platform@cloud.example"}
    assert (regions / COMPONENT).exists()


def test_its_rule_refuses_is_listed_and_can_be_waived(
    invoke: Invoke, regions: Path, edit: EditFile, tmp_path: Path
) -> None:
    edit(regions / COMPONENT, '"platform@cloud.example"', '"nobody"')
    refused = invoke("check", "edge-1")
    assert refused.exit_code == 4
    assert "note-without-contact: ConfigMap kube-public/region-note in cluster first-train" in refused.output
    assert "    fix:     write CONTACT in components/region_note.py" in refused.output

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


MEND = "mend it, or move it out of policies/rules/"
CLASH = "name: 'unpinned-image' is a rule of jacquard already; give it another name"
BROKEN_RULES = {
    "a_import.py": (
        "import nowhere_to_be_found\n",
        f":1 does not import: ModuleNotFoundError: No module named 'nowhere_to_be_found'; {MEND}",
    ),
    "b_syntax.py": (
        "\ndef\n",
        f":2 does not import: SyntaxError: invalid syntax; {MEND}",
    ),
    "c_empty.py": ("", " has no RULE; define it, or begin the file's name with _ to have it left alone"),
    "d_type.py": ("RULE = {}\n", " RULE: is of type dict; write RULE = Rule(...) of policies.verdict"),
    "e_clash.py": ("{note-without-contact -> unpinned-image}", f":31 RULE.{CLASH}"),
    "f_name.py": (
        "{note-without-contact -> No Note}",
        ":31 RULE.name: is no name for a rule (got 'No Note'); write lower-case letters, digits and '-', as no-latest",
    ),
    "g_twice.py": (
        "{note-without-contact -> note-without-contact}",
        ":31 RULE.name: 'note-without-contact' is a rule of policies/rules/a_first.py already; give it another name",
    ),
    "_helper.py": ("import nowhere_to_be_found\n", ""),
}


def test_rules_that_cannot_be_judged_by_are_told_all_at_once(
    invoke: Invoke, regions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del capsys
    folder = (regions / RULE).parent
    example = (regions / RULE).read_text()
    (regions / RULE).rename(folder / "a_first.py")
    for name, (text, _) in BROKEN_RULES.items():
        old, arrow, new = text.strip("{}").partition(" -> ")
        (folder / name).write_text(example.replace(f'name="{old}"', f'name="{new}"') if arrow else text)

    told = problems(invoke("check", "edge-1"))

    wanted = {name: text for name, (_, text) in BROKEN_RULES.items() if text}
    assert sorted(told) == sorted(f"../../policies/rules/{name}{text}" for name, text in wanted.items())
    explained = invoke("explain")
    assert explained.exit_code == 2
    assert "policies/rules/e_clash.py:31: 'unpinned-image' is a rule of jacquard already" in explained.stderr
    with pytest.raises(SystemExit, match=r"policies/rules/a_import.py:1: does not import: ModuleNotFoundError"):
        analyzer.run()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("def concepts", "def other", "region_note.py has no concepts; define it, or begin the file's name with _"),
        ("def concepts", "concepts = 1\ndef other", "region_note.py concepts is of type int; write def concepts"),
        (
            "if cluster is None:",
            "if 1 / 0:",
            "region_note.py:24 concepts() breaks on slice foundation: ZeroDivisionError: division by zero; mend it",
        ),
        (
            "    yield OwnInput",
            "    yield placed\n    OwnInput",
            "yields Manifest for slice foundation; yield OwnInput",
        ),
        (
            '"ConfigMap", "region-note", namespace="kube-public"',
            '"Namespace", "kamaji-system"',
            "'management-note': Namespace kamaji-system of cluster management is made twice in slice foundation; leave",
        ),
        (
            "    yield OwnInput",
            "    yield OwnInput(name='management-note', objects=())\n    yield OwnInput",
            "component 'management-note' of slice foundation is in components/region_note.py too; give it another",
        ),
    ],
    ids=["nothing", "no function", "breaks", "manifest", "twin", "twice"],
)
def test_a_component_that_cannot_be_made_is_told_with_its_line(
    invoke: Invoke, regions: Path, edit: EditFile, old: str, new: str, told: str
) -> None:
    edit(regions / COMPONENT, old, new)

    [problem] = problems(invoke("check", "edge-1"))

    assert told in problem
    assert invoke("render", "edge-1", "--out", str(regions / "out")).exit_code == 2


@pytest.mark.parametrize("pin", ["jacquard==9.9.9", "jacquard @ https://host.example/jacquard-0.1.0-py3-none-any.whl"])
def test_another_version_than_the_pinned_one_is_refused(
    invoke: Invoke, regions: Path, monkeypatch: pytest.MonkeyPatch, pin: str
) -> None:
    installed_from(monkeypatch, url="https://host.example/other.whl", archive_info={})
    (regions / "requirements.txt").write_text(f"# pinned\n{pin}\n")

    result = invoke("check")

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: requirements.txt:2: pins {pin}, and jacquard @ https://host.example/other.whl is installed; install"
        " what is pinned: .venv/bin/pip install -r requirements.txt, or pin what is installed\n"
    )


@pytest.mark.parametrize(
    ("pin", "fits"),
    [
        ("jacquard @ git+https://host.example/jacquard@v0.1.0", True),
        ("jacquard @ git+https://host.example/jacquard@0a1b2c", True),
        ("jacquard @ git+https://host.example/jacquard@v0.2.0", False),
        ("jacquard @ git+https://host.example/jacquard", False),
        ("jacquard==0.1.0", True),
        ("pulumi==1.0.0", True),
    ],
)
def test_a_pinned_revision_is_known_by_its_tag_and_its_commit(
    regions: Path, monkeypatch: pytest.MonkeyPatch, pin: str, *, fits: bool
) -> None:
    vcs = {"vcs": "git", "requested_revision": "v0.1.0", "commit_id": "0a1b2c"}
    installed_from(monkeypatch, url="https://host.example/jacquard", vcs_info=vcs)
    (regions / "requirements.txt").write_text(f"{pin}\n")

    assert pins.requirement() == "jacquard @ git+https://host.example/jacquard@0a1b2c"
    if fits:
        pins.check()
    else:
        with pytest.raises(pins.SettingError, match="pins jacquard @ git"):
            pins.check()


def installed_from(monkeypatch: pytest.MonkeyPatch, **origin: object) -> None:
    class Installed:
        version = "0.1.0"

        @staticmethod
        def read_text(name: str) -> str:
            assert name == "direct_url.json"
            return json.dumps(origin)

    monkeypatch.setattr(pins, "distribution", lambda _: Installed)


def test_files_that_are_there_are_not_written_over(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n")

    result = invoke("new", "edge-1", "--repository", str(tmp_path))

    assert result.exit_code == 2
    assert result.stderr == f"error: {tmp_path}: README.md is there already; name an empty folder\n"
    assert (tmp_path / "README.md").read_text() == "mine\n"
    assert not (tmp_path / "Pulumi.yaml").exists()


def test_an_engine_needs_the_python_that_the_program_runs_by(invoke: Invoke, regions: Path) -> None:
    result = invoke("up", "edge-1")

    assert result.exit_code == 1
    assert result.stderr == (
        f"error: {regions / '.venv'}: has no bin/python, by which Pulumi.yaml runs the program; make it in {regions}:"
        " python3 -m venv .venv && .venv/bin/pip install -r requirements.txt\n"
    )


def test_without_a_program_there_is_no_repository(
    invoke: Invoke, regions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (regions / "Pulumi.yaml").unlink()
    monkeypatch.setattr(paths, "IS_CLONE", False)

    result = invoke("check")

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: Pulumi.yaml: there is none with a folder environments/ in {Path.cwd()} or above it; go to the"
        " repository of your regions, or make one: jacquard new REGION --repository DIR\n"
    )


def committed(regions: Path) -> None:
    """Make the repository one, with all it has in one commit."""
    for command in (
        ("init", "-q"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"),
    ):
        subprocess.run(["git", "-C", str(regions), *command], check=True)


def test_an_impact_counts_what_a_component_of_its_own_renders(invoke: Invoke, regions: Path, edit: EditFile) -> None:
    committed(regions)
    edit(regions / COMPONENT, "platform@cloud.example", "on-call@cloud.example")

    [found] = json.loads(invoke("impact", "edge-1", "--format", "json").stdout)

    assert found["code"] is True
    assert [row["part"] for row in found["rows"]] == ["first-train-note", "management-note"]


def test_an_impact_across_another_pin_is_unknown(invoke: Invoke, regions: Path) -> None:
    committed(regions)
    pin = regions / pins.PIN_FILE
    subprocess.run(["git", "-C", str(regions), "rm", "-q", "--cached", pins.PIN_FILE], check=True)
    subprocess.run(
        ["git", "-C", str(regions), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "other"], check=True
    )
    assert pin.exists()

    assert "unknown: platform of everything" in invoke("impact", "edge-1").stdout
