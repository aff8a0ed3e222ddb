"""Running one command: its output is kept, and shown line by line as it comes."""

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
"""How much of a failed command's output its error shows; all of it is in the log above."""

_DRAIN_SECONDS = 2.0
"""How many seconds output is awaited after a command has ended, since what it left in the background may hold the pipe
open."""


class CommandError(ProviderError):
    """A command that could not be started, failed, or was stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a command wrote, without the newline at the very end."""

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
    """Run a command to its end.

    Args:
        verb: ``create``, ``update`` or ``delete``, for messages.
        line: what the interpreter is given.
        command: everything else about it.
        previous: output of the run before this one.
        children: where the process is kept, so that it ends with the provider.
        log: shows one line to the user; gets masked text only.
        mask: takes secret values out of a text.

    Raises:
        CommandError: naming the exit code and the end of what the command wrote to stderr.
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
        place = command.directory or os.getcwd()  # noqa: PTH109 - only a text is needed
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
        given = {"PULUMI_COMMAND_STDOUT": previous.stdout, "PULUMI_COMMAND_STDERR": previous.stderr}
        environment |= {name: text for name, text in given.items() if text}
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
    """Write standard input aside, so that a command which never reads it cannot block its own output."""

    def write() -> None:
        try:
            with stream:
                stream.write(text.encode())
        except BrokenPipeError:
            return  # the command ended without reading all of it, which is its own business

    threading.Thread(target=write, daemon=True).start()


def _failure(verb: str, line: str, code: int, text: str) -> str:
    ended = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"failed with exit code {code}"
    first, _, more = line.partition("\n")
    said = text.splitlines()
    tail = "\n".join(said[-TAIL_LINES:]) or "(it wrote nothing)"
    left = f"last {TAIL_LINES} of {len(said)} lines" if len(said) > TAIL_LINES else "its output"
    return f"the {verb} command {ended}: {first}{' ...' if more else ''}\n{left}:\n{tail}"
