"""The index in Weaviate, over its asynchronous client."""
