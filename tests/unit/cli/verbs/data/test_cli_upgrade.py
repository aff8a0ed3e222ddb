"""``jacquard upgrade`` merges edits of the user and of the library without losing any."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.specs.struct import replace
from jacquard.machine.pins import requirement
from jacquard.starters.region import catalogue, repository
from jacquard.starters.written_files import FILE, Written, packed, read
from tests.support.data.repositories import COMMIT, git

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
CHECK, NIGHTLY = ".github/workflows/check.yml", ".github/workflows/nightly.yml"
VERSIONS, SIZES = "environments/catalog/versions.yaml", "environments/catalog/vm_offerings.yaml"
GONE = "bin/older.sh"
BRANCH = "branches: [main]"
NEXT = "note: next: git diff; jacquard check --base HEAD; jacquard impact ENV for each environment\n"


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, *COMMIT)


@pytest.fixture
def committed(regions: Path) -> Path:
    """A new repository after its first commit."""
    git(regions, "init", "-q")
    commit(regions)
    return regions


@pytest.fixture
def older(committed: Path, edit: Edit) -> Path:
    """The repository as an older version wrote it: other lines in some files, one file more and one less."""
    edit(committed / CHECK, BRANCH, "branches: [master]")
    edit(committed / "README.md", "jacquard up edge-1\n", "jacquard apply edge-1\n")
    edit(committed / VERSIONS, "metrics-server", "metrics-server-old")
    edit(committed / "Pulumi.yaml", "name: ", "name: old-")
    (committed / NIGHTLY).unlink()
    (committed / GONE).parent.mkdir()
    (committed / GONE).write_text("exit\n")
    known = [*repository("edge-1"), *catalogue(), GONE]
    texts = {path: (committed / path).read_text() for path in known if (committed / path).exists()}
    written = Written(version="0.0.9", region="edge-1", texts=texts)
    (committed / FILE).write_bytes(packed(written))
    commit(committed)
    return committed


def outcomes(result: Result) -> dict[str, str]:
    return {row["file"]: row["outcome"] for row in json.loads(result.stdout)["files"]}


def test_a_current_repository_is_not_changed(invoke: Invoke, committed: Path) -> None:
    result = invoke("upgrade")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "jacquard 0.1.0 -> jacquard 0.1.0: 27 files current\n"
    assert git(committed, "status", "--porcelain") == ""


def test_unedited_files_become_those_of_a_new_repository(invoke: Invoke, older: Path) -> None:
    result = invoke("upgrade")

    assert result.exit_code == 0, result.output
    assert result.stdout == (
        f"{CHECK}: updated\n"
        f"{NIGHTLY}: added\n"
        "Pulumi.yaml: updated\n"
        "README.md: updated\n"
        f"{GONE}: removed; this version does not use it\n"
        f"{VERSIONS}: updated\n"
        "jacquard 0.0.9 -> jacquard 0.1.0: 22 other files current\n"
    )
    assert result.stderr == NEXT
    git(older, "add", "-A")
    assert git(older, "diff", "--cached", "--stat", "HEAD~1") == ""
    assert read(older / FILE).version == "0.1.0"
    assert invoke("upgrade", "--check").exit_code == 0


def test_edits_stay_and_conflicts_are_marked(invoke: Invoke, older: Path, edit: Edit) -> None:
    edit(older / "README.md", "# ", "# Our ")
    edit(older / CHECK, "branches: [master]", "branches: [trunk]")
    edit(older / GONE, "exit", "exit 1")
    edit(older / SIZES, "sizes:", "# ours\nsizes:")
    (older / "Pulumi.yaml").write_text("name: mine\n")
    commit(older)

    result = invoke("upgrade", "--format", "json")

    assert outcomes(result) == {
        CHECK: "conflict",
        NIGHTLY: "added",
        "Pulumi.yaml": "conflict",
        "README.md": "merged",
        GONE: "kept",
        VERSIONS: "updated",
    }
    conflict = (older / CHECK).read_text()
    markers = ("<<<<<<< yours", "[trunk]", "||||||| jacquard 0.0.9", "[master]", ">>>>>>> jacquard 0.1.0", BRANCH)
    assert [part for part in markers if part not in conflict] == []
    readme = (older / "README.md").read_text()
    assert "# Our " in readme
    assert "jacquard up edge-1\n" in readme
    assert "# ours" in (older / SIZES).read_text()
    assert (older / GONE).read_text() == "exit 1\n"
    assert result.exit_code == 1
    assert result.stderr == (
        f"error: conflicts in {CHECK}, Pulumi.yaml; resolve them, then run: jacquard schema --write\n"
    )


def test_the_next_upgrade_starts_from_this_one(invoke: Invoke, older: Path, edit: Edit) -> None:
    edit(older / "README.md", "# ", "# Our ")
    commit(older)
    assert invoke("upgrade").exit_code == 0
    commit(older)

    result = invoke("upgrade", "--check")

    assert (result.exit_code, result.stdout) == (0, "jacquard 0.1.0 -> jacquard 0.1.0: 27 files current\n")


def test_a_file_that_the_user_removed_is_not_recreated(invoke: Invoke, older: Path) -> None:
    (older / CHECK).unlink()
    (older / "policy-pack" / "__main__.py").unlink()
    commit(older)

    result = invoke("upgrade")

    assert f"{CHECK}: changed in this version, but you removed it\n" in result.stdout
    assert "policy-pack" not in result.stdout
    assert not (older / CHECK).exists()


def test_check_lists_the_files_and_writes_nothing(invoke: Invoke, older: Path) -> None:
    result = invoke("upgrade", "--check")

    assert result.exit_code == 1
    assert result.stderr == ("error: 6 files of another version; run 'jacquard upgrade' and review the change\n")
    assert f"{CHECK}: updated\n" in result.stdout
    assert git(older, "status", "--porcelain") == ""


def test_without_an_archive_the_first_commit_has_the_unedited_files(invoke: Invoke, older: Path, edit: Edit) -> None:
    (older / FILE).unlink()
    edit(older / "README.md", "# ", "# Our ")
    commit(older)
    # The first commit of the fixture is the current version; only later edits are the user's.
    result = invoke("upgrade", "--format", "json")

    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["from"] == "the first commit"
    assert outcomes(result) == {}
    assert "branches: [master]" in (older / CHECK).read_text()
    assert read(older / FILE).texts[CHECK] == repository("edge-1")[CHECK]


def test_a_file_without_a_known_unedited_text_is_not_merged(invoke: Invoke, older: Path) -> None:
    texts = {path: text for path, text in read(older / FILE).texts.items() if path != CHECK}
    (older / FILE).write_bytes(packed(Written(version="0.0.9", region="edge-1", texts=texts)))

    result = invoke("upgrade")

    assert (
        f"{CHECK}: not merged: its unedited text is unknown; compare it with the one in .starter.zip\n" in result.stdout
    )
    assert "branches: [master]" in (older / CHECK).read_text()


def test_the_pin_is_that_of_the_installed_version(
    invoke: Invoke, older: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(older / "requirements.txt", "\njacquard @", "\nour-rules==1.0\njacquard==0.0.9  #")
    commit(older)
    assert invoke("check").exit_code == 2  # The pin makes all other commands fail.

    result = invoke("upgrade")

    assert "requirements.txt: " in result.stdout
    text = (older / "requirements.txt").read_text()
    assert "our-rules==1.0\n" in text
    assert requirement() in text
    assert "0.0.9" not in text
    monkeypatch.delenv("JACQUARD_ENVIRONMENTS", raising=False)
    assert invoke("allocate", "edge-1").exit_code == 0


def test_uncommitted_changes_are_refused(invoke: Invoke, older: Path, edit: Edit) -> None:
    edit(older / CHECK, "branches: [master]", "branches: [trunk]")
    edit(older / SIZES, "sizes:", "# ours\nsizes:")  # The upgrade does not change it.

    result = invoke("upgrade")

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: uncommitted changes in {CHECK}; commit or stash them first, nothing was written\n"
    )
    assert not (older / NIGHTLY).exists()


def test_without_git_nothing_is_overwritten(invoke: Invoke, older: Path) -> None:
    shutil.rmtree(older / ".git")

    result = invoke("upgrade")

    assert result.exit_code == 2
    assert result.stderr == (
        "error: git could not read the status: fatal: not a git repository (or any of the parent directories): .git;"
        " commit the repository first, so that you can review and undo the upgrade\n"
    )
    assert not (older / NIGHTLY).exists()


def test_a_damaged_archive_is_refused(invoke: Invoke, older: Path) -> None:
    (older / FILE).write_text("text")

    result = invoke("upgrade")

    assert result.exit_code == 2
    assert result.stderr == (
        "error: .starter.zip: is not an archive of 'jacquard new' (File is not a zip file); restore it:"
        " git checkout HEAD -- .starter.zip\n"
    )


def test_a_file_in_another_encoding_is_refused(invoke: Invoke, older: Path) -> None:
    (older / "README.md").write_bytes("Größe\n".encode("latin-1"))
    commit(older)

    result = invoke("upgrade")

    assert result.exit_code == 2
    assert result.stderr == "error: README.md: is not UTF-8; convert it, then run this again; nothing was written\n"
    assert not (older / NIGHTLY).exists()


@pytest.mark.parametrize("words", [(), ("--region", "edge-3")])
def test_without_an_archive_the_region_must_be_known(invoke: Invoke, older: Path, words: tuple[str, ...]) -> None:
    (older / FILE).unlink()
    shutil.copytree(older / "environments" / "edge-1", older / "environments" / "edge-2")

    result = invoke("upgrade", *words)

    assert result.exit_code == 2
    assert result.stderr == (
        "error: --region: must be the region of the workflows, because there is no .starter.zip (known: edge-1,"
        " edge-2)\n"
    )


def test_a_clone_of_the_library_is_upgraded_by_git(invoke: Invoke) -> None:
    result = invoke("upgrade")

    assert result.exit_code == 2
    assert result.stderr == (
        "error: this is a clone of Jacquard, which git upgrades: check out the tag, and run 'make python'\n"
    )


def test_equal_files_result_in_equal_archives(tmp_path: Path) -> None:
    written = Written(version="1.0.0", region="edge-1", texts={"b": "2\r\n", "a": "ö\n"})
    (tmp_path / FILE).write_bytes(packed(written))

    assert read(tmp_path / FILE) == written
    assert packed(written) == packed(replace(written, texts={"a": "ö\n", "b": "2\r\n"}))
