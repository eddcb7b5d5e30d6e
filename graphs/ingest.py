"""Ingest: files and documents into the index that every technique searches.

1. Check the paths, and make the index or check that it fits the embeddings.
2. Load, split, embed and store at the same time; skip what has not changed.
3. Remove what is gone, and let the index tidy up.

The progress is streamed as `ingesting` events. A run that was cut off is completed by the next.

```mermaid
graph LR
    prepare_ingest --> find_files --> index_documents --> remove_missing --> optimize_index
```
"""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from ragweave.nodes.ingest import (
    find_files,
    index_documents,
    optimize_index,
    prepare_ingest,
    remove_missing,
)
from ragweave.state.ingest import IngestContext, IngestInput, IngestOutput, IngestState


def build() -> StateGraph[IngestState, IngestContext, IngestInput, IngestOutput]:
    """The graph, not compiled, for those who want to change it."""
    builder = StateGraph(
        IngestState,
        context_schema=IngestContext,
        input_schema=IngestInput,
        output_schema=IngestOutput,
    )
    # Without a timeout, since an ingest takes as long as its files, and without a retry, since the
    # next run completes one that failed.
    builder.add_node("prepare_ingest", prepare_ingest)
    builder.add_node("find_files", find_files)
    builder.add_node("index_documents", index_documents)
    builder.add_node("remove_missing", remove_missing)
    builder.add_node("optimize_index", optimize_index)

    builder.add_edge(START, "prepare_ingest")
    builder.add_edge("prepare_ingest", "find_files")
    builder.add_edge("find_files", "index_documents")
    builder.add_edge("index_documents", "remove_missing")
    builder.add_edge("remove_missing", "optimize_index")
    builder.add_edge("optimize_index", END)
    return builder


graph = build().compile(name="ingest")
