"""``jacquard approve``: approval of exactly one change, which ``impact`` recognises, and which no other can use."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Invoke = Callable[..., Result]
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example")
TRAIN = "replaced: 10 nodes (80 GPUs) of acme-train/train"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "."), git(folder, *AUTHOR, "commit", "-q", "-m", "data")
    return git(folder, "rev-parse", "HEAD")[:9]


@pytest.fixture(autouse=True)
def day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-22T12:00:00Z")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")


@pytest.fixture
def repository(data_folder: Path, invoke: Invoke) -> Path:
    """A repository with a promoted pool of acme in its work tree."""
    git(data_folder.parent, "init", "-q", "-b", "main")
    commit(data_folder.parent)
    invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--all")
    return data_folder / "laptop"


def acme(invoke: Invoke, *options: str) -> dict[str, object]:
    [found] = json.loads(invoke("impact", "laptop", "--format", "json", *options).stdout)
    return next(tenant for tenant in found["tenants"] if tenant["tenant"] == "acme")


def reported(invoke: Invoke) -> str:
    [line] = [line for line in invoke("impact", "laptop").stdout.splitlines() if line.startswith("  acme: ")]
    return line.partition(";")[0]


def test_an_approval_is_written_with_its_change_and_recognised(repository: Path, invoke: Invoke) -> None:
    digest = str(acme(invoke)["digest"])

    result = invoke("approve", "laptop", "acme", "--by", "Ann", "--ticket", "CHG-7")

    assert result.exit_code == 0, result.output
    assert (repository / "approvals.yaml").read_text() == (
        "# yaml-language-server: $schema=../../schemas/approvals.schema.json\n"
        "schema_version: 1\n"
        "approvals:\n"
        f'  - {{tenant: acme, digest: {digest}, by: Ann, day: 2026-11-22, reason: "{TRAIN}", ticket: CHG-7}}\n'
    )
    assert result.stdout.splitlines()[-2:] == [
        f"Ann approves part {digest[:12]} of the change for acme:",
        f"  {TRAIN}",
    ]
    assert reported(invoke) == f"  acme: part {digest[:12]} approved by Ann on 2026-11-22"
    assert acme(invoke)["agreement"] == {"by": "Ann", "day": "2026-11-22", "expires": None, "void": False}
    assert "### Impact: replaced" in invoke("impact", "laptop", "--format", "markdown").stdout
    assert invoke("check", "laptop").exit_code == 0
    assert "approvals.yaml" not in invoke("schema").output


@pytest.mark.parametrize(
    ("options", "outcome"),
    [((), "nothing to change"), (("--ticket", "CHG-8"), "this entry replaces that one")],
    ids=["same", "other ticket"],
)
def test_a_second_approval_of_the_same_part_is_reported(
    repository: Path, invoke: Invoke, options: tuple[str, ...], outcome: str
) -> None:
    command = ("approve", "laptop", "acme", "--by", "Ann", "--format")
    first, second = invoke(*command, "text"), invoke(*command, "text", *options)
    replaced = json.loads(invoke(*command, "json").stdout)["replaces"]

    assert (first.stderr, second.exit_code) == ("", 0)
    assert second.stderr == f"note: Ann already approved this part on 2026-11-22; {outcome}\n"
    assert (replaced["by"], replaced["day"]) == ("Ann", "2026-11-22")
    assert (repository / "approvals.yaml").read_text().count("tenant: acme") == 1


def test_without_approval_the_comment_requests_it(repository: Path, invoke: Invoke) -> None:
    del repository

    assert "### Approval required from `acme`" in invoke("impact", "laptop", "--format", "markdown").stdout
    part = str(acme(invoke)["digest"])[:12]
    assert reported(invoke) == f"  acme: platform@acme.example must approve part {part}"


def test_an_expired_approval_is_requested_again(
    repository: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    del repository
    invoke("approve", "laptop", "acme", "--by", "Ann", "--expires", "2026-11-30")
    digest = str(acme(invoke)["digest"])[:12]
    assert reported(invoke) == f"  acme: part {digest} approved by Ann on 2026-11-22, until 2026-11-30"

    monkeypatch.setenv("JACQUARD_NOW", "2026-11-30T00:00:00Z")

    assert reported(invoke) == (
        f"  acme: platform@acme.example must approve part {digest} again: the approval by Ann expired on 2026-11-30"
    )


def test_an_approval_is_invalid_for_another_change(repository: Path, invoke: Invoke) -> None:
    del repository
    invoke("approve", "laptop", "acme", "--by", "Ann")

    invoke("promote", "laptop", "acme-train/infer", "--to", "gpu-2026.11.1")

    assert acme(invoke)["agreement"] is None


def test_an_approval_survives_a_rebase_over_other_merges(repository: Path, invoke: Invoke) -> None:
    """Line numbers and commit hashes change; the change of the tenant does not."""
    home = repository.parents[1]
    git(home, "checkout", "-q", "-b", "change")
    invoke("approve", "laptop", "acme", "--by", "Ann")
    commit(home)
    before = acme(invoke, "--base", "main")
    git(home, "checkout", "-q", "main")
    for file in ("region.yaml", "tenants/globex.yaml", "images.lock.yaml"):
        path = repository / file
        path.write_text(f"# a line more\n# and another\n{path.read_text()}", encoding="utf-8")
    commit(home)
    git(home, "checkout", "-q", "change"), git(home, *AUTHOR, "rebase", "-q", "main")

    after = acme(invoke, "--base", "main")

    assert after == before
    assert after["agreement"] is not None


def test_a_plan_writes_nothing(repository: Path, invoke: Invoke) -> None:
    result = invoke("approve", "laptop", "acme", "--by", "Ann", "--plan")

    assert result.exit_code == 0
    assert "Ann would approve part" in result.stdout
    assert ", by: Ann, " in result.stdout
    assert not (repository / "approvals.yaml").exists()


def test_the_committer_approves_if_no_name_is_given(repository: Path, invoke: Invoke) -> None:
    git(repository, "config", "user.name", "Bo"), git(repository, "config", "user.email", "bo@acme.example")

    answer = json.loads(invoke("approve", "laptop", "acme", "--format", "json").stdout)

    assert (answer["by"], answer["agreed_to"], answer["written"]) == ("Bo <bo@acme.example>", [TRAIN], True)


def test_other_approvals_and_comments_are_kept_and_an_equal_approval_is_replaced(
    repository: Path, invoke: Invoke
) -> None:
    path = repository / "approvals.yaml"
    older = f"  - {{tenant: globex, digest: {'0a' * 32}, by: Cy, day: 2026-01-02, reason: older}} # kept\n"
    path.write_text(f"schema_version: 1\napprovals: # of tenants\n{older}", encoding="utf-8")

    invoke("approve", "laptop", "acme", "--by", "Ann")
    once = path.read_text()
    invoke("approve", "laptop", "acme", "--by", "Ann", "--reason", "a better reason")

    assert once.startswith(f"schema_version: 1\napprovals: # of tenants\n{older}  - {{tenant: acme, ")
    assert path.read_text() == once.replace(f'"{TRAIN}"', '"a better reason"')


def test_a_change_cannot_spare_itself_the_question(repository: Path, invoke: Invoke) -> None:
    tenant = repository / "tenants" / "acme.yaml"
    text = tenant.read_text()
    assert "approval: required" in text
    tenant.write_text(
        text.replace("approval: required", "approval: not-required").replace("platform@acme", "nobody@acme"),
        encoding="utf-8",
    )

    assert acme(invoke)["asks"] == "platform@acme.example"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("acne", "--by", "Ann"), "error: tenant 'acne' is unknown (known: acme, globex); did you mean 'acme'?\n"),
        (
            ("globex", "--by", "Ann"),
            (
                "error: the change from {commit} to work tree requires no approval of globex (required: acme); name the"
                " start of the change with --base\n"
            ),
        ),
        (
            ("acme",),
            "error: --by is required because git has no committer name; write the person who approves for the tenant\n",
        ),
        (
            ("acme", "--by", "Ann", "--expires", "2026-11-22"),
            "error: --expires: must be after today, 2026-11-22 (got 2026-11-22); write a later day\n",
        ),
    ],
    ids=["no such tenant", "nobody asked", "nobody agrees", "void at once"],
)
def test_an_invalid_approval_is_rejected_without_changes(
    repository: Path, invoke: Invoke, arguments: tuple[str, ...], message: str
) -> None:
    result = invoke("approve", "laptop", *arguments)

    reported = message.format(commit=git(repository, "rev-parse", "HEAD")[:9])
    assert (result.exit_code, result.stderr) == (2, reported)
    assert not (repository / "approvals.yaml").exists()


def test_a_reason_that_is_too_long_is_refused(repository: Path, invoke: Invoke) -> None:
    result = invoke("approve", "laptop", "acme", "--by", "Ann", "--reason", "x" * 300)

    assert result.exit_code == 2
    assert "approvals.yaml:4  approvals[0].reason" in result.stderr
    assert not (repository / "approvals.yaml").exists()
