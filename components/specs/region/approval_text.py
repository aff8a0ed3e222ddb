"""Edits of ``approvals.yaml`` that add an approval and preserve comments and other approvals."""

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
    """Return the text of ``approvals.yaml`` with ``word``, which replaces an approval of the same tenant and change.

    Args:
        text: Text of the file; empty if there is no file.
        word: Approval of the tenant.
    """
    entry = loaded(_entry(word))

    def edit(document: Any) -> Any:
        words = document.get(_WORDS) or loaded("[]")
        words.fa.set_block_style()
        at = next((index for index, approval in enumerate(words) if _same(approval, word)), None)
        if at is None:
            words.append(entry)
        else:
            words[at] = entry
        document[_WORDS] = words
        return document

    return edited(text or _EMPTY, edit)


def _same(approval: Any, word: ApprovalSpec) -> bool:
    return (approval.get("tenant"), approval.get("digest")) == (word.tenant, word.digest)


def _entry(word: ApprovalSpec) -> str:
    values = word.model_dump(mode="json", exclude_none=True)
    days = [name for name, value in word if isinstance(value, dt.date)]
    texts = (f"{name}: {value if name in days else entry_text(value)}" for name, value in values.items())
    return f"{{{', '.join(texts)}}}"
