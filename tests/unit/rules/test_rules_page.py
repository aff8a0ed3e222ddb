"""The page about rules names each rule exactly once, and no removed rule."""

from __future__ import annotations

import re
from collections import Counter

from components.rules.checks import descriptions
from jacquard.machine import paths


def test_each_rule_is_once_in_the_table_of_the_page() -> None:
    page = (paths.ROOT / "docs/reference/rules.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]

    named = Counter(name for row in rows for name in re.findall(r"`([a-z-]+\.[a-z-]+)`", row))

    assert named == Counter(descriptions().keys())


def test_each_rule_describes_its_reports() -> None:
    assert [name for name, text in descriptions().items() if not text.startswith("Report ")] == []
