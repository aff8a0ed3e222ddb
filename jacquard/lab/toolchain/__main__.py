"""Entry point of the set-up; rejects a Python that is too old. This file must parse under Python 3.6."""

import sys

MINIMUM = (3, 11)
"""Oldest Python version that can parse the rest of this repository."""


def main() -> int:
    """Run the set-up unless this Python is too old."""
    if sys.version_info[:2] < MINIMUM:
        version = ".".join(str(part) for part in sys.version_info[:3])
        sys.stderr.write(
            f"python: {sys.executable} is {version}, needs 3.11 or newer; "
            "install a newer version and pass it: make PYTHON=python3.11\n"
        )
        return 1
    from jacquard.lab.toolchain import command  # noqa: PLC0415  (an older Python cannot parse it)

    return command.main()


if __name__ == "__main__":
    sys.exit(main())
