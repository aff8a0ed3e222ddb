"""Signatures of statements, by SSH keys as ``ssh-keygen`` makes and verifies them (its file format is PROTOCOL.sshsig).

A signature is for one namespace, so that none that was given for commits or mails can stand for a preview.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

NAMESPACE = "preview@jacquard.dev"
SUFFIX = ".sig"


class SignatureError(Exception):
    """A file cannot be signed, or its signature is not good; the text says why."""


def signature_of(file: Path) -> Path:
    """Return where the signature of ``file`` lies."""
    return file.with_name(file.name + SUFFIX)


def signature(content: bytes, key: Path) -> str:
    """Return the signature of ``content``, as text for a file.

    Args:
        content: what is signed.
        key: a private key, or a public one whose private half an agent holds.

    Raises:
        SignatureError: the key cannot be used.
    """
    failure = f"the preview cannot be signed with {key}"
    return _run("sign", "-n", NAMESPACE, "-f", str(key), failure=failure, content=content) + "\n"


def signer(file: Path, signers: Path) -> str:
    """Return who signed ``file``, of those whom ``signers`` lists in the format of ``ALLOWED SIGNERS``.

    Raises:
        SignatureError: there is no signature, it is not of this file, or of nobody who may sign.
    """
    found = signature_of(file)
    if not signers.is_file():
        msg = f"{signers} is missing, which lists who may sign"
        raise SignatureError(msg)
    if not found.is_file():
        msg = f"{file.name} is not signed: {found.name} is missing"
        raise SignatureError(msg)
    listed = ("-f", str(signers), "-s", str(found))
    names = _run("find-principals", *listed, failure=f"{found.name} is of nobody whom {signers.name} lists")
    name = names.split("\n", 1)[0]
    options = ("-I", name, "-n", NAMESPACE, *listed)
    _run(
        "verify", *options, failure=f"{found.name} is no signature of {file.name} by {name}", content=file.read_bytes()
    )
    return name


def _run(operation: str, *options: str, failure: str, content: bytes = b"") -> str:
    try:
        done = subprocess.run(
            ["ssh-keygen", "-Y", operation, *options], input=content, capture_output=True, check=False
        )
    except FileNotFoundError:
        msg = f"{failure}: there is no ssh-keygen; install OpenSSH's client"
        raise SignatureError(msg) from None
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        msg = f"{failure}: {said[-1].rstrip('.') if said else 'ssh-keygen said nothing'}"
        raise SignatureError(msg)
    return done.stdout.decode(errors="replace").strip()
