"""Lines are wrapped at words on a terminal only."""

import io

import pytest
from rich.text import Text

from jacquard.cli.console import print_text
from jacquard.cli.word_wrap import WrappingConsole

LONG = "https://registry.cloud.example/charts/a-name-that-is-longer-than-a-line"


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def printed(stream: io.StringIO, *texts: object) -> list[str]:
    WrappingConsole(file=stream, width=40, color_system=None).print(*texts, soft_wrap=True)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize(
    ("text", "lines"),
    {
        "short": ["short"],
        "": [""],
        "error: the network of second-train is not declared in region.yaml": [
            "error: the network of second-train is",
            "  not declared in region.yaml",
        ],
        "first\n  second that is indented and does not fit a line": [
            "first",
            "  second that is indented and does not",
            "    fit a line",
        ],
        f"see {LONG} for more": ["see", f"  {LONG}", "  for more"],
    }.items(),
    ids=["short", "empty", "long", "indented", "long word"],
)
@pytest.mark.parametrize("kind", [str, Text])
def test_a_terminal_gets_lines_that_end_at_words(text: str, lines: list[str], kind: type) -> None:
    assert printed(Terminal(), kind(text)) == lines


def test_a_pipe_gets_each_line_whole() -> None:
    text = f"see {LONG} for more, which is longer than a line of this console"

    assert printed(io.StringIO(), text) == [text]


@pytest.mark.parametrize("to_stderr", [False, True])
@pytest.mark.parametrize(
    ("stream", "lines"),
    [(Terminal(), ["nodes [2] of first-train are on", "  hosts", "ok"]), (io.StringIO(), None)],
    ids=["terminal", "pipe"],
)
def test_a_plain_text_is_wrapped_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, *, stream: io.StringIO, lines: list[str] | None, to_stderr: bool
) -> None:
    text = "nodes [2] of first-train are on hosts\nok"
    stream.seek(0)
    stream.truncate()
    monkeypatch.setattr("sys.stderr" if to_stderr else "sys.stdout", stream)
    monkeypatch.setenv("COLUMNS", "34")

    print_text(text, to_stderr=to_stderr)

    assert stream.getvalue().splitlines() == (lines or text.splitlines())


def test_a_plain_text_shows_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    print_text("see https://ops:hunter22@mirror.example/charts")

    assert "hunter22" not in capsys.readouterr().out
