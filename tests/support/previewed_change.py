"""A change in a real git repository, and the statement that a preview of it makes."""

from __future__ import annotations

import datetime as dt
import subprocess
from pathlib import Path

from cli import comparing, data
from engine.driver import Engine
from previews.attesting import Found, attest

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example", "-c", "commit.gpgsign=false")
MADE_AT = dt.datetime(2026, 11, 22, 12, tzinfo=dt.UTC)


def git(folder: Path, *arguments: str) -> str:
    """Return what git says in ``folder``."""
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, message: str = "data") -> str:
    """Commit all of ``folder`` and return the name of the commit."""
    git(folder, "add", "."), git(folder, *AUTHOR, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def attested(folder: Path, name: str, base: str, key: Path | None = None) -> Path:
    """Write the statement of a preview of ``name`` against ``base`` into ``folder``, as `jacquard preview` does."""
    folder.mkdir(exist_ok=True)
    environment = data.checked(name)
    engine = Engine(name, environment.region.state, {})
    with comparing.base_of(base) as earlier:
        [impact] = comparing.impacts([name], earlier)
        return attest(folder, earlier, [Found(environment=environment, engine=engine, impact=impact)], MADE_AT, key=key)
