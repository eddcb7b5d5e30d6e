"""Metrics and data adapters."""
