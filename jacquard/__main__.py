"""Entry point of ``python -m jacquard``."""

from jacquard.cli.app import main

if __name__ == "__main__":
    main()
