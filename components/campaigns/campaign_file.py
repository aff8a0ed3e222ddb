"""Text of a campaign's file with new progress, or with a stop."""

from typing import Any

from components.specs.base import Spec
from components.specs.fleet.campaign import CampaignSpec
from components.specs.reading.edits import edited, loaded
from components.specs.reading.lock_text import entry_text


def with_progress(text: str, before: CampaignSpec, after: CampaignSpec) -> str:
    """Return the file ``text`` of ``before`` with the progress and the stop of ``after``. Other bytes are preserved."""
    if (before.progress, before.stopped) == (after.progress, after.stopped):
        return text

    def edit(document: Any) -> Any:
        for region, progress in after.progress.items():
            if progress != before.progress.get(region):
                if document.get("progress") is None:
                    document["progress"] = loaded(f"{region}: {_entry(progress)}\n")
                document["progress"][region] = loaded(_entry(progress))
        if after.stopped and after.stopped != before.stopped:
            document["stopped"] = loaded(_entry(after.stopped))
        return document

    return edited(text, edit)


def _entry(spec: Spec) -> str:
    return entry_text(spec.model_dump(mode="json", exclude_defaults=True))
