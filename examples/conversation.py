"""Two questions in one conversation: the second one is understood through the first.

ragweave ingest README.md docs  # make demo has done it
python examples/conversation.py
"""

from __future__ import annotations

from ragweave.serving import ask


def main() -> None:
    """Ask, then ask on."""
    first = ask("What happens to a file that is gone from the given paths?", web_search="never")
    print(first)
    second = ask("And to one that cannot be read?", messages=first["messages"], web_search="never")
    print(second)


if __name__ == "__main__":
    main()
