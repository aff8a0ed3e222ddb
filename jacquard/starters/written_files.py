"""Archive of the files that `jacquard new --repository` and `jacquard upgrade` wrote, without the user's edits.

The archive is committed with the repository. It is the common base of the user's edits and of the edits between two
versions of the library, also if commits were squashed or the clone is shallow.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from components.specs.struct import Struct

FILE = ".starter.zip"
"""Path of the archive in the repository."""
_ANSWERS = "starter.json"
_TIME = (1980, 1, 1, 0, 0, 0)
"""Time of each entry, so that equal texts give equal bytes."""


class ArchiveError(ValueError):
    """The archive cannot be read."""


class Written(Struct):
    """Files as a version of the library wrote them."""

    version: str
    """Version of Jacquard that wrote the files."""
    region: str
    """Name of the region in the workflows."""
    texts: Mapping[str, str]
    """Texts by path in the repository."""


def packed(written: Written) -> bytes:
    """Return the archive of ``written``."""
    answers = {"jacquard": written.version, "region": written.region}
    entries = {_ANSWERS: json.dumps(answers, indent=2) + "\n", **dict(sorted(written.texts.items()))}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in entries.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), text, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def read(path: Path) -> Written:
    """Return the content of the archive at ``path``.

    Raises:
        FileNotFoundError: there is no archive.
        ArchiveError: the file is not an archive of this module.
    """
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            texts = {name: archive.read(name).decode() for name in archive.namelist()}
        answers = json.loads(texts.pop(_ANSWERS))
        return Written(version=answers["jacquard"], region=answers["region"], texts=texts)
    except (zipfile.BadZipFile, zlib.error, KeyError, TypeError, ValueError) as error:
        raise ArchiveError(str(error)) from None
