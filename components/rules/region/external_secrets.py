"""Whether the store of a region's Secrets can be read from where its operator runs."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from components.lookups.pools import DataPath, place, problem
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem

_SERVER: DataPath = ("secrets", "vault", "server")


def vault_reachable(environment: Environment) -> Iterator[Problem]:
    """Report a Vault in the network of BMCs, which pods of its operator are walled off from."""
    region = environment.region
    vault, bmcs = region.secrets.vault, region.networks.bmc
    if vault is None:
        return
    host = urlsplit(vault.server).hostname or ""
    try:
        address = Address(host)
    except ValueError:
        return
    if address in bmcs:
        text = (
            f"{host} is in networks.bmc ({bmcs}, {place(environment, REGION, ('networks', 'bmc'))}), which only what"
            " commands hardware reaches; pick another address at which Vault answers"
        )
        yield problem(environment, REGION, _SERVER, text)
