"""Python interpreter and start of programs by the language host."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.standins.language_host import program
from jacquard.lab.standins.language_host.interpreter import Interpreter, InterpreterError, Plugin, find

PYTHON = Interpreter(python=Path("/venv/bin/python"), virtualenv=Path("/venv"))


def _update(**changes: Any) -> program.Update:
    fields = {
        "project": "toy",
        "stack": "dev",
        "organization": "organization",
        "pwd": "/project/stacks",
        "root": "/project",
        "entry_point": ".",
        "arguments": (),
        "dry_run": True,
        "parallel": 16,
        "monitor": "127.0.0.1:1",
        "engine": "127.0.0.1:2",
        "config": {"toy:a": "b"},
        "secret_keys": ("toy:s",),
    }
    return program.Update(**{**fields, **changes})


def test_a_relative_virtualenv_is_relative_to_the_project(tmp_path: Path) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()

    found = find(str(tmp_path), {"virtualenv": ".venv"}, {})

    assert found == Interpreter(python=tmp_path / ".venv/bin/python", virtualenv=tmp_path / ".venv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"virtualenv": ".venv"},
            (
                "runtime.options.virtualenv: {root}/.venv has no bin/python; create it with `make setup`, or "
                "correct the option in Pulumi.yaml"
            ),
        ),
        (
            {"toolchain": "uv"},
            (
                "runtime.options.toolchain: this stand-in for pulumi-language-python supports only pip (got 'uv'); "
                "remove the option, or install the vendor's pulumi"
            ),
        ),
    ],
)
def test_an_unusable_option_is_named_with_its_remedy(tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(InterpreterError) as error:
        find(str(tmp_path), options, {})

    assert str(error.value) == message.format(root=tmp_path)


def test_without_a_virtualenv_the_named_python_is_used(tmp_path: Path) -> None:
    own = tmp_path / "mypython"
    own.touch(mode=0o755)

    assert find("/", {}, {"PULUMI_PYTHON_CMD": str(own)}) == Interpreter(python=own, virtualenv=None)


def test_a_python_that_does_not_run_is_named(tmp_path: Path) -> None:
    python = Interpreter(python=tmp_path / "python", virtualenv=None)

    with pytest.raises(InterpreterError) as error:
        python.describe()

    assert str(error.value) == (
        f"{tmp_path}/python does not run: [Errno 2] No such file or directory: '{tmp_path}/python'; "
        "recreate the virtual environment"
    )


def test_plugins_are_those_that_installed_packages_require() -> None:
    installed = Interpreter(python=Path(sys.executable), virtualenv=None)

    assert [plugin for plugin in installed.plugins() if plugin.name in ("command", "kubernetes")] == [
        Plugin(name="command", version="1.2.1"),
        Plugin(name="kubernetes", version="4.34.2"),
    ]


def test_distributions_without_dependencies_of_others() -> None:
    installed = Interpreter(python=Path(sys.executable), virtualenv=None)

    every, top = installed.distributions(transitive=True), installed.distributions(transitive=False)

    assert {"pulumi", "protobuf"} <= {name.lower() for name, _ in every}
    assert "protobuf" not in {name.lower() for name, _ in top}
    assert set(top) < set(every)


def test_a_program_gets_its_update_on_the_command_line_and_its_config_in_the_environment() -> None:
    launch = program.program(_update(), PYTHON, Path("/bin/exec"), {"PATH": "/bin", "PYTHONHOME": "/x"})

    assert launch == program.Launch(
        command=(
            *("/venv/bin/python", "-u", "/bin/exec"),
            *("--monitor", "127.0.0.1:1", "--engine", "127.0.0.1:2", "--project", "toy", "--stack", "dev"),
            *("--organization", "organization", "--root_directory", "/project", "--pwd", "/project/stacks"),
            *("--dry_run", "true", "--parallel", "16", "."),
        ),
        folder="/project/stacks",
        environment={
            "PATH": "/venv/bin:/bin",
            "VIRTUAL_ENV": "/venv",
            "PULUMI_CONFIG": json.dumps({"toy:a": "b"}),
            "PULUMI_CONFIG_SECRET_KEYS": '["toy:s"]',
        },
    )


def test_an_apply_is_no_dry_run() -> None:
    assert "--dry_run" not in program.program(_update(dry_run=False), PYTHON, Path("/e"), {}).command


def test_a_policy_pack_gets_the_last_of_doubled_variables() -> None:
    launch = program.policy_pack("/pack", ("127.0.0.1:2",), "/project", PYTHON, ("A=1", "PATH=/bin", "A=2=3"))

    assert launch == program.Launch(
        command=("/venv/bin/python", "-u", "-m", "pulumi.policy", "127.0.0.1:2", "/pack"),
        folder="/project",
        environment={"A": "2=3", "PATH": "/venv/bin:/bin", "VIRTUAL_ENV": "/venv"},
    )


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (0, ""),
        (32, ""),
        (1, "the program ended with exit code 1"),
        (-9, "the program was terminated by SIGKILL"),
    ],
)
def test_exit_codes_in_words(code: int, expected: str) -> None:
    assert program.failure(code) == expected


def test_the_exec_script_is_next_to_the_host_or_at_the_launchers_path(tmp_path: Path) -> None:
    script = tmp_path / "pulumi-language-python-exec"
    script.touch()

    assert program.executor({}, tmp_path / "pulumi-language-python") == script
    assert program.executor({"JACQUARD_LANGUAGE_EXEC": str(tmp_path)}, Path("/x/host")) == script
    assert program.executor({"JACQUARD_LANGUAGE_EXEC": str(script)}, Path("/x/host")) == script
    with pytest.raises(InterpreterError) as error:
        program.executor({}, Path("/x/host"))
    assert str(error.value) == (
        "/x/pulumi-language-python-exec does not exist, and Pulumi programs require it; create it with `make setup`"
    )
