"""Import of hosts from the text of a foreign file, without the command."""

from __future__ import annotations

from components.specs.environment import Environment
from jacquard.exchange.choices import Choices
from jacquard.exchange.formats import Source
from jacquard.exchange.importing import Import, merge, read_hosts


def import_hosts(
    environment: Environment, hall: str, file: str, content: str, source: Source, choices: Choices, *, prune: bool
) -> Import:
    """Return the inventory of ``hall`` after an import of ``content`` of ``file``."""
    return merge(environment, hall, read_hosts(file, content, source), source, choices, prune=prune)
