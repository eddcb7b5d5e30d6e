"""The context schema that all techniques build on, and the one way for a node to read it.

A context is flat, plain and bounded, so that LangGraph Studio shows it as a form. It is not part
of a checkpoint: `prepare` keeps its values in the state as `settings`, and `context_of` reads
them back, so that a run resumed without a context goes on with the index and tenant it began with.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from ragweave.state.errors import InvalidSetting
from ragweave.state.unknown_name import unknown

DEFAULT_INDEX = "lance:.ragweave/index"
DEFAULT_MODEL = "offline"
DEFAULT_EMBEDDINGS = "offline"

MAX_NAME = 200
"""Characters of a model's or a field's name."""
MAX_ADDRESS = 4_096
"""Characters of an index string, which may hold a path."""
MAX_FILTERED_FIELDS = 100

ContextT = TypeVar("ContextT", bound="IndexContext")


def from_environment(variable: str, default: str) -> str:
    """Value of an environment variable, or the default when it is unset or empty."""
    return os.environ.get(variable) or default


def prompt_field(name: str, *nodes: str) -> Any:
    """Context field holding the instructions in `state/prompts/<name>.md`, editable in Studio.

    Only instructions are editable: question and documents are added as data by `nodes/prompt.py`,
    so nothing in them, and nothing typed here, can change a prompt's structure.
    """
    text = files("ragweave.state.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Field(
        default=text.strip(),
        description=f"Instructions for {', '.join(nodes)}.",
        json_schema_extra={"langgraph_nodes": list(nodes), "langgraph_type": "prompt"},
    )


class IndexContext(BaseModel):
    """Which index, in which embedding space, for which tenant.

    Raises:
        InvalidSetting: there is no field of a name that is given, or its value does not fit.
    """

    if not TYPE_CHECKING:  # which reads the types of the arguments off the fields

        def __init__(self, **given: Any) -> None:
            self.expect_fields(given)
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise InvalidSetting(problems_in(error)) from error

    index: str = Field(
        default_factory=lambda: from_environment("RAGWEAVE_INDEX", DEFAULT_INDEX),
        max_length=MAX_ADDRESS,
        description="Index: lance:PATH, weaviate:URL, graphrag:PATH, or a registered name.",
    )
    embeddings: str | None = Field(
        default_factory=lambda: os.environ.get("RAGWEAVE_EMBEDDINGS") or None,
        max_length=MAX_NAME,
        description="Embeddings: offline, openai:MODEL, PROVIDER:MODEL, or a registered name; "
        "if empty those that the index was made with (a new index: offline).",
    )
    tenant: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-]{1,64}$",
        description="Tenant of a multi-tenant index. Such an index answers nobody without one.",
    )

    @classmethod
    def expect_fields(
        cls, names: Iterable[str], kind: str = "setting", *, listed: Sequence[str] = ()
    ) -> None:
        """Check that there is a field of each name; `kind` and `listed` as for `unknown`.

        Raises:
            InvalidSetting: there is none of one.
        """
        for name in names:
            if name not in cls.model_fields:
                raise InvalidSetting(unknown(kind, name, cls.model_fields, listed=listed))

    @property
    def new_embeddings(self) -> str:
        """Name of the embeddings for an index that does not exist yet."""
        return self.embeddings or DEFAULT_EMBEDDINGS


class RagContext(IndexContext):
    """Settings that all question-answering techniques share."""

    model: str = Field(
        default_factory=lambda: from_environment("RAGWEAVE_MODEL", DEFAULT_MODEL),
        max_length=MAX_NAME,
        description="Chat model that answers: offline, openai:MODEL, PROVIDER:MODEL, or a "
        "registered name.",
    )
    fast_model: str | None = Field(
        default=None,
        max_length=MAX_NAME,
        description="Chat model that grades, rewrites and expands; the answering one if empty.",
    )
    top_k: int = Field(default=8, ge=1, le=100, description="How many chunks to retrieve.")
    search_mode: Literal["hybrid", "vector", "keyword"] = Field(
        default="hybrid", description="Search by meaning, by words, or by both."
    )
    alpha: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Weight of the vector side in hybrid search; the rest is keywords. 0.25 suits "
        "the offline embeddings; stronger ones deserve more.",
    )
    filters: dict[str, Any] = Field(
        default_factory=dict,
        max_length=MAX_FILTERED_FIELDS,
        description='Only chunks whose fields match, such as {"year": {"$gte": 2020}}.',
    )
    language: str | None = Field(
        default=None,
        max_length=64,
        description="Language of the answer; that of the question if empty.",
    )
    max_model_calls: int = Field(
        default=100, ge=0, le=10_000, description="Most model calls a run may make."
    )
    max_tokens: int = Field(
        default=1_000_000,
        ge=0,
        le=100_000_000,
        description="Most tokens, in and out, a run may use.",
    )
    deadline_seconds: float = Field(
        default=300,
        gt=0,
        le=86_400,
        description="Seconds after which a run ends with what it has.",
    )
    max_concurrency: int = Field(
        default=8, ge=1, le=64, description="Most model calls of one run at the same time."
    )
    condense_prompt: str = prompt_field("condense", "prepare")
    answer_prompt: str = prompt_field("answer", "answer_question")

    @property
    def hidden_model(self) -> str:
        """Name of the model for the calls that nobody sees."""
        return self.fast_model or self.model

    @property
    def offline(self) -> bool:
        """Whether no language model has a part in the run."""
        return self.model == self.hidden_model == DEFAULT_MODEL


class PickingContext(RagContext):
    """Settings of the techniques whose sources a person may pick."""

    pick_sources: bool = Field(
        default=False, description="Let a person pick the sources before the answer is written."
    )


def context_of(
    state: Mapping[str, Any], runtime_context: object, schema: type[ContextT]
) -> ContextT:
    """The context a node works with.

    The run's own `settings` come first (a resumed run has no context, and a sub-graph is given
    its parent's). Before `prepare` has stored them it is the runtime's: nothing, the schema
    itself, or what a foreign parent graph has. Of a foreign dict the fields of the same name are
    used, of a foreign object those of them that hold a valid value.

    Raises:
        InvalidSetting: a value in a dict does not fit the schema.
    """
    if settings := state.get("settings"):
        return schema(**_known(settings, schema))
    if isinstance(runtime_context, schema):
        return runtime_context
    if isinstance(runtime_context, Mapping):
        return schema(**_known(runtime_context, schema))
    return schema(**_fitting(runtime_context, schema))


def settings_of(context: BaseModel) -> dict[str, Any]:
    """Plain values of a context to keep in the state.

    A value is left out where reading the settings back gives it anyway. Nodes that techniques
    share read them as `RagContext`, so a technique's own default for one of its fields is kept.
    """
    fields = {**type(context).model_fields, **RagContext.model_fields}
    return {
        name: value
        for name, value in context.model_dump(mode="json").items()
        if fields[name].default_factory or value != fields[name].default
    }


def _known(foreign: Mapping[str, Any], schema: type[BaseModel]) -> dict[str, Any]:
    return {name: foreign[name] for name in schema.model_fields if name in foreign}


def _fitting(foreign: object, schema: type[BaseModel]) -> dict[str, Any]:
    values = {}
    for name, field in schema.model_fields.items():
        value = getattr(foreign, name, None)
        if value is not None and _fits(value, field.annotation, field.metadata):
            values[name] = value
    return values


def _fits(value: object, annotation: Any, constraints: list[Any]) -> bool:
    constrained: Any = Annotated[(annotation, *constraints)] if constraints else annotation
    try:
        TypeAdapter(constrained).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def problems_in(error: ValidationError) -> str:
    """What does not fit, each with the name of its field, on one line."""
    problems = []
    for item in error.errors():
        place = ".".join(map(str, item["loc"]))
        said = item["msg"].removeprefix("Value error, ")  # ours, as a validator said it
        problems.append(f"{place}: {said}" if place else said)
    return "; ".join(problems)
