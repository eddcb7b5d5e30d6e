"""Stands in for the server's program in tests of the embedded mode: same flags and settings."""

from __future__ import annotations

import argparse
import os
import signal
import threading

from tests.weaviate_double.server import WeaviateDouble

parser = argparse.ArgumentParser()
parser.add_argument("--host")
parser.add_argument("--port", type=int)
arguments, _ = parser.parse_known_args()
stopped = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stopped.set())
with WeaviateDouble(port=arguments.port, grpc_port=int(os.environ["GRPC_PORT"])):
    stopped.wait()
