"""The vendor's engine is used if it is installed, recent and complete; otherwise the reason to build is reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jacquard.lab.toolchain import engine, versions
from jacquard.lab.toolchain.engine import MARK, OURS, Engine
from jacquard.machine.errors import ToolchainError

PULUMI = """
if sys.argv[1:] == ["version"]:
    print("v{version}")
elif sys.argv[1:4] == ["plugin", "install", "resource"]:
    if {offline}:
        sys.exit("error: could not fetch\\nno such host")
    folder = Path(os.environ["PULUMI_HOME"], "plugins", f"resource-{{sys.argv[4]}}-{{sys.argv[5]}}")
    folder.mkdir(parents=True)
    (folder / f"pulumi-resource-{{sys.argv[4]}}").write_text("fetched")
else:
    sys.exit(2)
"""


class Vendor:
    """A machine on which parts of the vendor's distribution can be installed."""

    def __init__(self, folder: Path, user: Path, script: Callable[..., Path]) -> None:
        self.folder = folder
        self.user = user
        self._script = script

    def install(self, version: str = "3.260.1", *, host: bool = True, offline: bool = True) -> Path:
        if host:
            self._script(self.folder / "pulumi-language-python", "")
        return self._script(self.folder / "pulumi", PULUMI.format(version=version, offline=offline))

    def plugin(self, provider: str, content: str = "vendor's") -> Path:
        folder = self.user / ".pulumi" / "plugins" / engine.plugin(provider)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"pulumi-resource-{provider}").write_text(content)
        return folder


@pytest.fixture
def vendor(cache: Path, search_path: Path, tmp_path: Path, script: Callable[..., Path]) -> Vendor:
    assert not cache.exists()
    return Vendor(search_path, tmp_path / "user", script)


BUILT = f"v{versions.of_package('pulumi')}"
KUBERNETES = "resource-kubernetes-v" + versions.of_package("pulumi-kubernetes")


def why(*, fetch: bool = False) -> str:
    chosen = engine.choose(fetch=fetch)
    assert (chosen.vendor, chosen.version, chosen.plugins) == (None, BUILT, {})
    return chosen.why


def test_a_complete_installation_is_used(vendor: Vendor) -> None:
    pulumi = vendor.install()
    plugins = {provider: vendor.plugin(provider) for provider in ("kubernetes", "command")}

    assert engine.choose(fetch=False) == Engine(
        vendor=pulumi, version="v3.260.1", why="installed and complete", plugins=plugins
    )


def test_the_users_plugins_are_found_from_within_this_clones_environment(
    vendor: Vendor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor.install()
    for provider in engine.PROVIDERS:
        vendor.plugin(provider)
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "of this clone"))
    assert engine.choose(fetch=False).vendor is not None


@pytest.mark.usefixtures("vendor")
def test_without_pulumi_it_is_built() -> None:
    assert why() == "pulumi is not on PATH"


def test_an_old_pulumi_is_not_used(vendor: Vendor) -> None:
    pulumi = vendor.install("3.99.0")
    assert why() == f"{pulumi} is 3.99.0, needs 3.259.0 or newer"


def test_the_oldest_allowed_pulumi_is_used(vendor: Vendor) -> None:
    vendor.install(versions.of_package("pulumi"))
    for provider in engine.PROVIDERS:
        vendor.plugin(provider)
    assert engine.choose(fetch=False).vendor is not None


def test_a_pulumi_that_cannot_run_is_not_used(vendor: Vendor) -> None:
    pulumi = vendor.install()
    pulumi.write_text("#!/bin/sh\nexit 1\n")
    assert why() == f"{pulumi} is of unknown version, needs 3.259.0 or newer"


def test_a_pulumi_without_language_host_is_not_used(vendor: Vendor) -> None:
    pulumi = vendor.install(host=False)
    assert why() == f"{pulumi} has no pulumi-language-python next to it"


def test_the_language_host_may_be_a_symbolic_link(vendor: Vendor, tmp_path: Path, search_path: Path) -> None:
    pulumi = vendor.install()
    hidden = tmp_path / "distribution"
    search_path.rename(hidden)
    search_path.mkdir()
    pulumi.symlink_to(hidden / "pulumi")
    for provider in engine.PROVIDERS:
        vendor.plugin(provider)
    assert engine.choose(fetch=False).vendor == pulumi


def test_a_missing_plugin_is_a_reason_and_without_leave_nothing_is_fetched(vendor: Vendor, cache: Path) -> None:
    vendor.install(offline=False)
    vendor.plugin("command")
    assert why() == f"plugin {KUBERNETES} is not installed"
    assert not cache.exists()


def test_a_plugin_still_being_unpacked_and_a_stand_in_do_not_count(vendor: Vendor) -> None:
    vendor.install()
    folder = vendor.plugin("kubernetes")
    partial = folder.with_name(f"{folder.name}.partial")
    partial.touch()
    assert why() == f"plugin {KUBERNETES} is not installed"

    partial.unlink()
    vendor.plugin("kubernetes", f"#!/bin/sh\n# {MARK}\n")
    assert why() == f"plugin {KUBERNETES} is not installed"


def test_missing_plugins_are_fetched_into_the_cache_not_the_users_home(vendor: Vendor, cache: Path) -> None:
    pulumi = vendor.install(offline=False)
    chosen = engine.choose(fetch=True)

    assert chosen.vendor == pulumi
    assert chosen.plugins == {
        provider: cache / "plugins" / engine.plugin(provider) for provider in ("kubernetes", "command")
    }
    assert sorted(path.name for path in (cache / "plugins").iterdir()) == sorted(
        engine.plugin(provider) for provider in engine.PROVIDERS
    )
    assert not vendor.user.exists()
    assert engine.choose(fetch=False) == chosen


def test_a_failed_download_is_not_retried_without_a_request(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    pulumi = vendor.install()
    failed = f"plugin {KUBERNETES} is not installed and cannot be fetched (no such host)"
    assert why(fetch=True) == failed

    vendor.install(offline=False)
    assert why(fetch=True) == f"{failed} (earlier attempt; JACQUARD_TOOLCHAIN=vendor tries again)"

    monkeypatch.setenv("JACQUARD_TOOLCHAIN", "vendor")
    assert engine.choose(fetch=True).vendor == pulumi


def test_another_release_does_not_inherit_that_one_could_not_be_fetched(
    vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulumi = vendor.install()
    assert "cannot be fetched" in why(fetch=True)

    vendor.install(offline=False)
    monkeypatch.setattr(engine, "_provider_version", lambda provider: {"kubernetes": "4.34.99"}.get(provider, "1.2.9"))
    assert engine.choose(fetch=True).vendor == pulumi


def test_vendor_mode_makes_each_reason_an_error_with_a_remedy(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_TOOLCHAIN", "vendor")
    with pytest.raises(ToolchainError) as caught:
        engine.choose(fetch=True)
    assert str(caught.value) == "pulumi: pulumi is not on PATH; install it, or set JACQUARD_TOOLCHAIN=build"

    pulumi = vendor.install()
    with pytest.raises(ToolchainError) as caught:
        engine.choose(fetch=True)
    version = versions.of_package("pulumi-kubernetes")
    assert str(caught.value) == (
        f"pulumi: plugin {KUBERNETES} is not installed and cannot be fetched (no such host); "
        f"install it: {pulumi} plugin install resource kubernetes v{version}, or set JACQUARD_TOOLCHAIN=build"
    )


def test_build_mode_does_not_look_at_the_vendors(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    vendor.install()
    monkeypatch.setenv("JACQUARD_TOOLCHAIN", "build")
    assert why(fetch=True) == "JACQUARD_TOOLCHAIN is build"


@pytest.mark.usefixtures("vendor")
def test_an_unknown_mode_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_TOOLCHAIN", "fast")
    with pytest.raises(ToolchainError) as caught:
        engine.choose(fetch=False)
    assert str(caught.value) == "JACQUARD_TOOLCHAIN: 'fast' is unknown; write auto, vendor or build"


def test_a_pulumi_that_a_clone_laid_out_is_not_the_vendors(vendor: Vendor) -> None:
    vendor.install()
    (vendor.folder / OURS).touch()
    assert why() == "pulumi is not on PATH"
