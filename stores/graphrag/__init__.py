"""Folders in the format of GraphRAG 3.x, read and written."""
