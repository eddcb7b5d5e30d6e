"""A server that takes traces as LangSmith does, and shows them as trees of runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from tests.servers.http import Call, Fault, Json, StubServer

INFO = {
    "version": "0.13.0",
    "batch_ingest_config": {
        "use_multipart_endpoint": True,
        "scale_up_qsize_trigger": 1_000,
        "scale_up_nthreads_limit": 16,
        "scale_down_nempty_trigger": 4,
        "size_limit": 100,
        "size_limit_bytes": 20_971_520,
    },
}


@dataclass
class TracedRun:
    """One run, with the runs that it started, in the order of their beginning."""

    fields: dict[str, Any]
    children: list[TracedRun] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What the run is called."""
        return str(self.fields["name"])

    @property
    def kind(self) -> str:
        """`chain`, `llm`, `retriever`, ..."""
        return str(self.fields["run_type"])

    @property
    def inputs(self) -> dict[str, Any]:
        """What the run was given."""
        return self.fields.get("inputs") or {}

    @property
    def outputs(self) -> dict[str, Any]:
        """What the run gave."""
        return self.fields.get("outputs") or {}

    @property
    def metadata(self) -> dict[str, Any]:
        """What was said about the run."""
        found: dict[str, Any] = self.fields["extra"]["metadata"]
        return found

    def within(self) -> Iterator[TracedRun]:
        """The run itself and all below it, depth first."""
        yield self
        for child in self.children:
            yield from child.within()

    def of(self, kind: str) -> list[TracedRun]:
        """All runs of a kind, this one and below."""
        return [run for run in self.within() if run.kind == kind]


class LangSmithStub(StubServer):
    """`GET /info`, `POST /runs/multipart`, `POST /feedback`.

    Its `url` goes into LANGSMITH_ENDPOINT."""

    def respond(self, call: Call) -> Json | Fault:
        """Answer one request."""
        if call.path == "/info":
            return Json(INFO)
        if call.path in ("/runs/multipart", "/feedback"):
            return Json({"message": "queued"}, status=202)
        return Fault(404, f"There is no {call.path}.")

    @property
    def feedback(self) -> list[dict[str, Any]]:
        """Every verdict on a run so far."""
        sent = [call.body for call in self.calls if call.path == "/feedback"]
        return sent + [value for name, value in self._parts() if name.startswith("feedback.")]

    @property
    def roots(self) -> list[TracedRun]:
        """The runs that nothing in a trace has started, in order, with what they started."""
        runs = {id: TracedRun(fields) for id, fields in self._runs().items()}
        in_order = sorted(runs.values(), key=lambda run: str(run.fields["dotted_order"]))
        for run in in_order:
            if parent := runs.get(run.fields.get("parent_run_id") or ""):
                parent.children.append(run)
        return [run for run in in_order if not run.fields.get("parent_run_id")]

    @property
    def everything(self) -> str:
        """All that was sent, as text: what may be searched for secrets."""
        forms = b"".join(call.content for call in self.calls)
        return forms.decode() + json.dumps([call.body for call in self.calls])

    def _runs(self) -> dict[str, dict[str, Any]]:
        """The fields of every run by its id: those of its end replace those of its beginning."""
        runs: dict[str, dict[str, Any]] = {}
        for name, value in self._parts():
            kind, id, *rest = name.split(".")
            if kind in ("post", "patch"):
                runs.setdefault(id, {}).update({rest[0]: value} if rest else value)
        return runs

    def _parts(self) -> Iterator[tuple[str, Any]]:
        """Name and value of each part of the forms, such as `post.<run id>.inputs`."""
        for call in self.calls:
            if call.content:
                head = f"Content-Type: {call.headers['content-type']}\r\n\r\n".encode()
                for part in BytesParser(policy=HTTP).parsebytes(head + call.content).iter_parts():
                    name = part.get_param("name", header="content-disposition")
                    content = part.get_content()
                    yield str(name), json.loads(content or b"null")
