"""SSH signatures of statements, created and verified by ``ssh-keygen`` (file format: PROTOCOL.sshsig).

Signatures have a namespace, so that signatures of commits or mails are not valid for previews.
"""

import subprocess
from pathlib import Path

NAMESPACE = "preview@jacquard.dev"
SUFFIX = ".sig"


class SignatureError(Exception):
    """A file cannot be signed, or its signature is invalid; the message contains the reason."""


def signature_of(file: Path) -> Path:
    """Return the path of the signature of ``file``."""
    return file.with_name(file.name + SUFFIX)


def signature(content: bytes, key: Path) -> str:
    """Return the signature of ``content`` as the text of a signature file.

    Args:
        content: bytes to sign.
        key: a private key, or a public key whose private key is loaded in an SSH agent.

    Raises:
        SignatureError: the key cannot be used.
    """
    failure = f"the preview cannot be signed with {key}"
    return _run("sign", "-n", NAMESPACE, "-f", str(key), failure=failure, content=content) + "\n"


def signer(file: Path, signers: Path) -> str:
    """Return the signer of ``file``, one of the principals in ``signers`` (``ALLOWED SIGNERS`` format of ssh-keygen).

    Raises:
        SignatureError: there is no signature, it is not valid for the file, or the signer is not listed.
    """
    signature_file = signature_of(file)
    if not signers.is_file():
        msg = f"{signers} is missing; list the allowed signers in it"
        raise SignatureError(msg)
    if not signature_file.is_file():
        msg = f"{file.name} is not signed: {signature_file.name} is missing"
        raise SignatureError(msg)
    listed = ("-f", str(signers), "-s", str(signature_file))
    unlisted = f"{signature_file.name} is not by a signer listed in {signers.name}"
    name = _run("find-principals", *listed, failure=unlisted).split("\n", 1)[0]
    options = ("-I", name, "-n", NAMESPACE, *listed)
    invalid = f"{signature_file.name} is not a valid signature of {file.name} by {name}"
    _run("verify", *options, failure=invalid, content=file.read_bytes())
    return name


def _run(operation: str, *options: str, failure: str, content: bytes = b"") -> str:
    try:
        done = subprocess.run(
            ["ssh-keygen", "-Y", operation, *options], input=content, capture_output=True, check=False
        )
    except FileNotFoundError:
        msg = f"{failure}: ssh-keygen not found; install the OpenSSH client"
        raise SignatureError(msg) from None
    if done.returncode:
        output = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        msg = f"{failure}: {output[-1].rstrip('.') if output else 'ssh-keygen failed without output'}"
        raise SignatureError(msg)
    return done.stdout.decode(errors="replace").strip()
