"""The command stand-in: real commands without an engine."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.standins.command.inputs import problems
from jacquard.lab.standins.command.provider import CommandProvider
from jacquard.lab.standins.processes import Children
from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.server import Engine
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import UNKNOWN, decode, encode

URN = "urn:pulumi:dev::toy::command:local:Command::c"
INSTALL = "install the vendor's provider: pulumi plugin install resource command v1.2.1"


class Log(Engine):
    """Records the lines it receives."""

    def __init__(self) -> None:
        super().__init__(None)
        self.lines: list[str] = []

    def info(self, message: str, urn: str = "", *, ephemeral: bool = False) -> None:  # noqa: ARG002 - the engine's
        self.lines.append(message)


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def provider(log: Log) -> Any:
    return CommandProvider(log, Children())


def create(provider: Any, inputs: dict[str, Any], *, secrets: Any = (), preview: bool = False) -> Any:
    request = provider_pb2.CreateRequest(urn=URN, name="c", properties=encode(inputs, secrets), preview=preview)
    return decode(provider.Create(request, None).properties)


def update(provider: Any, state: dict[str, Any], inputs: dict[str, Any], *, preview: bool = False) -> Any:
    request = provider_pb2.UpdateRequest(urn=URN, olds=encode(state), news=encode(inputs), preview=preview)
    return decode(provider.Update(request, None).properties)


def failure(provider: Any, inputs: dict[str, Any], *, secrets: Any = ()) -> str:
    with pytest.raises(ProviderError) as error:
        create(provider, inputs, secrets=secrets)
    return str(error.value)


def test_create_runs_the_command_and_keeps_its_output(provider: Any, log: Log, tmp_path: Path) -> None:
    inputs = {
        "create": 'cat; printf "$A\\n\\n"; pwd >&2',
        "environment": {"A": "b"},
        "stdin": "from stdin ",
        "dir": str(tmp_path),
    }

    assert create(provider, inputs).plain == {**inputs, "stdout": "from stdin b\n", "stderr": str(tmp_path)}
    assert sorted(log.lines) == sorted(["from stdin b", "", str(tmp_path)])


def test_the_id_is_the_name_and_eight_hex_digits(provider: Any) -> None:
    identity = provider.Create(provider_pb2.CreateRequest(urn=URN, name="c"), None).id

    assert (identity[0], len(bytes.fromhex(identity[1:]))) == ("c", 4)


def test_an_interpreter_replaces_the_shell(provider: Any) -> None:
    assert create(provider, {"create": "$A", "interpreter": ["/bin/echo", "-n"]}).plain["stdout"] == "$A"


def test_nothing_runs_in_a_preview(provider: Any, tmp_path: Path) -> None:
    inputs = {"create": f"touch {tmp_path}/made"}

    assert create(provider, inputs, preview=True).plain == {**inputs, "stdout": UNKNOWN, "stderr": UNKNOWN}
    assert update(provider, {"stdout": "old"}, inputs, preview=True).plain["stdout"] is UNKNOWN
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"create": "echo made", "update": "echo changed $PULUMI_COMMAND_STDOUT"}, "changed before"),
        ({"create": "echo made $PULUMI_COMMAND_STDERR"}, "made warned"),
        ({"create": "echo made $PULUMI_COMMAND_STDOUT", "addPreviousOutputInEnv": False}, "made"),
        ({"delete": "echo gone"}, "before"),
    ],
)
def test_update_runs_update_or_else_create(provider: Any, inputs: dict[str, Any], expected: str) -> None:
    assert update(provider, {"stdout": "before", "stderr": "warned"}, inputs).plain["stdout"] == expected


def test_delete_sees_the_last_output(provider: Any, tmp_path: Path) -> None:
    inputs = {"delete": f"echo $PULUMI_COMMAND_STDOUT $A > {tmp_path}/gone", "environment": {"A": "b"}}
    request = provider_pb2.DeleteRequest(
        urn=URN, old_inputs=encode(inputs), properties=encode({**inputs, "stdout": "made"})
    )
    provider.Delete(request, None)

    assert (tmp_path / "gone").read_text() == "made b\n"


def test_only_triggers_replace(provider: Any) -> None:
    old = {"create": "a", "environment": {"A": "1"}, "triggers": [1, "x"]}
    new = {"create": "b", "environment": {"A": "2"}, "triggers": [2, "x"]}

    answer = provider.Diff(provider_pb2.DiffRequest(urn=URN, old_inputs=encode(old), news=encode(new)), None)

    assert sorted(answer.detailedDiff) == ["create", "environment.A", "triggers[0]"]
    assert (list(answer.replaces), answer.deleteBeforeReplace) == (["triggers[0]"], False)


def test_a_failure_names_exit_code_and_the_end_of_stderr(provider: Any) -> None:
    line = "for i in $(seq 25); do echo line $i >&2; done; exit 3"

    assert failure(provider, {"create": line}) == "\n".join(
        [f"the create command failed with exit code 3: {line}", "last 20 of 25 lines:"]
        + [f"line {number}" for number in range(6, 26)]
    )


def test_a_failure_without_stderr_shows_stdout(provider: Any) -> None:
    assert failure(provider, {"create": "echo why\nexit 1"}) == (
        "the create command failed with exit code 1: echo why ...\noutput:\nwhy"
    )


def test_a_silent_end_by_a_signal_is_named(provider: Any) -> None:
    assert failure(provider, {"create": "kill -9 $$"}) == (
        "the create command was terminated by SIGKILL: kill -9 $$\noutput:\n(none)"
    )


def test_a_command_that_cannot_start_is_reported_with_its_folder(provider: Any, tmp_path: Path) -> None:
    inputs = {"create": "true", "interpreter": ["/no/such/shell"], "dir": str(tmp_path)}

    assert failure(provider, inputs) == (
        f"the create command cannot be started with /no/such/shell in {tmp_path}: "
        "[Errno 2] No such file or directory: '/no/such/shell'"
    )


def test_secret_inputs_make_outputs_secret_and_stay_out_of_texts(provider: Any, log: Log) -> None:
    inputs = {"create": 'echo "pw $PW"; exit $CODE', "environment": {"PW": "geheim", "CODE": "0"}}
    secrets = [("environment", "PW")]

    made = create(provider, inputs, secrets=secrets)
    assert (made.plain["stdout"], made.secrets) == (
        "pw geheim",
        {("environment", "PW"), ("stdout",), ("stderr",)},
    )
    assert log.lines == ["pw [secret]"]

    inputs["environment"]["CODE"] = "4"
    assert failure(provider, inputs, secrets=secrets) == (
        'the create command failed with exit code 4: echo "pw $PW"; exit $CODE\noutput:\npw [secret]'
    )


def test_each_long_line_of_a_secret_is_masked(provider: Any, log: Log) -> None:
    key = "-----BEGIN KEY-----\nMIIBOgIBAAJBAK"

    create(provider, {"create": 'echo "$KEY"', "environment": {"KEY": key}}, secrets=[("environment",)])

    assert log.lines == ["[secret]", "[secret]"]


@pytest.mark.parametrize(
    ("logging", "expected"), [("none", []), ("stdout", ["out"]), ("stderr", ["err"]), (None, ["err", "out"])]
)
def test_logging_selects_the_shown_output(provider: Any, log: Log, logging: str | None, expected: list[str]) -> None:
    inputs = {"create": "echo out; echo err >&2", **({"logging": logging} if logging else {})}

    made = create(provider, inputs).plain

    assert (sorted(log.lines), made["stdout"], made["stderr"]) == (expected, "out", "err")


def test_background_processes_of_a_command_do_not_block_it(provider: Any, tmp_path: Path) -> None:
    made = create(provider, {"create": f"sleep 60 & echo $! > {tmp_path}/pid; echo done"}).plain

    os.kill(int((tmp_path / "pid").read_text()), 9)  # Fails if the process has been waited for.
    assert made["stdout"] == "done"


def test_cancel_ends_the_whole_process_group(provider: Any, tmp_path: Path) -> None:
    caught: list[str] = []
    line = f"sleep 60 & echo $! > {tmp_path}/pid.tmp; mv {tmp_path}/pid.tmp {tmp_path}/pid; wait"
    worker = threading.Thread(target=lambda: caught.append(failure(provider, {"create": line})))
    worker.start()
    while not (tmp_path / "pid").exists():
        time.sleep(0.01)

    provider.Cancel(None, None)
    worker.join()

    assert caught == ["the create command was stopped because the operation was cancelled; run it again"]
    assert not _is_running(int((tmp_path / "pid").read_text()))


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("token", ["command:local:run", "command:remote:Command", "command:remote:CopyToRemote"])
def test_unsupported_operations_are_an_error(provider: Any, token: str) -> None:
    expected = f"this stand-in for pulumi-command does not support {token}, only command:local:Command; {INSTALL}"

    with pytest.raises(ProviderError) as error:
        provider.Invoke(provider_pb2.InvokeRequest(tok=token), None)
    assert str(error.value) == expected
    with pytest.raises(ProviderError) as error:
        provider.Check(provider_pb2.CheckRequest(urn=f"urn:pulumi:dev::toy::{token}::x"), None)
    assert str(error.value) == expected


def test_all_problems_of_the_inputs_are_reported_together() -> None:
    inputs = {"create": 1, "environment": {"A": 1}, "logging": "all", "assetPaths": ["*"], "creat": "x"}

    assert problems(inputs) == [
        (("create",), "must be a string (got int)"),
        (("environment",), "must be a map of strings to strings (got dict)"),
        (("logging",), "must be one of stdout, stderr, stdoutAndStderr, none (got str)"),
        (("assetPaths",), f"this stand-in for pulumi-command does not support assetPaths; {INSTALL}"),
        (
            ("creat",),
            (
                "is not a property of command:local:Command (valid: create, update, delete, dir, stdin, interpreter, "
                "environment, triggers, logging, addPreviousOutputInEnv)"
            ),
        ),
    ]


def test_unknown_and_absent_values_pass() -> None:
    assert problems({"create": UNKNOWN, "environment": {"A": UNKNOWN}, "interpreter": UNKNOWN, "dir": None}) == []
