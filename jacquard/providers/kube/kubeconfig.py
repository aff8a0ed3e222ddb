"""Reads a kubeconfig file: server address, TLS settings and credentials."""

import base64
import binascii
import ssl
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from jacquard.providers.kube.credentials import exec_credential
from jacquard.providers.kube.errors import KubeconfigError, KubeconfigMissing


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Connection to the API server of a context. Its representation contains no credential."""

    server: str
    """URL of the API server, with a path prefix if a proxy serves several clusters."""
    namespace: str
    """Namespace of the context, ``default`` if it has none."""
    headers: Mapping[str, str] = field(repr=False)
    tls: ssl.SSLContext | None = field(repr=False)
    """TLS settings; None for plain HTTP."""
    tls_server_name: str | None = None
    renew: Callable[[], Mapping[str, str]] | None = field(default=None, repr=False)
    """Function that returns fresh ``headers``; None for a credential in the kubeconfig itself."""


def load(path: Path, context: str | None = None) -> Connection:
    """Read ``path`` and resolve ``context`` (default: the current context of the file).

    Raises:
        KubeconfigError: The file is missing or not a kubeconfig, or the context requires an unsupported feature.
    """
    if not str(path).strip() or str(path) == ".":
        msg = "kubeconfig is empty; name the kubeconfig file of the cluster, the ambient cluster is never used"
        raise KubeconfigError(msg)
    path = path.expanduser()
    config = _read(path)
    name = context or config.get("current-context")
    if not name:
        msg = f"{path}: has no current-context; choose one of {_names(config, 'contexts')}"
        raise KubeconfigError(msg)
    chosen = _entry(path, config, "context", str(name))
    cluster = _entry(path, config, "cluster", str(chosen.get("cluster")))
    entry = _entry(path, config, "user", str(chosen["user"])) if chosen.get("user") else {}
    server = str(cluster.get("server") or "")
    if not server.startswith(("https://", "http://")):
        msg = f"{path}: cluster '{chosen.get('cluster')}' has server '{server}', which is not an http(s) URL"
        raise KubeconfigError(msg)
    for section, key in ((cluster, "proxy-url"), (entry, "auth-provider"), (entry, "as")):
        if section.get(key):
            msg = f"{path}: context '{name}' uses '{key}', which is not supported; use a context without it"
            raise KubeconfigError(msg)
    user = _with_credential(path, entry)
    return Connection(
        server=server.rstrip("/"),
        namespace=str(chosen.get("namespace") or "default"),
        headers=_headers(path, user),
        tls=_tls(path, cluster, user) if server.startswith("https://") else None,
        tls_server_name=cluster.get("tls-server-name"),
        renew=(lambda: _headers(path, _with_credential(path, entry)))
        if entry.get("exec") or entry.get("tokenFile")
        else None,
    )


def _with_credential(path: Path, user: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a user with the current response of its credential program, if any."""
    return {**user, **exec_credential(path, user["exec"])} if user.get("exec") else user


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        msg = f"{path}: does not exist; the cluster does not exist yet, or was not created from this machine"
        raise KubeconfigMissing(msg) from None
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read ({error})"
        raise KubeconfigError(msg) from None
    try:
        config = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    except yaml.YAMLError as error:
        msg = f"{path}: is not YAML (line {_line(error)}); write the kubeconfig again"
        raise KubeconfigError(msg) from None
    if not isinstance(config, dict) or not isinstance(config.get("clusters"), list):
        msg = f"{path}: is not a kubeconfig; it has no list 'clusters'"
        raise KubeconfigError(msg)
    return config


def _line(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return "unknown" if mark is None else str(mark.line + 1)


def _names(config: Mapping[str, Any], section: str) -> str:
    return ", ".join(sorted(str(item.get("name")) for item in config.get(section) or ())) or "none"


def _entry(path: Path, config: Mapping[str, Any], what: str, name: str) -> dict[str, Any]:
    for item in config.get(f"{what}s") or ():
        if item.get("name") == name:
            return dict(item.get(what) or {})
    msg = f"{path}: has no {what} '{name}'; it has {_names(config, f'{what}s')}"
    raise KubeconfigError(msg)


def _headers(path: Path, user: Mapping[str, Any]) -> dict[str, str]:
    token = user.get("token")
    if user.get("tokenFile"):
        token = _file(path, user["tokenFile"]).decode().strip()
    if token:
        return {"Authorization": f"Bearer {token}"}
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password', '')}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _tls(path: Path, cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    authority = _pem(path, cluster, "certificate-authority")
    certificate, key = _pem(path, user, "client-certificate"), _pem(path, user, "client-key")
    try:
        tls = ssl.create_default_context(cadata=authority.decode() if authority else None)
        if certificate and key:
            _use_certificate(tls, certificate + b"\n" + key)
    except (ssl.SSLError, ValueError) as error:
        msg = f"{path}: a certificate or key is not usable ({error}); write the kubeconfig again"
        raise KubeconfigError(msg) from None
    if cluster.get("insecure-skip-tls-verify"):
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    return tls


def _use_certificate(tls: ssl.SSLContext, pem: bytes) -> None:
    """Load a certificate with its key; the standard library only reads them from a file."""
    with tempfile.NamedTemporaryFile(prefix="jacquard-", suffix=".pem") as file:
        file.write(pem)
        file.flush()
        tls.load_cert_chain(file.name)


def _pem(path: Path, section: Mapping[str, Any], key: str) -> bytes | None:
    if section.get(f"{key}-data"):
        try:
            return base64.b64decode(section[f"{key}-data"], validate=True)
        except (binascii.Error, TypeError):
            msg = f"{path}: '{key}-data' is not base64; write the kubeconfig again"
            raise KubeconfigError(msg) from None
    return _file(path, section[key]) if section.get(key) else None


def _file(path: Path, name: str) -> bytes:
    file = path.parent / Path(name).expanduser()
    try:
        return file.read_bytes()
    except OSError as error:
        msg = f"{path}: refers to {file}, which cannot be read ({error.strerror})"
        raise KubeconfigError(msg) from None
