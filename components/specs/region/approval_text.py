"""The edit of ``approvals.yaml`` that a tenant's word is: its comments, and the words of others, stay as they are."""

from __future__ import annotations

import datetime as dt
from typing import Any

from components.specs.reading.edits import edited, loaded
from components.specs.reading.lock_text import entry_text
from components.specs.region.approvals import ApprovalsFile, ApprovalSpec

_EMPTY = f"""# yaml-language-server: $schema=../../schemas/approvals.schema.json
schema_version: {ApprovalsFile.FORMAT}
approvals:
"""
_WORDS = "approvals"


def with_approval(text: str, word: ApprovalSpec) -> str:
    """Return an ``approvals.yaml`` with ``word``; one of the same tenant on the same change is replaced.

    Args:
        text: of the file; empty where there is none.
        word: what the tenant says.
    """
    entry = loaded(_entry(word))

    def edit(document: Any) -> Any:
        words = document.get(_WORDS) or loaded("[]")
        words.fa.set_block_style()
        at = next((index for index, one in enumerate(words) if _same(one, word)), None)
        if at is None:
            words.append(entry)
        else:
            words[at] = entry
        document[_WORDS] = words
        return document

    return edited(text or _EMPTY, edit)


def _same(one: Any, word: ApprovalSpec) -> bool:
    return (one.get("tenant"), one.get("digest")) == (word.tenant, word.digest)


def _entry(word: ApprovalSpec) -> str:
    said = word.model_dump(mode="json", exclude_none=True)
    days = [name for name, value in word if isinstance(value, dt.date)]
    texts = (f"{name}: {value if name in days else entry_text(value)}" for name, value in said.items())
    return f"{{{', '.join(texts)}}}"
