"""The language host as called by the engine."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct

from jacquard.lab.standins.language_host.server import LanguageHost
from jacquard.lab.standins.processes import Children
from jacquard.providers.rpc.stubs import language_pb2, language_pb2_grpc


class Context:
    """The part of a call's context that streaming calls use."""

    def __init__(self) -> None:
        self.ended: list[Callable[[], None]] = []

    def add_callback(self, done: Callable[[], None]) -> None:
        """Record a callback for the end of the call."""
        self.ended.append(done)

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        """End the call."""
        raise RuntimeError(code.name, message)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that runs a program's source with the host and returns the response."""
    monkeypatch.setenv("PULUMI_PYTHON_CMD", sys.executable)
    script = tmp_path / "pulumi-language-python-exec"
    children = Children()
    host = LanguageHost("127.0.0.1:2", tmp_path / "host", children)

    def run(source: str, **fields: Any) -> Any:
        script.write_text(source)
        info = language_pb2.ProgramInfo(root_directory=str(tmp_path), entry_point=".")
        return host.Run(language_pb2.RunRequest(pwd=str(tmp_path), info=info, **fields), None)

    run.host = host
    yield run
    children.end(grace_seconds=0)


@pytest.mark.parametrize(
    ("source", "error", "bail"),
    [
        ("", "", False),
        ("raise SystemExit(32)", "", True),
        ("raise SystemExit(7)", "the program ended with exit code 7", False),
        ("import os; os.kill(os.getpid(), 9)", "the program was terminated by SIGKILL", False),
    ],
)
def test_the_exit_of_a_program_is_reported(run: Any, source: str, error: str, *, bail: bool) -> None:
    assert run(source) == language_pb2.RunResponse(error=error, bail=bail)


def test_a_program_sees_its_config(run: Any, tmp_path: Path) -> None:
    source = "import os, sys; open('seen', 'w').write(os.environ['PULUMI_CONFIG'] + ' '.join(sys.argv[1:]))"

    run(source, config={"toy:a": "b"}, project="toy", stack="dev", monitor_address="m", parallel=2)

    assert (tmp_path / "seen").read_text() == (
        '{"toy:a": "b"}--monitor m --engine 127.0.0.1:2 --project toy --stack dev '
        f"--root_directory {tmp_path} --pwd {tmp_path} --parallel 2 ."
    )


def test_a_missing_exec_script_is_an_error_of_the_run(tmp_path: Path) -> None:
    host = LanguageHost("", tmp_path / "host", Children())

    assert host.Run(language_pb2.RunRequest(pwd=str(tmp_path)), None).error == (
        f"{tmp_path}/pulumi-language-python-exec does not exist, and Pulumi programs require it; create it with "
        "`make setup`"
    )


def test_cancel_ends_the_program_with_all_it_has_started(run: Any, tmp_path: Path) -> None:
    source = """
import os, subprocess, time
child = subprocess.Popen(["sleep", "60"])
open("pid.tmp", "w").write(str(child.pid))
os.rename("pid.tmp", "pid")
time.sleep(60)
"""
    answers: list[Any] = []
    worker = threading.Thread(target=lambda: answers.append(run(source)))
    worker.start()
    pid = _awaited(tmp_path / "pid")

    run.host.Cancel(None, None)
    worker.join()

    assert answers[0].error == "the program was stopped because the operation was cancelled"
    assert not _is_running(pid)


def _pack(tmp_path: Path, kind: str = "analyzer") -> Any:
    info = language_pb2.ProgramInfo(root_directory=str(tmp_path), program_directory=str(tmp_path), entry_point=".")
    environment = ["PULUMI_PYTHON_CMD=x", f"PATH={os.environ['PATH']}"]
    return language_pb2.RunPluginRequest(kind=kind, info=info, pwd=str(tmp_path), args=["127.0.0.1:2"], env=environment)


def test_a_policy_pack_streams_its_output_and_its_exit_code(run: Any, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text(
        "import sys, select; print('port'); print('oops', file=sys.stderr)\n"
        "assert not select.select([sys.stdin], [], [], 0)[0], 'stdin has ended'\n"
        "sys.exit(5)\n"
    )
    context = Context()

    messages = list(run.host.RunPlugin(_pack(tmp_path), context))

    assert b"".join(message.stdout for message in messages) == b"port\n"
    assert b"oops\n" in b"".join(message.stderr for message in messages)
    assert messages[-1] == language_pb2.RunPluginResponse(exitcode=5)


def test_other_kinds_of_plugins_are_refused(run: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as error:
        next(run.host.RunPlugin(_pack(tmp_path, "resource"), Context()))

    assert error.value.args == (
        "UNIMPLEMENTED",
        (
            "this stand-in for pulumi-language-python runs policy packs only: kind analyzer (got 'resource'); build "
            "the plugin as an executable, or install the vendor's pulumi"
        ),
    )


def test_an_install_changes_nothing_and_reports_the_interpreter(run: Any, tmp_path: Path) -> None:
    request = language_pb2.InstallDependenciesRequest(info=language_pb2.ProgramInfo(root_directory=str(tmp_path)))

    [message] = run.host.InstallDependencies(request, Context())

    assert message.stdout.decode() == (
        f"{sys.executable} is used unchanged; `make setup` installs its packages from requirements.lock\n"
    )


def test_required_packages_name_the_plugins(run: Any, tmp_path: Path) -> None:
    request = language_pb2.GetRequiredPackagesRequest(info=language_pb2.ProgramInfo(root_directory=str(tmp_path)))

    packages = run.host.GetRequiredPackages(request, None).packages

    assert ("kubernetes", "resource", "4.34.2") in [(one.name, one.kind, one.version) for one in packages]


@pytest.mark.parametrize("end", ["eof", "SIGINT", "SIGTERM"])
def test_the_host_and_its_program_end_with_the_engine(tmp_path: Path, end: str) -> None:
    (tmp_path / "pulumi-language-python-exec").write_text(
        "import os, time\nopen('pid.tmp', 'w').write(str(os.getpid()))\nos.rename('pid.tmp', 'pid')\ntime.sleep(60)\n"
    )
    environment = {**os.environ, "JACQUARD_LANGUAGE_EXEC": str(tmp_path)}
    host = subprocess.Popen(
        (sys.executable, "-m", "jacquard.lab.standins.language_host", "127.0.0.1:1"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
    assert host.stdin is not None
    assert host.stdout is not None
    with host, grpc.insecure_channel(f"127.0.0.1:{int(host.stdout.readline())}") as channel:
        stub = language_pb2_grpc.LanguageRuntimeStub(channel)
        options = Struct()
        options["virtualenv"] = sys.prefix
        info = language_pb2.ProgramInfo(root_directory=str(tmp_path), entry_point=".", options=options)
        assert stub.GetPluginInfo(Empty()).version == "3.259.0"
        assert stub.About(language_pb2.AboutRequest(info=info)).version == ".".join(map(str, sys.version_info[:3]))
        running = stub.Run.future(language_pb2.RunRequest(pwd=str(tmp_path), info=info))
        pid = _awaited(tmp_path / "pid")

        if end == "eof":
            host.stdin.close()
        else:
            host.send_signal(signal.Signals[end])

        assert host.wait(timeout=20) == 0
        assert running.result(timeout=20).error == "the program was stopped because the operation was cancelled"
    assert not _is_running(pid)


def _awaited(path: Path) -> int:
    while not path.exists():
        time.sleep(0.01)
    return int(path.read_text())


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
