"""``jacquard up --preview`` with required signatures: accepted signers, and rejected previews."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.changes.previewed_change import APPLIED, Change, commit


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A folder with two SSH keys, one of which is in `signers`."""
    if not shutil.which("ssh-keygen"):
        pytest.skip("NOT TESTED: signatures, since there is no ssh-keygen on this machine")
    folder = tmp_path / "keys"
    folder.mkdir()
    for name in ("ci", "other"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(command, check=True)
    (folder / "signers").write_text(f"ci@example {(folder / 'ci.pub').read_text()}")
    return folder


def test_a_preview_signed_by_a_permitted_key_is_applied(change: Change, keys: Path) -> None:
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
    gone = change.up("--signers", str(keys / "absent"))

    again = f"\n  preview again with: jacquard preview laptop --base REF --out {change.folder}\n"
    start = "refused: laptop: nothing was applied: "
    assert unsigned.stderr == f"{start}attestation.json is not signed: attestation.json.sig is missing{again}"
    assert others.stderr.startswith(f"{start}attestation.json.sig is not by a signer listed in signers: ")
    assert edited.stderr.startswith(f"{start}attestation.json.sig is not a valid signature of attestation.json by ci@")
    assert gone.stderr == f"{start}{keys}/absent is missing; list the allowed signers in it{again}"
    assert {result.exit_code for result in (unsigned, others, edited, gone)} == {4}
    assert [call for call in change.pulumi.calls if call[0] == "up"] == []
