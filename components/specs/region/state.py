"""State of an environment: its storage, and the stacks that it is divided into."""

from enum import StrEnum
from typing import Annotated

from pydantic import StringConstraints

from components.specs.base import NO_SECRET, Spec, Text

STATE_BACKEND = r"^(azblob|file|gs|https|postgres|s3)://[^\s]+$"


class StackLayout(StrEnum):
    """Layout of Pulumi stacks: one stack for the whole environment, or one for each slice."""

    WHOLE = "whole"
    """One stack, named after the environment, applies everything."""
    SLICED = "sliced"
    """Each slice has its own stack, ``<environment>.<slice>``."""


class StateSpec(Spec):
    """Storage of Pulumi state, and encryption of its secrets."""

    backend: Annotated[str, StringConstraints(pattern=STATE_BACKEND, max_length=253), NO_SECRET]
    """URL for ``pulumi login``, such as ``s3://bucket/region``. Passwords and keys of the backend are variables of the
    environment of ``jacquard``, such as ``AWS_SECRET_ACCESS_KEY`` or ``PGPASSWORD``."""
    secrets_provider: Annotated[Text, NO_SECRET]
    """URL for ``pulumi stack init --secrets-provider``, such as ``awskms://alias/pulumi``."""
