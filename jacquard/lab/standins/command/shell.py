"""Runs one command, collects its output, and logs the output line by line."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO

from jacquard.lab.standins.command.inputs import Command
from jacquard.lab.standins.processes import Children
from jacquard.providers.errors import ProviderError

TAIL_LINES = 20
"""Number of output lines in the error of a failed command; the log contains all lines."""

_DRAIN_SECONDS = 2.0
"""Wait for output after the end of a command, because background processes may keep the pipe open."""


class CommandError(ProviderError):
    """A command could not be started, failed, or was stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Output of a command, without the final newline."""

    stdout: str = ""
    stderr: str = ""


def run(
    verb: str,
    line: str,
    command: Command,
    previous: Output,
    children: Children,
    *,
    log: Callable[[str], None],
    mask: Callable[[str], str],
) -> Output:
    """Run a command and wait for its end.

    Args:
        verb: ``create``, ``update`` or ``delete``, for messages.
        line: argument of the interpreter.
        command: the other inputs of the resource.
        previous: output of the previous run.
        children: registry of processes that end with the provider.
        log: prints one line to the user; receives masked text only.
        mask: masks secret values in a text.

    Raises:
        CommandError: the command cannot be started or fails; the message contains the exit code and the last lines of
            stderr.
    """
    arguments = (*command.interpreter, line)
    try:
        child = children.start(
            arguments,
            cwd=command.directory,
            env=_environment(command, previous),
            stdin=subprocess.PIPE if command.stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except (OSError, ValueError) as error:
        place = command.directory or os.getcwd()  # noqa: PTH109 - used as text only
        message = f"the {verb} command cannot be started with {arguments[0]} in {place}: {mask(str(error))}"
        raise CommandError(message) from None
    output = _collect(child, command, log=lambda text: log(mask(text)))
    children.forget(child)
    if child.returncode:
        raise CommandError(_failure(verb, mask(line), child.returncode, mask(output.stderr or output.stdout)))
    return output


def _environment(command: Command, previous: Output) -> Mapping[str, str]:
    environment = {**os.environ, **command.environment}
    if command.previous_output:
        outputs = {"PULUMI_COMMAND_STDOUT": previous.stdout, "PULUMI_COMMAND_STDERR": previous.stderr}
        environment |= {name: text for name, text in outputs.items() if text}
    return environment


def _collect(child: subprocess.Popen[bytes], command: Command, *, log: Callable[[str], None]) -> Output:
    written: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}

    def read(name: str, stream: IO[bytes]) -> None:
        with stream:
            for raw in stream:
                written[name] += raw
                if name in command.logged:
                    log(raw.decode(errors="replace").rstrip("\n"))

    streams = {"stdout": child.stdout, "stderr": child.stderr}
    threads = [
        threading.Thread(target=read, args=(name, stream), daemon=True)
        for name, stream in streams.items()
        if stream is not None
    ]
    for thread in threads:
        thread.start()
    if child.stdin is not None:
        _feed(child.stdin, command.stdin)
    child.wait()
    deadline = time.monotonic() + _DRAIN_SECONDS
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0.0))
    texts = {name: bytes(data).decode(errors="replace").removesuffix("\n") for name, data in written.items()}
    return Output(**texts)


def _feed(stream: IO[bytes], text: str) -> None:
    """Write standard input in a thread, because a command that ignores its input could otherwise block its output."""

    def write() -> None:
        try:
            with stream:
                stream.write(text.encode())
        except BrokenPipeError:
            return  # commands may end without reading all of their input

    threading.Thread(target=write, daemon=True).start()


def _failure(verb: str, line: str, code: int, text: str) -> str:
    ended = f"was terminated by {signal.Signals(-code).name}" if code < 0 else f"failed with exit code {code}"
    first, _, more = line.partition("\n")
    lines = text.splitlines()
    tail = "\n".join(lines[-TAIL_LINES:]) or "(none)"
    title = f"last {TAIL_LINES} of {len(lines)} lines" if len(lines) > TAIL_LINES else "output"
    return f"the {verb} command {ended}: {first}{' ...' if more else ''}\n{title}:\n{tail}"
