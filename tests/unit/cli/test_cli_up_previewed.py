"""``jacquard up --preview``: applies what was previewed, and refuses whatever moved since, before all else."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from repositories import COMMIT, git
from typer.testing import Result

from cli import local_region
from observe.observation import Observation
from previews import inputs

Invoke = Callable[..., Result]
APPLIED = 3
"""How an ``up`` ends that waits for nodes, which are not rolled here."""
MADE_AT = "2026-11-22T12:00:00+00:00"
LATER = "2026-11-22T18:00:00+00:00"
STATE = {
    "version": 3,
    "deployment": {
        "manifest": {"time": "2026-11-01"},
        "resources": [{"type": "pulumi:pulumi:Stack", "inputs": {"x": 1}}],
    },
}


def commit(folder: Path, *more: str) -> str:
    """Commit all of ``folder``, with paragraphs ``more`` to say, and return the name of the commit."""
    git(folder, "add", "."), git(folder, *COMMIT, *(word for text in more for word in ("-m", text)))
    return git(folder, "rev-parse", "HEAD")


class Change:
    """A change of a repository, previewed, and the command that applies it."""

    def __init__(self, data: Path, folder: Path, invoke: Invoke, pulumi: Any, clock: pytest.MonkeyPatch) -> None:
        self.clock = clock
        self.data = data
        self.folder = folder
        self.invoke = invoke
        self.pulumi = pulumi
        self.base = commit(data.parent)
        invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1")
        assert invoke("approve", "laptop", "acme", "--by", "Ann").exit_code == 0
        self.head = commit(data.parent)

    def preview(self, key: Path | None = None) -> Path:
        """Preview it, and return the statement."""
        self.clock.setenv("JACQUARD_NOW", MADE_AT)
        options = ("--sign", str(key)) if key else ()
        result = self.invoke("preview", "laptop", "--base", self.base, "--out", str(self.folder), *options)
        self.clock.setenv("JACQUARD_NOW", LATER)
        assert result.exit_code == 0, result.output
        (self.pulumi.folder / "calls").unlink(missing_ok=True)
        return self.folder / "attestation.json"

    def up(self, *options: str) -> Result:
        return self.invoke("up", "laptop", "--timeout", "0", "--preview", str(self.folder), *options)

    def refusal(self, *reasons: str, stale: bool = True) -> tuple[int, str]:
        """Return how an ``up`` ends that is refused for ``reasons``."""
        again = [f"preview again with: jacquard preview laptop --base {self.base[:12]} --out {self.folder}"]
        headline = f"refused: laptop: is not what the preview in {self.folder} showed, nothing was applied"
        return 4, "".join(f"{line}\n" for line in (headline, *(f"  {one}" for one in (*reasons, *again * stale))))

    def refused(self) -> tuple[int, str]:
        result = self.up()
        assert [call for call in self.pulumi.calls if call[0] in ("up", "preview", "refresh")] == []
        return result.exit_code, result.stderr

    def write(self, file: str, text: str) -> None:
        path = self.data / file
        path.write_text((path.read_text(encoding="utf-8") if path.exists() else "") + text, encoding="utf-8")


@pytest.fixture
def change(
    data_folder: Path, tmp_path: Path, invoke: Invoke, pulumi: Any, monkeypatch: pytest.MonkeyPatch, seen: Observation
) -> Change:
    monkeypatch.setenv("JACQUARD_NOW", LATER)
    monkeypatch.setattr(local_region, "revive", lambda *_: None)
    monkeypatch.setattr("cli.verbs.up.observe", lambda _: seen)
    git(data_folder.parent, "init", "-q", "-b", "main")
    (data_folder.parent / ".gitignore").write_text("/*\n!/environments\n")
    pulumi.answer("stack export", stdout=json.dumps(STATE))
    return Change(data_folder, tmp_path / "preview", invoke, pulumi, monkeypatch)


def sha(text: str) -> str:
    return inputs.sha256(text.encode())[:12]


def test_what_was_previewed_is_applied_after_a_squash_merge_too(change: Change) -> None:
    change.preview()
    home = change.data.parent
    git(home, "checkout", "-q", "-b", "merged", change.base), git(home, "merge", "-q", "--squash", change.head)
    assert commit(home, "squashed") != change.head  # of the same second it would be the same commit

    change.pulumi.answer("preview", events="bump")
    change.pulumi.answer("up", events="bump")

    result = change.up()

    assert result.exit_code == APPLIED, result.output
    assert [call[2] for call in change.pulumi.calls if call[0] == "up"][-1] == "laptop"


def test_equal_inputs_give_equal_bytes(change: Change) -> None:
    first = change.preview().read_bytes()

    assert change.preview().read_bytes() == first
    said = json.loads(first)
    assert (said["_type"], said["predicateType"]) == (
        "https://in-toto.io/Statement/v1",
        "https://jacquard.dev/preview/v1",
    )
    assert (said["predicate"]["base"], said["predicate"]["commit"]) == (change.base, change.head)
    assert [subject["name"] for subject in said["subject"]] == ["laptop"]


@pytest.mark.parametrize(
    "file",
    ["laptop/tenants/globex.yaml", "laptop/waivers.yaml", "laptop/region.yaml", "catalog/versions.yaml"],
)
def test_an_edit_after_the_preview_is_refused_by_the_name_of_its_file(change: Change, file: str) -> None:
    path = change.data / file
    before = path.read_text() if path.exists() else None
    change.preview()
    text = "# a word more\n" if before else "schema_version: 1\nwaivers: []\n"
    change.write(file, text)
    commit(change.data.parent)

    was = sha(before) if before else "nothing"
    reason = f"environments/{file}: was {was}, is {sha((before or '') + text)}"
    assert change.refused() == change.refusal(reason)


def test_another_change_is_refused_with_all_that_it_moves(change: Change) -> None:
    change.preview()
    change.invoke("promote", "laptop", "acme-train/infer", "--to", "gpu-2026.11.1")
    commit(change.data.parent)

    code, told = change.refused()

    assert code == 4
    names = [line.strip().partition(": was ")[0] for line in told.splitlines() if ": was " in line]
    assert names == [
        "environments/laptop/allocations.lock.yaml",  # which names the other lock file
        "environments/laptop/images.lock.yaml",
        "impact",
        "objects of stack laptop",
    ]
    assert "\n  acme has not agreed to part " in told


def test_an_apply_by_somebody_else_meanwhile_is_refused(change: Change) -> None:
    change.preview()
    quiet = {**STATE, "deployment": {**STATE["deployment"], "manifest": {"time": "2026-11-22"}}}  # type: ignore[dict-item]
    change.pulumi.answer("stack export", stdout=json.dumps(quiet))
    assert change.up().exit_code == APPLIED
    (change.pulumi.folder / "calls").unlink()
    change.pulumi.answer("stack export", stdout=json.dumps(STATE).replace('"x": 1', '"x": 2'))

    code, told = change.refused()

    assert code == 4
    assert next(line for line in told.splitlines() if ": was " in line).startswith("  state of stack laptop: was ")


def test_each_thing_that_is_attested_is_held_to(change: Change) -> None:
    """Flips one digit of each digest, and one letter of each version, that the statement has."""
    path = change.preview()
    text = path.read_text()
    said = json.loads(text)["predicate"]["environments"][0]
    subject = json.loads(text)["subject"][0]
    named = {**said["inputs"], f"objects of stack {subject['name']}": subject["digest"]["sha256"]}
    named |= {f"version of {name}": version for name, version in said["tools"].items() if version}
    assert {
        "impact",
        "state of stack laptop",
        "code of policies",
        "environments/laptop/images.lock.yaml",
    } < named.keys()
    told = {}
    for name, value in named.items():
        flipped = ("0" if value[0] != "0" else "1") + value[1:]
        path.write_text(text.replace(f'"{value}"', f'"{flipped}"'))
        told[name] = change.refused()
        short = (lambda one: one[:12]) if len(value) == 64 else str
        assert told[name] == change.refusal(f"{name}: was {short(flipped)}, is {short(value)}")


def test_a_word_that_is_taken_back_or_over_refuses_and_one_that_is_given_later_helps(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = change.data / "laptop" / "approvals.yaml"
    change.preview()
    text = words.read_text()
    digest = text.partition("digest: ")[2][:12]
    agree = f"once it agrees: jacquard approve laptop acme --base {change.base[:12]}"
    words.unlink()
    assert change.refused() == change.refusal(f"acme has not agreed to part {digest}", agree, stale=False)

    words.write_text(text.replace("day: 2026-11-22", "day: 2026-11-22, expires: 2026-11-23"))
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-23T00:00:00Z")
    over = f"acme agreed to part {digest} until 2026-11-23, which is over"
    assert change.refused() == change.refusal(over, agree, stale=False)

    monkeypatch.setenv("JACQUARD_NOW", LATER)
    assert change.up().exit_code == APPLIED


def test_an_old_preview_and_one_of_the_future_are_refused(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    change.preview()
    held = "it holds from 2026-11-22T12:00:00+00:00 until 2026-11-25T12:00:00+00:00, and it is "
    for moment in ("2026-11-25T12:00:00+00:00", "2026-11-22T11:59:59+00:00"):
        monkeypatch.setenv("JACQUARD_NOW", moment)
        assert change.refused() == change.refusal(held + moment)


def test_a_history_that_is_not_here_is_told(change: Change) -> None:
    change.preview()
    path = change.folder / "attestation.json"
    path.write_text(path.read_text().replace(change.base, "0" * 40))

    code, told = change.refused()

    assert code == 4
    assert "what the change does cannot be told again: 0000000000000000000000000000000000000000 is no commit" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "no such file or directory"),
        ("{", "is not what 'jacquard preview --out' writes: invalid json"),
        ('{"_type": "x"}', "is not what 'jacquard preview --out' writes at "),
    ],
    ids=["none", "no JSON", "another statement"],
)
def test_what_is_no_statement_is_refused(change: Change, text: str | None, told: str) -> None:
    change.folder.mkdir()
    if text:
        (change.folder / "attestation.json").write_text(text)

    code, said = change.refused()

    assert code == 4
    assert said.startswith(f"refused: laptop: nothing was applied: {change.folder}/attestation.json: {told}")
    assert said.endswith(f"\n  preview again with: jacquard preview laptop --base REF --out {change.folder}\n")


def test_a_preview_of_another_environment_is_refused(change: Change) -> None:
    path = change.preview()
    path.write_text(path.read_text().replace('"environment": "laptop"', '"environment": "lab"'))

    assert change.refused() == change.refusal("it previews lab")


def test_a_region_may_apply_nothing_else(change: Change) -> None:
    change.write("laptop/region.yaml", "previews: {up_applies: previewed}\n")
    line = len((change.data / "laptop" / "region.yaml").read_text().splitlines())

    refused = change.invoke("up", "laptop")

    assert (refused.exit_code, refused.stderr) == (
        4,
        (
            f"refused: laptop: only what is previewed is applied (region.yaml:{line}); preview it, and name the folder:"
            " jacquard preview laptop --base REF --out DIR; jacquard up laptop --preview DIR\n"
        ),
    )
    change.preview()
    assert change.up().exit_code == APPLIED


def test_a_stack_that_could_not_be_previewed_leaves_no_statement(change: Change) -> None:
    statement = change.preview()
    change.pulumi.answer("preview", events="fail", code=255)

    result = change.invoke("preview", "laptop", "--base", change.base, "--out", str(change.folder))

    assert "note: nothing can be applied by this preview, since it has not all of laptop\n" in result.stderr
    assert not statement.exists()


def test_stacks_whose_objects_are_the_same_are_left_alone(
    change: Change, edit: Callable[[Path, str, str], None]
) -> None:
    """The preview did not ask the engine about them, so that nobody saw what it would do."""
    edit(change.data / "laptop" / "region.yaml", "stacks: whole", "stacks: sliced")
    change.base = commit(change.data.parent)
    change.invoke("promote", "laptop", "acme-train/infer", "--to", "gpu-2026.11.1")
    assert change.invoke("approve", "laptop", "acme", "--by", "Ann").exit_code == 0
    commit(change.data.parent)
    change.preview()
    change.pulumi.answer("preview", events="bump")
    change.pulumi.answer("up", events="bump")

    result = change.up()

    assert result.exit_code == APPLIED, result.output
    assert [call[2] for call in change.pulumi.calls if call[0] == "up"][1:] == ["laptop.tenant-acme"]


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A folder with two SSH keys, of which `signers` lists one."""
    if not shutil.which("ssh-keygen"):
        pytest.skip("NOT TESTED: signatures, since there is no ssh-keygen on this machine")
    folder = tmp_path / "keys"
    folder.mkdir()
    for name in ("ci", "other"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(command, check=True)
    (folder / "signers").write_text(f"ci@example {(folder / 'ci.pub').read_text()}")
    return folder


def test_a_preview_that_is_signed_by_who_may_is_applied(change: Change, keys: Path) -> None:
    shutil.copy(keys / "signers", change.data.parent / "signers")
    change.write("laptop/region.yaml", "previews: {up_applies: previewed, signers: signers}\n")
    commit(change.data.parent)
    change.preview(keys / "ci")

    result = change.up()

    assert f"note: the preview in {change.folder} is signed by ci@example\n" in result.stderr
    assert result.exit_code == APPLIED


def test_a_signature_that_is_missing_or_not_good_refuses(change: Change, keys: Path) -> None:
    asked = ("--signers", str(keys / "signers"))
    path = change.preview()
    unsigned = change.up(*asked)
    change.preview(keys / "other")
    others = change.up(*asked)
    change.preview(keys / "ci")
    path.write_text(path.read_text().replace(change.head, "0" * 40))
    edited = change.up(*asked)
    gone = change.up("--signers", str(keys / "nobody"))

    again = f"\n  preview again with: jacquard preview laptop --base REF --out {change.folder}\n"
    said = "refused: laptop: nothing was applied: "
    assert unsigned.stderr == f"{said}attestation.json is not signed: attestation.json.sig is missing{again}"
    assert others.stderr.startswith(f"{said}attestation.json.sig is of nobody whom signers lists: ")
    assert edited.stderr.startswith(f"{said}attestation.json.sig is no signature of attestation.json by ci@example: ")
    assert gone.stderr == f"{said}{keys}/nobody is missing, which lists who may sign{again}"
    assert {result.exit_code for result in (unsigned, others, edited, gone)} == {4}
    assert [call for call in change.pulumi.calls if call[0] == "up"] == []
