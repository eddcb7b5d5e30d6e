"""Typed states, records, events and context schemas. Data only: no model, no store, no node."""
