"""The command line, `ragweave`: one file for each command."""

from ragweave.serving.cli.app import main

__all__ = ["main"]
