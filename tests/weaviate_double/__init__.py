"""A Weaviate to test against: REST and gRPC on loopback, for the unmodified client.

It speaks the client's own protobufs and keeps the rules of a live server (1.39) that matter here:
what it accepts, what it refuses and with which words, how it ranks and fuses. Search is exact, so
it proves shapes, errors and lifecycle, not recall or speed.
"""

from tests.weaviate_double.server import Call, Fault, WeaviateDouble

__all__ = ["Call", "Fault", "WeaviateDouble"]
