"""``jacquard up --preview`` applies the previewed changes, and first rejects any difference since the preview."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jacquard.previews.attestations import inputs
from tests.support.changes.previewed_change import APPLIED, LATER, STATE, Change, commit
from tests.support.data.repositories import git


def sha(text: str) -> str:
    return inputs.sha256(text.encode())[:12]


def test_previewed_changes_are_applied_after_a_squash_merge_too(change: Change) -> None:
    change.preview()
    home = change.data.parent
    git(home, "checkout", "-q", "-b", "merged", change.base), git(home, "merge", "-q", "--squash", change.head)
    assert commit(home, "squashed") != change.head  # In the same second it would be the same commit.

    change.pulumi.answer("preview", events="bump")
    change.pulumi.answer("up", events="bump")

    result = change.up()

    assert result.exit_code == APPLIED, result.output
    assert [call[2] for call in change.pulumi.calls if call[0] == "up"][-1] == "laptop"


def test_equal_inputs_result_in_equal_bytes(change: Change) -> None:
    first = change.preview().read_bytes()

    assert change.preview().read_bytes() == first
    statement = json.loads(first)
    assert (statement["_type"], statement["predicateType"]) == (
        "https://in-toto.io/Statement/v1",
        "https://jacquard.dev/preview/v1",
    )
    assert (statement["predicate"]["base"], statement["predicate"]["commit"]) == (change.base, change.head)
    assert [subject["name"] for subject in statement["subject"]] == ["laptop"]


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

    code, message = change.refused()

    assert code == 4
    names = [line.strip().partition(": was ")[0] for line in message.splitlines() if ": was " in line]
    assert names == [
        "environments/laptop/allocations.lock.yaml",  # It names the other lock file.
        "environments/laptop/images.lock.yaml",
        "impact",
        "objects of stack laptop",
    ]
    assert "\n  acme has not approved part " in message


def test_an_apply_by_another_user_meanwhile_is_rejected(change: Change) -> None:
    change.preview()
    quiet = {**STATE, "deployment": {**STATE["deployment"], "manifest": {"time": "2026-11-22"}}}  # type: ignore[dict-item]
    change.pulumi.answer("stack export", stdout=json.dumps(quiet))
    assert change.up().exit_code == APPLIED
    (change.pulumi.folder / "calls").unlink()
    change.pulumi.answer("stack export", stdout=json.dumps(STATE).replace('"x": 1', '"x": 2'))

    code, message = change.refused()

    assert code == 4
    assert next(line for line in message.splitlines() if ": was " in line).startswith("  state of stack laptop: was ")


def test_each_attested_value_is_verified(change: Change) -> None:
    """Changes one digit of each digest, and one letter of each version, in the statement."""
    path = change.preview()
    text = path.read_text()
    environment = json.loads(text)["predicate"]["environments"][0]
    subject = json.loads(text)["subject"][0]
    named = {**environment["inputs"], f"objects of stack {subject['name']}": subject["digest"]["sha256"]}
    named |= {f"version of {name}": version for name, version in environment["tools"].items() if version}
    assert {
        "impact",
        "state of stack laptop",
        "code of policies",
        "environments/laptop/images.lock.yaml",
    } < named.keys()
    refusals = {}
    for name, value in named.items():
        flipped = ("0" if value[0] != "0" else "1") + value[1:]
        path.write_text(text.replace(f'"{value}"', f'"{flipped}"'))
        refusals[name] = change.refused()
        short = (lambda one: one[:12]) if len(value) == 64 else str
        assert refusals[name] == change.refusal(f"{name}: was {short(flipped)}, is {short(value)}")


def test_a_withdrawn_or_changed_approval_blocks_and_a_later_one_is_accepted(
    change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = change.data / "laptop" / "approvals.yaml"
    change.preview()
    text = words.read_text()
    digest = text.partition("digest: ")[2][:12]
    agree = f"to record its approval: jacquard approve laptop acme --base {change.base[:12]}"
    words.unlink()
    assert change.refused() == change.refusal(f"acme has not approved part {digest}", agree, stale=False)

    words.write_text(text.replace("day: 2026-11-22", "day: 2026-11-22, expires: 2026-11-23"))
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-23T00:00:00Z")
    over = f"the approval of part {digest} by acme expired on 2026-11-23"
    assert change.refused() == change.refusal(over, agree, stale=False)

    monkeypatch.setenv("JACQUARD_NOW", LATER)
    assert change.up().exit_code == APPLIED


def test_an_old_preview_and_one_of_the_future_are_refused(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    change.preview()
    held = "the preview is valid from 2026-11-22T12:00:00+00:00 until 2026-11-25T12:00:00+00:00; the time is "
    for moment in ("2026-11-25T12:00:00+00:00", "2026-11-22T11:59:59+00:00"):
        monkeypatch.setenv("JACQUARD_NOW", moment)
        assert change.refused() == change.refusal(held + moment)


def test_a_missing_history_is_reported(change: Change) -> None:
    change.preview()
    path = change.folder / "attestation.json"
    path.write_text(path.read_text().replace(change.base, "0" * 40))

    code, message = change.refused()

    assert code == 4
    assert f"the effect of the change cannot be computed again: '{'0' * 40}' is not a branch, tag or commit" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file or directory"),
        ("{", "is not an attestation written by 'jacquard preview --out': invalid json"),
        ('{"_type": "x"}', "is not an attestation written by 'jacquard preview --out' at "),
    ],
    ids=["none", "no JSON", "another statement"],
)
def test_a_file_that_is_no_statement_is_rejected(change: Change, text: str | None, message: str) -> None:
    change.folder.mkdir()
    if text:
        (change.folder / "attestation.json").write_text(text)

    code, refusal = change.refused()

    assert code == 4
    assert refusal.startswith(f"refused: laptop: nothing was applied: {change.folder}/attestation.json: {message}")
    assert refusal.endswith(f"\n  preview again with: jacquard preview laptop --base REF --out {change.folder}\n")


def test_a_preview_of_another_environment_is_refused(change: Change) -> None:
    path = change.preview()
    path.write_text(path.read_text().replace('"environment": "laptop"', '"environment": "lab"'))

    assert change.refused() == change.refusal("the preview contains lab")


def test_a_region_may_apply_nothing_else(change: Change) -> None:
    change.write("laptop/region.yaml", "previews: {up_applies: previewed}\n")
    line = len((change.data / "laptop" / "region.yaml").read_text().splitlines())

    refused = change.invoke("up", "laptop")

    assert (refused.exit_code, refused.stderr) == (
        4,
        (
            f"refused: laptop: 'up' applies only previewed changes (region.yaml:{line}); preview the change and"
            " name the folder: jacquard preview laptop --base REF --out DIR; jacquard up laptop --preview DIR\n"
        ),
    )
    change.preview()
    assert change.up().exit_code == APPLIED


def test_a_stack_that_could_not_be_previewed_leaves_no_statement(change: Change) -> None:
    statement = change.preview()
    change.pulumi.answer("preview", events="fail", code=255)

    result = change.invoke("preview", "laptop", "--base", change.base, "--out", str(change.folder))

    assert "note: 'up --preview' cannot use this preview, because the preview of laptop is incomplete" in result.stderr
    assert not statement.exists()


def test_stacks_with_unchanged_objects_are_skipped(change: Change, edit: Callable[[Path, str, str], None]) -> None:
    """The preview did not include them, so their changes were not reviewed."""
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
