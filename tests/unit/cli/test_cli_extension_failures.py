"""Extensions that exit the process, hang or exceed the memory limit: reported with their file, never passed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.inputs.extensions import process as extension_process
from policies.facts import UNKNOWN
from policies.pack import analyzer

Invoke = Callable[..., Result]
EditFile = Callable[[Path, str, str], None]
RULE, COMPONENT = "extensions/policies/note_without_contact.py", "extensions/components/region_note.py"
ENDINGS = {
    "a_exit.py": ("import sys\nsys.exit(0)\n", ":2 cannot be imported: SystemExit: 0"),
    "b_end.py": ("import os\nos._exit(0)\n", " cannot be imported: ended its process (exit code 0)"),
    "c_kill.py": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
        " cannot be imported: ended its process (signal 9)",
    ),
    "d_memory.py": ("\n\nbytearray(5 << 30)\n", ":3 cannot be imported: MemoryError"),
    "e_interrupt.py": ("raise KeyboardInterrupt\n", ":1 cannot be imported: KeyboardInterrupt"),
    "f_loop.py": ("while True: pass\n", " cannot be imported: gave no answer within 5 seconds"),
    "g_lock.py": (
        "import threading\nRULE = concepts = [threading.Lock()]\n",
        " cannot be imported: TypeError: cannot pickle '_thread.lock' object",
    ),
}


@pytest.fixture(autouse=True)
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension_process, "SECONDS", 5)


def lines(result: Result) -> list[str]:
    """Return the lines of a report below its headline."""
    return [" ".join(line.split()) for line in result.output.splitlines()[1:]]


@pytest.mark.parametrize("folder", ["extensions/policies", "extensions/components"])
def test_files_that_end_their_process_are_problems_of_every_command(invoke: Invoke, regions: Path, folder: str) -> None:
    for name, (text, _) in ENDINGS.items():
        (regions / folder / name).write_text(text)
    wanted = [
        f"../../{folder}/{name}{text}; fix it, or move it out of {folder}/" for name, (_, text) in ENDINGS.items()
    ]

    checked = invoke("check", "edge-1")

    assert (checked.exit_code, lines(checked)) == (2, wanted)
    if folder == "extensions/components":
        assert lines(invoke("render", "edge-1", "--out", str(regions / "out"))) == wanted
        return
    explained = invoke("explain")
    assert explained.exit_code == 2
    with pytest.raises(SystemExit, match=r"extensions/policies/a_exit.py:2: cannot be imported: SystemExit: 0; fix it"):
        analyzer.run()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("__import__('sys').exit(0)", "extensions/policies/note_without_contact.py:15: SystemExit: 0"),
        (
            "__import__('os')._exit(0)",
            "extensions/policies/note_without_contact.py: ended its process (exit code 0)",
        ),
        (
            "while True: pass",
            "extensions/policies/note_without_contact.py: gave no answer within 5 seconds",
        ),
        ("1 / 0", "extensions/policies/note_without_contact.py:15: ZeroDivisionError: division by zero"),
        ("return None", "the rule returned NoneType instead of Finding"),
    ],
    ids=["exit", "end", "loop", "exception", "nothing"],
)
def test_a_rule_without_an_answer_refuses_the_object(
    invoke: Invoke, regions: Path, edit: EditFile, code: str, reason: str
) -> None:
    edit(regions / RULE, "    del context\n", f"    {code}\n")

    refused = invoke("check", "edge-1")

    assert refused.exit_code == 4
    assert "note-without-contact: ConfigMap kube-public/region-note in cluster first-train" in refused.output
    assert f"found:   {reason}\n" in refused.output


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("__import__('sys').exit(0)", ":24 concepts() fails on slice foundation: SystemExit: 0; fix it"),
        (
            "__import__('os')._exit(3)",
            " concepts() fails on slice foundation: ended its process (exit code 3); fix it",
        ),
        (
            "while True: pass",
            " concepts() fails on slice foundation: gave no answer within 5 seconds; fix it",
        ),
        ("return None", " concepts() yields NoneType for slice foundation; yield ExtensionInput of jacquard"),
    ],
    ids=["exit", "end", "loop", "nothing"],
)
def test_a_component_without_an_answer_is_a_problem(
    invoke: Invoke, regions: Path, edit: EditFile, code: str, reason: str
) -> None:
    edit(regions / COMPONENT, "    if cluster is None:", f"    {code}\n    if cluster is None:")
    if code == "return None":  # A function with yield is a generator.
        edit(regions / COMPONENT, "    yield ExtensionInput", "    ExtensionInput")

    checked = invoke("check", "edge-1")

    assert (checked.exit_code, lines(checked)) == (2, [f"../../{COMPONENT}{reason}"])


def test_an_unknown_value_is_unknown_in_the_process_too() -> None:
    assert copy.copy(UNKNOWN) is UNKNOWN


def test_output_of_extensions_is_not_output_of_the_command(
    invoke: Invoke, regions: Path, edit: EditFile, capfd: pytest.CaptureFixture[str]
) -> None:
    edit(regions / RULE, "from __future__ import annotations\n", "print('loaded')\n")

    assert invoke("check", "edge-1").exit_code == 0
    assert capfd.readouterr().out == ""


def test_a_repository_without_extensions_starts_no_process(
    invoke: Invoke, regions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (regions / RULE).unlink()
    (regions / COMPONENT).unlink()
    monkeypatch.delattr(extension_process.subprocess, "Popen")

    assert invoke("check", "edge-1").exit_code == 0
