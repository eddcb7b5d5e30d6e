"""Servers that tests and benchmarks talk to over real HTTP, on this machine.

    from tests.servers import Answer, Fault, OpenAIStub, TavilyStub

`OpenAIStub` speaks the OpenAI protocol (chat completions, whole or streamed; embeddings; models),
`TavilyStub` Tavily's. Each runs in threads of its own, says what it is told to say, fails as it is
told to fail, and keeps a log of calls. As fixtures: `openai_stub` and `tavily_stub`, with the
environment variables set that make ragweave use them. A benchmark imports them too, when it is run
with the project's folder on the path: `PYTHONPATH=. python benchmarks/NAME.py`.
"""

from tests.servers.http import Call, Fault, Json
from tests.servers.openai_stub import Answer, OpenAIStub, by_schema, prompt_of, schema_of
from tests.servers.tavily_stub import TavilyStub, web_result

__all__ = [
    "Answer",
    "Call",
    "Fault",
    "Json",
    "OpenAIStub",
    "TavilyStub",
    "by_schema",
    "prompt_of",
    "schema_of",
    "web_result",
]
