"""Models by name, and the one place that calls them."""

from ragweave.models.registry import register

__all__ = ["register"]
