"""The laptop region, foreign files with two new machines, and their import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.reading.problems import SpecError
from jacquard.exchange.choices import Choices
from jacquard.exchange.formats import SOURCES, SourceFormat
from jacquard.exchange.importing import Import
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.exchange.fake_inventory import FakeInventory, device, fake_inventory
from tests.support.exchange.foreign_files import import_hosts

FILES = Path(__file__).parent / "files"
Read = Callable[..., Import]
Refused = Callable[..., str]
Serve = Callable[..., FakeInventory]


@pytest.fixture(scope="session")
def region() -> Environment:
    return load_environment("laptop", ENVIRONMENTS)


@pytest.fixture
def read(region: Environment) -> Read:
    """Import a text, or one of the files, into hall a."""

    def run(source: str, text: str, *, hall: str = "a", prune: bool = False, **choices: Any) -> Import:
        path = FILES / text
        content = path.read_text(encoding="utf-8") if "\n" not in text and path.is_file() else text
        return import_hosts(
            region, hall, "the.file", content, SOURCES[SourceFormat(source)], Choices(**choices), prune=prune
        )

    return run


@pytest.fixture
def refused(read: Read) -> Refused:
    """Return the report about a text, without the headline."""

    def run(source: str, text: str, **choices: Any) -> str:
        with pytest.raises(SpecError) as caught:
            read(source, text, **choices)
        return str(caught.value).partition("\n")[2]

    return run


@pytest.fixture
def serve(region: Environment) -> Iterator[Serve]:
    """Serve the hosts of the region."""
    with ExitStack() as stack:

        def start(kind: str, **options: Any) -> FakeInventory:
            return stack.enter_context(fake_inventory(kind, map(device, region.hosts), **options))

        yield start
