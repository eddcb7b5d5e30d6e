"""LangSmith's datasets and experiments, beside its traces: what `evaluate` works with."""

from __future__ import annotations

import uuid
from collections import defaultdict
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.http import Call, Fault, Json
from tests.servers.langsmith_stub import LangSmithStub

TENANT = str(uuid.UUID(int=1))
NO_PROJECT: dict[str, Any] = {"tenant_id": TENANT, "reference_dataset_id": None}
MADE = "2026-01-01T00:00:00+00:00"


class LangSmithDatasets(LangSmithStub):
    """A LangSmith that keeps `/datasets`, `/examples` and `/sessions`, its name for experiments."""

    def __init__(self) -> None:
        super().__init__()
        self.datasets: dict[str, dict[str, Any]] = {}
        self.examples: list[dict[str, Any]] = []
        self.experiments: dict[str, dict[str, Any]] = {}

    def respond(self, call: Call) -> Json | Fault:
        """Answer one request."""
        address = urlsplit(call.path)
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        match address.path.strip("/").split("/"):
            case ["datasets"] if call.body:
                return Json(self._kept(self.datasets, {**call.body, "created_at": MADE}))
            case ["datasets"]:
                named = asked.get("name")
                return Json([found for found in self.datasets.values() if found["name"] == named])
            case ["datasets", id]:
                return Json(self.datasets[id])
            case ["examples", "bulk"]:
                sent: Any = call.body  # a list, here alone
                added = [{"id": str(uuid.uuid4()), **example} for example in sent]
                self.examples += added
                return Json(added)
            case ["examples"]:
                own = [found for found in self.examples if found["dataset_id"] == asked["dataset"]]
                return Json(own[int(asked.get("offset", 0)) :])
            case ["sessions"] if call.body:
                return Json(self._kept(self.experiments, NO_PROJECT | call.body))
            case ["sessions"]:  # asked for the tenant
                return Json([{**NO_PROJECT, "id": TENANT}])
            case ["sessions", id]:
                self.experiments[id] |= {name: v for name, v in call.body.items() if v is not None}
                return Json(self.experiments[id])
        return super().respond(call)

    def scores(self, experiment: str) -> dict[str, dict[str, float | None]]:
        """What each evaluator gave the answers of an experiment, by their questions."""
        questions = {root.fields["id"]: root.inputs.get("question", "") for root in self.roots}
        scores: dict[str, dict[str, float | None]] = defaultdict(dict)
        for verdict in self.feedback:
            if verdict["session_id"] == experiment:
                scores[questions[verdict["run_id"]]][verdict["key"]] = verdict["score"]
        return dict(scores)

    @staticmethod
    def _kept(records: dict[str, dict[str, Any]], sent: dict[str, Any]) -> dict[str, Any]:
        record = {"id": str(uuid.uuid4())} | sent
        records[record["id"]] = record
        return record
