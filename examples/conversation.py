"""Two questions in one conversation: the second one is understood through the first.

ragweave ingest README.md docs
python examples/conversation.py
"""

from __future__ import annotations

from ragweave.serving import ask


def main() -> None:
    """Ask, then ask on."""
    first = ask("Which exit codes does the command line have?", web_search="never")
    print(first)
    second = ask("And when is it 2?", messages=first["messages"], web_search="never")
    print(second)


if __name__ == "__main__":
    main()
