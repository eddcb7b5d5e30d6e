"""A Weaviate server that this process starts and stops itself.

The client's own embedded mode checks its ports with blocking sockets before every REST call. So
the server is started once, from a thread, and spoken to like any other. It ends with the process.
The client downloads the server's program, unless `WEAVIATE_BINARY_PATH` has it under its name.
"""

from __future__ import annotations

import atexit
import os
import threading

from weaviate.embedded import WEAVIATE_VERSION, EmbeddedOptions, EmbeddedV4
from weaviate.exceptions import WeaviateStartUpError

from ragweave.state.errors import IndexUnavailable
from ragweave.stores.weaviate.address import Server

_SETTINGS = {
    "DISABLE_TELEMETRY": "true",
    "ENABLE_MODULES": "",
    "API_BASED_MODULES_DISABLED": "true",
    "LOG_LEVEL": "error",
}
_started: dict[tuple[int, Server], EmbeddedV4] = {}
_starting = threading.Lock()


def start_embedded(server: Server) -> None:
    """Start the server unless it runs already. Blocks for some seconds: call it from a thread.

    Raises:
        IndexUnavailable: it did not come up, or its program could not be had.
    """
    with _starting:
        key = (os.getpid(), server)
        embedded = _started.setdefault(key, _embedded(server))
        try:
            if not embedded.is_listening():
                embedded.start()
        except (WeaviateStartUpError, OSError) as error:
            embedded.stop()
            raise IndexUnavailable(f"Embedded Weaviate did not start: {error}") from error


@atexit.register
def stop_embedded() -> None:
    """Stop the servers that this process started."""
    for (process, _), embedded in _started.items():
        if process == os.getpid():
            embedded.stop()


def _embedded(server: Server) -> EmbeddedV4:
    options = EmbeddedOptions(
        hostname=server.host,
        port=server.port,
        grpc_port=server.grpc_port,
        version=server.embedded_version or WEAVIATE_VERSION,
        persistence_data_path=os.path.abspath(server.embedded_path or "."),
        additional_env_vars=_SETTINGS,
    )
    if folder := os.environ.get("WEAVIATE_BINARY_PATH"):
        options.binary_path = folder
    return EmbeddedV4(options)
