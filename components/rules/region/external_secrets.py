"""Rule about the reachability of the Vault with a region's Secrets."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from components.lookups.pools import DataPath, place, problem
from components.rules.rule import Rules
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem

_SERVER: DataPath = ("secrets", "vault", "server")


def vault_reachable(environment: Environment) -> Iterator[Problem]:
    """Report a Vault in the BMC network, because NetworkPolicies block this network for pods of the operator."""
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
            f"{host} is in networks.bmc ({bmcs}, {place(environment, REGION, ('networks', 'bmc'))}), which only"
            " hardware controllers reach; pick another address of Vault"
        )
        yield problem(environment, REGION, _SERVER, text)


RULES = Rules(data=(vault_reachable,))
