"""Kubeconfigs of tenant clusters: fetched, written privately, never shown."""

from __future__ import annotations

import base64
import stat
from pathlib import Path
from typing import Any

import pytest

from jacquard.providers.kube import ApiError, ObjectRef, Unreachable, wait
from stacks import kubeconfig

CONTENT = b"apiVersion: v1\nkind: Config\n"
SECRET = {"data": {"value": base64.b64encode(CONTENT).decode()}}


class Management:
    """A management cluster whose Secrets exist only after some requests."""

    def __init__(self, *answers: dict[str, Any] | ApiError | None) -> None:
        self.answers = list(answers)
        self.asked: list[ObjectRef] = []

    def get(self, ref: ObjectRef) -> dict[str, Any] | None:
        self.asked.append(ref)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ApiError):
            raise answer
        return answer


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait, "POLL_SECONDS", 0.0)


def test_a_kubeconfig_is_written_for_its_owner_only(tmp_path: Path) -> None:
    management: Any = Management(SECRET)

    assert kubeconfig.refresh(management, tmp_path / "new", "acme") is True

    written = tmp_path / "new" / "acme.yaml"
    assert written.read_bytes() == CONTENT
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert [path.name for path in written.parent.iterdir()] == ["acme.yaml"]
    assert management.asked == [ObjectRef("v1", "Secret", "acme-kubeconfig", "acme")]


def test_a_renewed_kubeconfig_replaces_the_file_and_an_unchanged_one_does_not(tmp_path: Path) -> None:
    renewed = {"data": {"value": base64.b64encode(b"new").decode()}}
    management: Any = Management(SECRET, SECRET, renewed)
    kubeconfig.refresh(management, tmp_path, "acme")
    first = (tmp_path / "acme.yaml").stat()

    kubeconfig.refresh(management, tmp_path, "acme")
    assert (tmp_path / "acme.yaml").stat().st_ino == first.st_ino

    kubeconfig.refresh(management, tmp_path, "acme")
    assert (tmp_path / "acme.yaml").read_bytes() == b"new"


@pytest.mark.parametrize("secret", [None, {}, {"data": {}}, {"data": {"value": ""}}])
def test_a_cluster_without_a_kubeconfig_is_reported_and_nothing_is_written(
    secret: dict[str, Any] | None, tmp_path: Path
) -> None:
    management: Any = Management(secret)

    assert kubeconfig.refresh(management, tmp_path, "acme") is False
    assert list(tmp_path.iterdir()) == []


def test_waiting_ends_when_the_secret_comes(tmp_path: Path) -> None:
    management: Any = Management(None, Unreachable("https://m", "connection reset"), SECRET)

    assert kubeconfig.wait(management, tmp_path, "acme", timeout_seconds=60) == tmp_path / "acme.yaml"
    assert (tmp_path / "acme.yaml").read_bytes() == CONTENT


def test_a_timeout_names_the_place_to_check(tmp_path: Path) -> None:
    management: Any = Management(None)

    with pytest.raises(kubeconfig.KubeconfigMissingError) as error:
        kubeconfig.wait(management, tmp_path, "acme", timeout_seconds=0)

    assert str(error.value) == (
        "secret acme/acme-kubeconfig of the management cluster was not created within 0 s; check why the control plane "
        f"is not ready: kubectl --kubeconfig {tmp_path}/management.yaml describe -n acme cluster acme"
    )


def test_without_the_variable_the_remedy_is_shown() -> None:
    with pytest.raises(kubeconfig.KubeconfigMissingError) as error:
        kubeconfig.folder("laptop", {})

    assert str(error.value) == (
        "JACQUARD_KUBECONFIGS is not set, so the clusters of environment 'laptop' cannot be found; "
        'run eval "$(jacquard env laptop)" in this shell, or jacquard up laptop'
    )


def test_the_command_prints_the_path_and_nothing_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JACQUARD_KUBECONFIGS", str(tmp_path))
    monkeypatch.setattr(kubeconfig.ApiServer, "from_kubeconfig", lambda *_: Management(SECRET))

    assert kubeconfig.main(["laptop", "acme", "--timeout", "1"]) == 0

    assert capsys.readouterr() == (f"{tmp_path}/acme.yaml\n", "")


def test_the_command_reports_a_missing_management_cluster_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JACQUARD_KUBECONFIGS", str(tmp_path))

    assert kubeconfig.main(["laptop", "acme"]) == 1

    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert stderr.startswith(f"{tmp_path}/management.yaml: ")
    assert stderr.count("\n") == 1


def test_deletion_of_a_missing_kubeconfig_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_KUBECONFIGS", str(tmp_path))
    (tmp_path / "acme.yaml").write_text("x")

    assert [kubeconfig.main(["laptop", "acme", "--forget"]) for _ in range(2)] == [0, 0]
    assert list(tmp_path.iterdir()) == []
