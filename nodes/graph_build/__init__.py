"""The nodes that build a knowledge graph."""
