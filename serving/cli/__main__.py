"""`python -m ragweave.serving.cli`, for where the `ragweave` script is not on the path."""

from ragweave.serving.cli import main

main()
