"""Steps of the pages for single tasks without the engine; `tests/e2e/pages/test_how_tos.py` also runs the engine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import Result

from components.rules.checks import check_data
from components.specs.environment import Environment
from components.specs.reading.fleet import load_fleet
from components.specs.reading.loader import environments, load_environment
from jacquard.cli.errors import ExitCode
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.repositories import COMMIT, committed, git
from tests.support.docs.walkthrough import (
    HOW_TOS,
    RETIRED_REGION,
    TWO_REGIONS,
    Command,
    Edit,
    Script,
    retired_region,
    steps,
)
from tests.support.exchange.fake_inventory import netbox_with_a_new_host

Invoke = Callable[..., Result]
ENGINE = {"up", "down", "preview", "status", "facts", "drift"}
"""Verbs that need the engine or a cluster."""
TOOLS = ("kubectl", "pulumi stack", "jacquard up")
"""Programs that need them too."""


def test_each_page_is_run() -> None:
    assert sorted(HOW_TOS) == sorted([*RESULTS, *OTHERS, RETIRED_REGION])


def rack(region: Environment) -> bool:
    return {host.rack for host in region.hosts} == {"a01", "a02", "a03"} and len(region.hosts) == 14


def two_tenants(region: Environment) -> bool:
    return [tenant.tenant for tenant in region.tenants] == ["first", "second"]


def machine(region: Environment) -> bool:
    [vm] = region.tenants[0].vms.instances if region.tenants[0].vms else []
    return vm.name == "bastion"


def spare(region: Environment) -> bool:
    held = [host for host, pool in region.allocations.hosts.items() if pool == "first-train/train"]
    return {"a01-u02", "a01-u06"} <= set(held)


def rolled(region: Environment) -> bool:
    pinned = {group: intent.partition("@")[0] for group, intent in region.image_pins.groups.items()}
    return pinned == {"first-train/system/a02": "cpu-2026.11.3", "first-train/train/a01": "gpu-2026.11.3"}


def unchanged(region: Environment) -> bool:
    return set(region.allocations.groups) == set(region.image_pins.groups) and len(region.hosts) == 12


def logins(region: Environment) -> bool:
    return {host.rack: host.bmc_secret for host in region.hosts} == {"a01": "bmc-a01-v2", "a02": "bmc-a02"}


def another(name: str, hosts: set[str]) -> Callable[[Environment, Path], bool]:
    """Return whether a further region has the hosts, and edge-1 is unchanged."""

    def right(region: Environment, data: Path) -> bool:
        other = load_environment(name, data)
        return unchanged(region) and {host.host for host in other.hosts} == hosts and check_data(other) == []

    return right


def new_host(region: Environment) -> bool:
    return len(region.hosts) == 13 and "a05-u01" in {host.host for host in region.hosts}


def returned(region: Environment) -> bool:
    return unchanged(region) and region.out_of_service == {} and len(region.host_tests) == len(region.hosts)


def empty(region: Environment) -> bool:
    return region.tenants == () and region.allocations.hosts == {}


RESULTS: dict[str, Callable[[Environment], bool]] = {
    "add-a-rack": rack,
    "add-a-tenant": two_tenants,
    "order-vms": machine,
    "take-out-a-host": spare,
    "survive-the-loss-of-a-hall": returned,
    "upgrade-kubernetes": rolled,
    "upgrade-jacquard": unchanged,
    "retire-a-tenant": empty,
    "rotate-bmc-logins": logins,
    "keep-inventory-in-step-with-netbox": new_host,
    "restore": unchanged,
    "deliver-with-gitops": unchanged,
}
"""Checks of the data that the page promises."""
OTHERS = {
    "move-to-real-hardware": another("metro-1", {"m01-u01", "m01-u02"}),
    "adopt-a-running-region": another("depot-1", {"r7-01"}),
}
"""The same for pages that create a region."""


@pytest.fixture
def project(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a committed region, in the state after the first `allocate` of the tutorial."""
    folder = tmp_path / "clone" / "environments"
    shutil.copytree(ENVIRONMENTS / "catalog", folder / "catalog")
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder))
    for verb in ("new", "allocate"):
        assert invoke(verb, "edge-1").exit_code == ExitCode.OK
    return committed(folder).parent


def follow(invoke: Invoke, project: Path, every: list[Command | Edit | Script]) -> None:
    for step in every:
        assert not isinstance(step, Command) or step.words[0] == "jacquard", f"not a command: {step}"
        match step:
            case Edit():
                step.apply(project)
            case Script(text=text) if not any(tool in text for tool in TOOLS):
                step.run(project)
            case Command(words=("jacquard", "up", *_)):
                git(project, "add", "environments")
                git(project, *COMMIT, "--allow-empty")
            case Command(words=("jacquard", verb, *rest)) if verb not in ENGINE:
                result = invoke(verb, *rest)
                assert result.exit_code == ExitCode.OK, f"{verb}: {result.output}"


@pytest.fixture
def netbox(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """NetBox with the hosts of the region and another one, and the variables of the page."""
    with netbox_with_a_new_host("edge-1", project / "environments") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield


@pytest.mark.usefixtures("netbox")
@pytest.mark.parametrize("page", [*RESULTS, *OTHERS])
def test_the_steps_of_the_page_work_without_the_engine(invoke: Invoke, project: Path, page: str) -> None:
    follow(invoke, project, steps(f"how-to/{page}.md"))

    assert invoke("check").exit_code == ExitCode.OK
    data = project / "environments"
    region = load_environment("edge-1", data)
    assert OTHERS[page](region, data) if page in OTHERS else RESULTS[page](region)


def test_a_region_is_retired_as_its_page_says(invoke: Invoke, project: Path) -> None:
    data = project / "environments"
    (data / "fleet.yaml").write_text(TWO_REGIONS)
    for verb in ("new", "allocate"):
        assert invoke(verb, "edge-2").exit_code == ExitCode.OK
    git(project, "add", "environments")
    git(project, *COMMIT)

    follow(invoke, project, retired_region())

    assert [*environments(data)] == ["edge-2"]
    assert [*load_fleet(data).regions] == ["edge-2"]
