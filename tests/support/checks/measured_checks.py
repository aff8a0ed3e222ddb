"""Checks environments, each in a separate process, and prints cost and output.

``python measured_checks.py ROOT...``: one JSON object per line. A root is a folder with one environment.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from components.rules.checks import check
from components.specs.reading.inventory_csv import read_inventory
from components.specs.reading.loader import environments, load_environment
from components.specs.reading.parsing import parsed
from components.specs.reading.problems import SpecError

_HARD_LIMIT_SECONDS = 10
"""Processor time after which the kernel kills a hanging check."""


def main(roots: list[str]) -> None:
    """Print one result for each of ``roots``, of which the first must be valid.

    The first one is also checked beforehand, so that no process has to build the models; caches of files are cleared.
    """
    _report(Path(roots[0]))
    parsed.cache_clear()
    read_inventory.cache_clear()
    for root in roots:
        sys.stdout.write(json.dumps(_measured(Path(root))) + "\n")
        sys.stdout.flush()


def _measured(root: Path) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (_HARD_LIMIT_SECONDS, _HARD_LIMIT_SECONDS))
        with os.fdopen(writing, "w") as out:
            json.dump(_report(root), out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    _, status, used = os.wait4(child, 0)
    return {
        "status": status,
        "seconds": used.ru_utime + used.ru_stime,
        "peak_bytes": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "report": json.loads(text) if text else None,
    }


def _report(root: Path) -> str:
    [name] = environments(root)
    try:
        problems = check(load_environment(name, root))
    except SpecError as error:
        return str(error)
    return str(SpecError(name, problems)) if problems else ""


if __name__ == "__main__":
    main(sys.argv[1:])
