"""Indexes behind one contract: LanceDB, Weaviate, any LangChain retriever."""
