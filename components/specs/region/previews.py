"""Preview requirements of ``up`` in a region."""

from enum import StrEnum

from pydantic import Field

from components.specs.base import RELATIVE_PATH, Spec


class Applies(StrEnum):
    """Changes that ``up`` applies."""

    ANYTHING = "anything"
    """``up`` applies the data directly. With ``--preview``, it applies exactly the previewed changes."""
    PREVIEWED = "previewed"
    """Changes must be previewed: ``up`` requires ``--preview``."""


class PreviewsSpec(Spec):
    """Preview requirements of ``up`` in a region.

    Owners of the region's credentials can bypass them with ``pulumi``, so only CI should have these credentials.
    """

    up_applies: Applies = Applies.ANYTHING
    """Changes that ``up`` applies."""
    signers: str | None = Field(default=None, pattern=RELATIVE_PATH, max_length=253)
    """File with the public keys of the accounts that may sign previews, in the allowed signers format of
    ``ssh-keygen``. The path is relative to the parent folder of ``environments/``. Previews without a signature of
    these keys are rejected. By default signatures are not verified."""
    valid_hours: int = Field(default=72, ge=1, le=720)
    """Hours for which a preview is valid."""
