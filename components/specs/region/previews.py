"""What an ``up`` of a region wants of a preview."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from components.specs.base import RELATIVE_PATH, Spec


class Applies(StrEnum):
    """What ``up`` applies."""

    ANYTHING = "anything"
    """Data are applied as they are; a preview that is named is held to."""
    PREVIEWED = "previewed"
    """Nothing is applied but what a preview showed: ``up`` wants ``--preview``."""


class PreviewsSpec(Spec):
    """What an ``up`` of a region wants of a preview.

    Whoever holds credentials of the region can go round it with ``pulumi``, so that only CI should hold them.
    """

    up_applies: Applies = Applies.ANYTHING
    """What ``up`` applies."""
    signers: str | None = Field(default=None, pattern=RELATIVE_PATH, max_length=253)
    """File with the public keys of those who may sign previews, as ``ssh-keygen`` reads allowed signers. It is relative
    to the folder above ``environments/``. A preview that none of them signed is of no use; nobody looks at signatures
    when it is left out."""
    valid_hours: int = Field(default=72, ge=1, le=720)
    """Hours after which nothing is applied by a preview any more."""
