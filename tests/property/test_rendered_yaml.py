"""Files from ``jacquard render`` parse as the same objects with YAML 1.1 and YAML 1.2."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from jacquard.cli.views.render_tree import yaml_text

TRAPS = (
    *("", " ", "~", "-", "?", ":", "#", "yes", "No", "ON", "null", "True", ".inf", ".nan", "=", "<<", "a: b", "a #b"),
    *("1", "-1", "1_000", "1e3", "0x1f", "0b1", "017", "1.30", "1.2.3", "10.0.0.1", "10.0.0.0/8", "2026-11-03"),
    *("80:11:22:33:44:55", "80:c1:00:00:01:01", "12:30", "a:", "http://x:1", "/dev/sda", "500Gi", "52ab9a8", "1.e+5"),
    *("- a", "[a]", "{a}", "*a", "&a", "!a", "%a", "@a", "`a", "'", '"', "a'b", "|", ">", "a,b", "v1.35.2"),
    *("a\nb", "a\n", "a\n\n", "\na", " a\nb", "a\n  b\n", "# a\nb\n"),
)
LETTERS = st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs"))
TEXTS = st.sampled_from(TRAPS) | st.text(LETTERS, max_size=12)
NUMBERS = st.integers() | st.floats(-1e6, 1e6).map(lambda number: round(number, 3))
"""Without floats that Python writes as 5e-07, which YAML 1.1 parses as text; no object has one."""
SCALARS = TEXTS | st.none() | st.booleans() | NUMBERS
KEYS = TEXTS.filter(lambda text: "\n" not in text)
BODIES = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=12
    ),
    min_size=1,
    max_size=4,
)


@given(BODIES)
@example({"every": list(TRAPS), "each": {text: text for text in TRAPS if "\n" not in text}})
@example({"numbers": [1, True, 1.0, 0, False, 0.0, None], "nested": [[["a"], []], [{"b": [{}]}], {"c": {"d": "e\nf"}}]})
def test_an_object_is_read_back_as_it_was_by_either_version(body: dict[str, Any]) -> None:
    text = yaml_text(body)

    assert yaml.safe_load(text) == body
    assert YAML(typ="safe", pure=True).load(text) == body
