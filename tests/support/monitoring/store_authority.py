"""CA and certificate of the stores' proxy, issued with ``openssl`` as cert-manager does for the rendered objects.

Names, addresses, keys and usages are those of the rendered Certificates; the address of the proxy is that of this
machine.
"""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from components.render.manifest import Manifest
from components.render.region.stores.store_certificates import SERVER_SECRET
from jacquard.lab.rehearsal import ports

_CURVES = {256: "prime256v1"}
_EXTENDED = {"server auth": "serverAuth", "client auth": "clientAuth"}


class StoreAuthority:
    """A CA, and the folder of the proxy's Secret with ``tls.crt`` and ``tls.key``.

    Args:
        folder: Folder for all its files.
        certificates: Rendered Certificates, of the CA and of the proxy.
    """

    def __init__(self, folder: Path, certificates: Iterable[Manifest]) -> None:
        specs: dict[str, dict[str, Any]] = {item.name: item.body["spec"] for item in certificates}
        [self._authority] = [spec for spec in specs.values() if spec.get("isCA")]
        self._server = specs[SERVER_SECRET]
        self._folder, self.secret = folder, folder / SERVER_SECRET
        self.secret.mkdir(parents=True)
        self._key(self._authority, folder / "ca.key")
        self.renew_authority()
        self.renew()

    @property
    def certificate(self) -> str:
        """The certificate of the CA, as in the key ``ca.crt`` of Secrets."""
        return (self._folder / "ca.crt").read_text()

    def trust(self, certificate: str) -> ssl.SSLContext:
        """Return the TLS trust of a client that only has ``certificate``."""
        return ssl.create_default_context(cadata=certificate)

    def served(self, url: str) -> str:
        """Return the certificate that a server presents, which the CA must have signed."""
        host, port = str(urlsplit(url).hostname), int(urlsplit(url).port or 0)
        trust = self.trust(self.certificate)
        with (
            socket.create_connection((host, port), timeout=30) as connection,
            trust.wrap_socket(connection, server_hostname=host) as secured,
        ):
            return ssl.DER_cert_to_PEM_cert(secured.getpeercert(binary_form=True) or b"")

    def renew_authority(self) -> None:
        """Issue the certificate of the CA again, with the same key (``rotationPolicy: Never``)."""
        subject = f"/CN={self._authority['commonName']}"
        extensions = ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign")
        further = [text for extension in extensions for text in ("-addext", extension)]
        key, out = str(self._folder / "ca.key"), str(self._folder / "ca.crt")
        _openssl("req", "-x509", "-new", "-key", key, "-subj", subject, "-days", "3650", *further, "-out", out)

    def renew(self) -> None:
        """Issue the certificate of the proxy again, with another key."""
        key, request, made = (self._folder / f"server.{suffix}" for suffix in ("key", "csr", "crt"))
        self._key(self._server, key)
        _openssl("req", "-new", "-key", str(key), "-subj", "/", "-out", str(request))
        names = [f"DNS:{name}" for name in self._server["dnsNames"]]
        names += [f"IP:{ports.LOOPBACK}" for _ in self._server["ipAddresses"]]
        usages = ",".join(_EXTENDED[usage] for usage in self._server["usages"])
        extensions = self._folder / "server.ext"
        extensions.write_text(f"subjectAltName=critical,{','.join(names)}\nextendedKeyUsage={usages}\n")
        signed_by = ["-CA", str(self._folder / "ca.crt"), "-CAkey", str(self._folder / "ca.key"), "-CAcreateserial"]
        options = ["-extfile", str(extensions), "-days", "90", "-out", str(made)]
        _openssl("x509", "-req", "-in", str(request), *signed_by, *options)
        for file, name in ((made, "tls.crt"), (key, "tls.key")):
            file.replace(self.secret / name)

    def _key(self, spec: dict[str, Any], file: Path) -> None:
        assert spec["privateKey"]["algorithm"] == "ECDSA"
        _openssl("ecparam", "-name", _CURVES[spec["privateKey"]["size"]], "-genkey", "-noout", "-out", str(file))


def _openssl(*arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
