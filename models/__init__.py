"""Models by name, and the one place that calls them."""
