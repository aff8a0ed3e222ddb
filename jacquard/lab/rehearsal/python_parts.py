"""Parts of a region that are Python programs of this package."""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.region import Region

_CODE = Path(__file__).parent


def ensure(region: Region, module: str, say: Callable[[str], None], options: str = "") -> None:
    """Run a part with the current code.

    Args:
        region: the region.
        module: the module of the part.
        say: prints a line for each repair.
        options: settings of the part; it is started again when they change.
    """
    part = processes.name_of(module)
    mark = region.folder / "bin" / f"{part}.code"
    code = hashlib.sha256(options.encode())
    for path in sorted(_CODE.rglob("*.py")):
        code.update(path.read_bytes())
    alive = [process for process in processes.running(region.folder) if process.part == part]
    if len(alive) == 1 and mark.exists() and mark.read_text() == code.hexdigest():
        return
    if mark.exists() and not alive:
        say(f"{part}: not running; starting it again")
    processes.kill(alive)
    # The path of this interpreter may lead through a workspace, which is removed while the part runs.
    interpreter = Path(sys.prefix).resolve() / "bin" / Path(sys.executable).name
    arguments = [str(interpreter), "-m", module, str(region.folder)]
    processes.launch(arguments, log=region.logs / f"{part}.log", environment=os.environ, folder=_CODE.parent)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text(code.hexdigest())
