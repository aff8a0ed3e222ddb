"""The files that `pulumi` requires are created once for this clone, and name the plug-ins that they replace."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from jacquard.lab.toolchain import binaries, engine, environment, plugins
from jacquard.lab.toolchain.engine import Engine
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError

BUILT = Engine(version="v3.259.0", why="a test")
PROVIDERS = ("kubernetes", "command")


@pytest.fixture
def pulumi(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built engine with the SDK's exec script."""
    folder = tmp_path / "built"
    script = folder / "sdk" / "python" / "cmd" / "pulumi-language-python-exec"
    script.parent.mkdir(parents=True)
    script.write_text("#!/usr/bin/env python3\n")
    (folder / "pulumi").write_text("built")
    (folder / "pulumi").chmod(0o755)
    (folder / "kubectl").touch()
    monkeypatch.setenv("JACQUARD_BINARIES", str(folder))
    monkeypatch.setattr(binaries, "data", {"pulumi-sdk": folder / "sdk"}.__getitem__)
    assert not cache.exists()
    return folder / "pulumi"


@pytest.fixture
def vendor(tmp_path: Path) -> Engine:
    folders = {}
    for provider in PROVIDERS:
        folders[provider] = tmp_path / "vendor" / engine.plugin(provider)
        folders[provider].mkdir(parents=True)
        (folders[provider] / f"pulumi-resource-{provider}").write_text("vendor's")
        (folders[provider] / "README.md").touch()
    pulumi = tmp_path / "vendor" / "pulumi"
    pulumi.touch()
    return Engine(vendor=pulumi, version="v3.260.0", why="a test", plugins=folders)


def layout() -> dict[str, tuple[int, int, int]]:
    """Return every file with attributes that a rewrite changes."""
    home = paths.home() / "pulumi"
    found = {str(path.relative_to(home)): path.lstat() for path in sorted(home.rglob("*")) if not path.is_dir()}
    return {name: (info.st_ino, info.st_mtime_ns, stat.S_IMODE(info.st_mode)) for name, info in found.items()}


def plugin_file(provider: str) -> str:
    return f"home/plugins/{engine.plugin(provider)}/pulumi-resource-{provider}"


def test_a_built_engine_gets_stand_ins(pulumi: Path) -> None:
    plugins.lay_out(BUILT)

    made = layout()
    executables = ["bin/pulumi", "bin/pulumi-language-python", "bin/pulumi-language-python-exec"]
    executables += [plugin_file(provider) for provider in PROVIDERS]
    assert sorted(made) == sorted(["bin/.jacquard", "bin/jacquard", "bin/kubectl", "home/logs", *executables])
    assert {made[name][2] for name in executables} == {0o755}
    assert (paths.pulumi_bin() / "pulumi").samefile(pulumi)
    assert (paths.home() / "pulumi" / plugin_file("command")).read_text() == (
        "#!/bin/sh\n# made by `make setup`: replaces the vendor's executable of this name\n"
        f'exec {paths.VENV}/bin/python -P -m jacquard.lab.standins.command "$@"\n'
    )
    assert (paths.pulumi_bin() / "pulumi-language-python").read_text().splitlines()[2:] == [
        f"export JACQUARD_LANGUAGE_EXEC={paths.pulumi_bin()}/pulumi-language-python-exec",
        f'exec {paths.VENV}/bin/python -P -m jacquard.lab.standins.language_host "$@"',
    ]
    assert (paths.pulumi_bin() / "jacquard").readlink() == paths.VENV / "bin" / "jacquard"
    assert (paths.pulumi_bin() / "kubectl").readlink() == pulumi.with_name("kubectl")
    assert paths.pulumi_state().is_dir()


@pytest.mark.usefixtures("pulumi")
def test_the_engine_finds_no_place_for_its_automatic_logs() -> None:
    logs = paths.pulumi_home() / "logs"
    logs.mkdir(parents=True)
    (logs / "pulumi-20261121T132157-1613-up.log").write_text("every property of every resource")

    plugins.lay_out(BUILT)

    assert logs.read_bytes() == b""


@pytest.mark.usefixtures("pulumi")
def test_a_second_time_nothing_is_written() -> None:
    plugins.lay_out(BUILT)
    before = layout()
    plugins.lay_out(BUILT)
    assert layout() == before


def test_changed_files_are_renewed(pulumi: Path) -> None:
    plugins.lay_out(BUILT)
    pulumi.unlink()
    pulumi.write_text("rebuilt")
    host = paths.pulumi_bin() / "pulumi-language-python"
    host.write_text("damaged")
    plugins.lay_out(BUILT)

    assert (paths.pulumi_bin() / "pulumi").read_text() == "rebuilt"
    assert "jacquard.lab.standins.language_host" in host.read_text()


@pytest.mark.usefixtures("pulumi")
def test_another_file_system_gets_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: Path, _target: Path) -> None:
        raise OSError(18, "Invalid cross-device link")

    paths.cache().mkdir()
    monkeypatch.setattr(Path, "hardlink_to", refuse)
    plugins.lay_out(BUILT)
    before = layout()
    plugins.lay_out(BUILT)

    assert os.access(paths.pulumi_bin() / "pulumi", os.X_OK)
    assert layout() == before


@pytest.mark.usefixtures("pulumi")
def test_the_vendors_engine_keeps_its_own_company_and_can_be_left_again(vendor: Engine) -> None:
    plugins.lay_out(BUILT)
    plugins.lay_out(vendor)

    readmes = [str(Path(plugin_file(provider)).with_name("README.md")) for provider in PROVIDERS]
    executables = [plugin_file(provider) for provider in PROVIDERS]
    assert sorted(layout()) == sorted(
        ["bin/.jacquard", "bin/jacquard", "bin/kubectl", "bin/pulumi", "home/logs", *executables, *readmes]
    )
    assert (paths.pulumi_bin() / "pulumi").readlink() == vendor.vendor
    assert (paths.home() / "pulumi" / plugin_file("kubernetes")).read_text() == "vendor's"

    plugins.lay_out(BUILT)
    assert not (paths.pulumi_bin() / "pulumi").is_symlink()
    assert [str(path) for path in map(Path, layout()) if path.name == "README.md"] == []
    assert (vendor.plugins["kubernetes"] / "pulumi-resource-kubernetes").read_text() == "vendor's"


def test_an_engine_that_is_not_built_is_an_error(cache: Path) -> None:
    assert not cache.exists()
    with pytest.raises(ToolchainError) as caught:
        plugins.lay_out(BUILT)
    assert str(caught.value) == "pulumi: pulumi v3.259.0 is not built; run `make setup`"


def test_a_launcher_runs_this_clones_module_from_any_folder(
    tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoy = tmp_path / "decoy" / "jacquard"
    decoy.mkdir(parents=True)
    (decoy / "__init__.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.setattr(plugins.virtualenv, "python", lambda: Path(sys.executable))
    assert tree.exists()
    launcher = tmp_path / "a launcher"
    launcher.write_text(plugins.launcher("jacquard.lab.toolchain"))
    launcher.chmod(0o755)

    answer = subprocess.run(
        [launcher, "status", "--help"], cwd=decoy.parent, capture_output=True, text=True, check=True
    )
    assert answer.stdout.startswith("usage: python3 -m jacquard.lab.toolchain status")


@pytest.mark.usefixtures("pulumi", "search_path")
def test_the_engines_variables(cache: Path, search_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_HOME", str(cache / "home"))
    home = cache / "home"

    assert environment.engine("laptop") == {
        "PATH": f"{home}/pulumi/bin:{search_path}",
        "PULUMI_HOME": f"{home}/pulumi/home",
        "PULUMI_BACKEND_URL": f"file://{home}/pulumi/state?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": environment.REHEARSAL_PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_DISABLE_REGISTRY_RESOLVE": "true",
        "GOMEMLIMIT": environment.ENGINE_MEMORY,
        "GOGC": "200",
        "KUBECONFIG": f"{home}/regions/laptop/kubeconfigs/management.yaml",
        "JACQUARD_KUBECONFIGS": f"{home}/regions/laptop/kubeconfigs",
        "JACQUARD_CACHE": str(cache),
        "JACQUARD_HOME": str(home),
    }


@pytest.mark.usefixtures("pulumi", "search_path")
def test_the_search_path_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    first = environment.engine("laptop")
    monkeypatch.setenv("PATH", first["PATH"])
    assert environment.engine("laptop") == first


@pytest.mark.parametrize(("variable", "value"), [("GOMEMLIMIT", "1GiB"), ("GOGC", "50")])
@pytest.mark.usefixtures("pulumi", "search_path")
def test_settings_of_gos_runtime_by_the_user_are_kept(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)

    assert environment.engine("laptop")[variable] == value


@pytest.mark.usefixtures("pulumi", "search_path")
def test_state_kept_elsewhere_has_its_own_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "the user's")

    shared = environment.process("us-east", backend_url="s3://states")
    assert (shared["PULUMI_BACKEND_URL"], shared["PULUMI_CONFIG_PASSPHRASE"]) == ("s3://states", "the user's")


@pytest.mark.usefixtures("pulumi", "search_path")
def test_stacks_in_postgres_are_read_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_DIY_BACKEND_PARALLEL", "25")

    assert environment.process("us-east", backend_url="postgres://db")["PULUMI_DIY_BACKEND_PARALLEL"] == "1"
    assert environment.process("us-east", backend_url="s3://states")["PULUMI_DIY_BACKEND_PARALLEL"] == "25"


@pytest.mark.usefixtures("pulumi", "search_path")
def test_a_users_passphrase_does_not_reach_a_local_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "the user's")
    monkeypatch.setenv("KEPT", "yes")

    variables = environment.process("laptop")
    assert variables["PULUMI_CONFIG_PASSPHRASE"] == environment.REHEARSAL_PASSPHRASE
    assert variables["KEPT"] == "yes"
