"""Text that the strict reader accepts has the same meaning for YAML 1.1 and YAML 1.2 readers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import YAMLError

from components.specs.reading.strict_yaml import StrictYamlReader, is_plain

_MOMENT = "tag:yaml.org,2002:timestamp"
"""Dates are unquoted in data files and read as text, which the model parses."""
# fmt: off
_TRICKY = (
    "yes", "No", "on", "OFF", "y", "true", "False", "tRUE", "null", "~", "0", "-0", "00", "08", "0755", "0o17", "0b11",
    "1_000", "1__0", "+1", "-5", "0x1F", "-0x1", "0x", "99999999999999999999", "1.30", "1e5", "1.e5", "1e", ".5", "5.",
    "-.inf", ".NaN", ".", "..", "0.1.2", "1:30", "190:20:30", "02:00:00:01:01:01", "2026-11-03", "2026-11-03T10:00:00Z",
    "-_", "<<", "=", "---", "...", "10.0.0.1", "10.0.0.0/8", "5%", "gpu-2026.11.1",
)
# fmt: on
_LETTERS = "0123456789abefnostuxyzNOTY+-._:,~!&*#<=|>%@?'\"[]{}\\ \n"
scalars = st.one_of(
    st.sampled_from(_TRICKY),
    st.from_regex(r"[-+]?[0-9.][0-9_.:eExXoObB+-]{0,6}", fullmatch=True),
    st.text(alphabet=_LETTERS, max_size=8),
)
documents = st.builds("{}: {}\n".format, st.one_of(st.just("name"), scalars), scalars)


class _OldLoader(yaml.SafeLoader):
    """YAML 1.1."""


class _NewConstructor(SafeConstructor):
    """YAML 1.2."""


_OldLoader.add_constructor(_MOMENT, yaml.SafeLoader.construct_yaml_str)
_NewConstructor.add_constructor(_MOMENT, SafeConstructor.construct_yaml_str)


def _read_old(text: str) -> Any:
    return yaml.load(text, Loader=_OldLoader)  # noqa: S506 - a safe loader


def _read_new(text: str) -> Any:
    reader = YAML(typ="safe", pure=True)
    reader.Constructor = _NewConstructor
    return reader.load(text)


@pytest.mark.parametrize("read", [_read_old, _read_new])
@given(text=documents)
@settings(max_examples=300)
def test_other_readers_agree_on_accepted_text(read: Callable[[str], Any], text: str) -> None:
    strict = StrictYamlReader("a.yaml")
    value, _ = strict.read(text)
    if not strict.problems and isinstance(value, dict):
        with contextlib.suppress(
            YAMLError, yaml.YAMLError
        ):  # It rejects what the other reader rejects, without misreading it.
            other = read(text)
            assert (other, repr(other)) == (value, repr(value))


@pytest.mark.parametrize("read", [_read_old, _read_new])
@given(text=st.one_of(st.sampled_from(_TRICKY), st.from_regex(r"[-.:a-z0-9]{1,12}", fullmatch=True)))
def test_plain_text_is_text_for_every_reader(read: Callable[[str], Any], text: str) -> None:
    assume(is_plain(text) and text[0].isalnum() and text[-1] != ":")

    assert read(f"{text}: {text}\n") == {text: text}
