"""Property tests run on shared machines: an example may take its time, a property may not fail."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")
