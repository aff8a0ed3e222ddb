"""Starts the set-up, or says which Python is too old for it: this file must parse under Python 3.6."""

import sys

MINIMUM = (3, 11)
"""Oldest Python that the rest of this repository parses under."""


def main() -> int:
    """Run the set-up unless this Python is too old."""
    if sys.version_info[:2] < MINIMUM:
        found = ".".join(str(part) for part in sys.version_info[:3])
        sys.stderr.write(
            f"python: {sys.executable} is {found}, needs 3.11 or newer; "
            "install a newer one and name it: make PYTHON=python3.11\n"
        )
        return 1
    from jacquard.lab.toolchain import command  # noqa: PLC0415  (an older Python could not even parse it)

    return command.main()


if __name__ == "__main__":
    sys.exit(main())
