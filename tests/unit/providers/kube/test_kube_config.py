"""Kubeconfigs: supported features, and complete error messages."""

from __future__ import annotations

import base64
import copy
import json
import ssl
import sys
from pathlib import Path
from typing import Any

import pytest

from jacquard.providers.kube import ApiServer, KubeconfigError
from jacquard.providers.kube.kubeconfig import load

CONFIG: dict[str, Any] = {
    "clusters": [{"name": "north", "cluster": {"server": "https://127.0.0.1:6443/"}}],
    "users": [{"name": "admin", "user": {"token": "t0ken"}}],
    "contexts": [{"name": "main", "context": {"cluster": "north", "user": "admin", "namespace": "ops"}}],
    "current-context": "main",
}


def written(path: Path, config: object) -> Path:
    file = path / "kubeconfig.yaml"
    file.write_text(config if isinstance(config, str) else json.dumps(config))
    return file


def changed(section: str, **values: Any) -> dict[str, Any]:
    config = copy.deepcopy(CONFIG)
    config[section][0][section.removesuffix("s")] |= values
    return config


def test_the_current_context_is_used(tmp_path: Path) -> None:
    found = load(written(tmp_path, CONFIG))
    assert (found.server, found.namespace) == ("https://127.0.0.1:6443", "ops")
    assert found.headers == {"Authorization": "Bearer t0ken"}
    assert found.tls is not None
    assert found.tls.verify_mode is ssl.CERT_REQUIRED


def test_no_credential_shows_in_a_representation(tmp_path: Path) -> None:
    assert "t0ken" not in repr(load(written(tmp_path, CONFIG)))


def test_password_and_token_file_are_used(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    config = changed("users", token=None, tokenFile="token")
    assert load(written(tmp_path, config)).headers == {"Authorization": "Bearer from-file"}
    config = changed("users", token=None, username="u", password="p")
    assert load(written(tmp_path, config)).headers == {"Authorization": "Basic dTpw"}


def test_verification_is_only_disabled_by_the_file(tmp_path: Path) -> None:
    found = load(written(tmp_path, changed("clusters", **{"insecure-skip-tls-verify": True})))
    assert found.tls is not None
    assert found.tls.verify_mode is ssl.CERT_NONE
    ApiServer(found).close()


def test_a_credential_program_is_run(tmp_path: Path) -> None:
    code = "import json;print(json.dumps({'status': {'token': 'fresh'}}))"
    config = changed("users", token=None, exec={"command": sys.executable, "args": ["-c", code]})
    assert load(written(tmp_path, config)).headers == {"Authorization": "Bearer fresh"}


def test_only_a_credential_that_can_change_is_renewed(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first")
    found = load(written(tmp_path, changed("users", token=None, tokenFile="token")))
    (tmp_path / "token").write_text("second")

    assert found.headers == {"Authorization": "Bearer first"}
    assert found.renew is not None
    assert found.renew() == {"Authorization": "Bearer second"}
    assert load(written(tmp_path, CONFIG)).renew is None


def test_files_next_to_a_kubeconfig_in_the_home_folder_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "token").write_text("from-file")
    written(tmp_path, changed("users", token=None, tokenFile="token"))

    assert load(Path("~/kubeconfig.yaml")).headers == {"Authorization": "Bearer from-file"}


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ("a: b: c", "is not YAML (line 1); write the kubeconfig again"),
        ({"kind": "Config"}, "is not a kubeconfig; it has no list 'clusters'"),
        ({**CONFIG, "current-context": ""}, "has no current-context; choose one of main"),
        ({**CONFIG, "current-context": "south"}, "has no context 'south'; it has main"),
        ({**CONFIG, "users": []}, "has no user 'admin'; it has none"),
        (
            changed("clusters", server="north:6443"),
            "cluster 'north' has server 'north:6443', which is not an http(s) URL",
        ),
        (
            changed("clusters", **{"proxy-url": "http://p"}),
            "context 'main' uses 'proxy-url', which is not supported; use a context without it",
        ),
        (
            changed("clusters", **{"certificate-authority-data": "%"}),
            "'certificate-authority-data' is not base64; write the kubeconfig again",
        ),
        (
            changed("users", exec={"command": "/no/such/program"}),
            "the credential program '/no/such/program' returned no credential (No such file or directory)",
        ),
        (
            changed("users", exec={"command": sys.executable, "args": ["-c", "print('{\"status\": null}')"]}),
            f"the credential program '{sys.executable}' returned no credential (its output is not an ExecCredential)",
        ),
        (
            changed("users", exec={"command": sys.executable, "args": ["-c", "print('t0p'); exit(3)"]}),
            f"the credential program '{sys.executable}' returned no credential (exit status 3)",
        ),
    ],
)
def test_unsupported_settings_are_rejected_with_the_reason(tmp_path: Path, config: object, text: str) -> None:
    path = written(tmp_path, config)
    with pytest.raises(KubeconfigError) as error:
        load(path)
    assert str(error.value) == f"{path}: {text}"


def test_bad_certificates_are_refused(tmp_path: Path) -> None:
    data = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").decode()
    path = written(tmp_path, changed("clusters", **{"certificate-authority-data": data}))
    with pytest.raises(KubeconfigError, match=r"a certificate or key is not usable \(.*\); write the kubeconfig again"):
        load(path)


def test_a_missing_file_is_reported_and_an_empty_path_is_never_the_ambient_cluster(tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    with pytest.raises(KubeconfigError) as missing:
        ApiServer.from_kubeconfig(path)
    with pytest.raises(KubeconfigError) as empty:
        ApiServer.from_kubeconfig(Path())
    assert str(missing.value) == (
        f"{path}: does not exist; the cluster does not exist yet, or was not created from this machine"
    )
    assert str(empty.value) == (
        "kubeconfig is empty; name the kubeconfig file of the cluster, the ambient cluster is never used"
    )
