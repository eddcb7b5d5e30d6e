"""A Weaviate server that this process starts and stops itself.

The client's own embedded mode checks its ports with blocking sockets before every REST call. So
the server is started once, from a thread, and spoken to like any other. It ends with the process.
"""

from __future__ import annotations

import atexit
import os
import threading

from weaviate.embedded import WEAVIATE_VERSION, EmbeddedOptions, EmbeddedV4
from weaviate.exceptions import WeaviateStartUpError

from ragweave.state.errors import IndexUnavailable
from ragweave.stores.weaviate_address import Server

_SETTINGS = {
    "DISABLE_TELEMETRY": "true",
    "ENABLE_MODULES": "",
    "ENABLE_API_BASED_MODULES": "false",
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
        if key not in _started:
            _started[key] = _embedded(server)
            atexit.register(_started[key].stop)
        try:
            if not _started[key].is_listening():
                _started[key].start()
        except (WeaviateStartUpError, OSError) as error:
            _started[key].stop()
            raise IndexUnavailable(f"Embedded Weaviate did not start: {error}") from error


def _embedded(server: Server) -> EmbeddedV4:
    return EmbeddedV4(
        EmbeddedOptions(
            hostname=server.host,
            port=server.port,
            grpc_port=server.grpc_port,
            version=server.embedded_version or WEAVIATE_VERSION,
            persistence_data_path=os.path.abspath(server.embedded_path or "."),
            additional_env_vars=_SETTINGS,
        )
    )
