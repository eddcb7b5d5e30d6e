"""What models answer when a knowledge graph is built. Field order is the order of writing."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ExtractedEntity(BaseModel):
    """An entity that a text speaks of."""

    title: str = Field(description="Its name, as the text writes it.")
    type: str = Field(default="", description="Which of the kinds asked for.")
    description: str = Field(default="", description="What the text says about it.")


class ExtractedRelationship(BaseModel):
    """Two entities of a text that have to do with each other."""

    source: str = Field(description="Title of one entity.")
    target: str = Field(description="Title of the other.")
    description: str = Field(default="", description="How they are related, by the text.")
    strength: float = Field(default=1.0, description="How strongly, from 1 to 10.")


class ExtractedClaim(BaseModel):
    """A statement of a text about an entity."""

    subject: str = Field(description="Title of the entity.")
    object: str = Field(default="", description="Title of another entity concerned, if any.")
    type: str = Field(default="", description="Kind of claim, in capital letters.")
    status: str = Field(default="", description="TRUE, FALSE or SUSPECTED.")
    start_date: str = Field(default="", description="ISO date, if the text gives one.")
    end_date: str = Field(default="", description="ISO date, if the text gives one.")
    description: str = Field(default="", description="The claim, with its reasons.")
    source_text: str = Field(default="", description="The words of the text that say so.")


class Extraction(BaseModel):
    """Everything extracted from one text."""

    entities: list[ExtractedEntity] = Field(default_factory=list)
    relationships: list[ExtractedRelationship] = Field(default_factory=list)
    claims: list[ExtractedClaim] = Field(default_factory=list)


class ReportFinding(BaseModel):
    """One insight about a community."""

    summary: str = Field(description="In one line.")
    explanation: str = Field(default="", description="In several sentences.")


class CommunityReport(BaseModel):
    """A report about a community of entities."""

    title: str = Field(description="Short; names the chief entities.")
    summary: str = Field(default="", description="What holds the community together.")
    rating: float = Field(default=0.0, description="How much it matters, from 0 to 10.")
    rating_explanation: str = Field(default="", description="Why, in one sentence.")
    findings: list[ReportFinding] = Field(default_factory=list, description="Five to ten.")


class MergedDescription(BaseModel):
    """One description made of several."""

    description: str
