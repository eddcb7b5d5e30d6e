"""The command line, `ragweave`: one file for each command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C is no fault, not even while it is being loaded."""
    try:
        from ragweave.serving.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("ragweave: Interrupted.\n")
        sys.exit(130)
