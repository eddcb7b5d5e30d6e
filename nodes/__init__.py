"""The node library: `async def verb_object(state, runtime)`, usable by any graph."""
