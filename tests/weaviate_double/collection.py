"""Collections of the double: schema, tenants, objects, and what of them is refused."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import grpc
import numpy as np

Vector = np.ndarray[Any, np.dtype[np.float32]]
Objects = dict[str, "StoredObject"]

_CLASS = re.compile(r"[A-Z][_0-9A-Za-z]{0,254}")
_PROPERTY = re.compile(r"[_A-Za-z][_0-9A-Za-z]{0,230}")
_TENANT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "int": (int, float),
    "number": (int, float),
    "boolean": bool,
    "date": str,
}


class Refused(Exception):
    """What the server answers instead: its text, with an HTTP status or a gRPC code."""

    def __init__(
        self,
        text: str,
        status: int = 422,
        code: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
    ) -> None:
        super().__init__(text)
        self.status, self.code = status, code


@dataclass
class StoredObject:
    """One object: properties without nulls, vectors by name."""

    id: str
    properties: dict[str, Any]
    vectors: dict[str, Vector]


@dataclass
class Collection:
    """One collection (class), with its objects by tenant ("" where there are no tenants)."""

    schema: dict[str, Any]
    tenants: dict[str, Objects] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _CLASS.fullmatch(self.name):
            raise Refused(f"'{self.name}' is not a valid class name")
        names = [name.lower() for name in self.properties]
        for name in self.properties:
            if not _PROPERTY.fullmatch(name):
                raise Refused(f"'{name}' is not a valid property name")
            if names.count(name.lower()) > 1:
                raise Refused(f"class {self.name!r}: conflict for property {name!r}")
        if not self.multi_tenant:
            self.tenants[""] = {}

    @property
    def name(self) -> str:
        return str(self.schema["class"])

    @property
    def multi_tenant(self) -> bool:
        return bool((self.schema.get("multiTenancyConfig") or {}).get("enabled"))

    @property
    def properties(self) -> dict[str, dict[str, Any]]:
        return {item["name"]: item for item in self.schema.get("properties") or []}

    @property
    def vector_names(self) -> list[str]:
        return list(self.schema.get("vectorConfig") or {})

    def add_tenants(self, names: list[str]) -> None:
        if not self.multi_tenant:
            raise Refused(f"multi-tenancy is not enabled for class {self.name!r}")
        for name in names:
            if not _TENANT.fullmatch(name):
                raise Refused(
                    "tenant name should only contain alphanumeric characters (a-z, A-Z, 0-9), "
                    "underscore (_), and hyphen (-), with a length between 1 and 64 characters, "
                    f"got {name!r}"
                )
            self.tenants.setdefault(name, {})

    def objects(self, tenant: str) -> Objects:
        """The objects of a tenant."""
        if self.multi_tenant and not tenant:
            raise Refused(
                f"class {self.name} has multi-tenancy enabled, but request was without tenant"
            )
        if not self.multi_tenant and tenant:
            raise Refused(
                f"class {self.name} has multi-tenancy disabled, but request was with tenant"
            )
        if tenant not in self.tenants:
            raise Refused(f'tenant not found: "{tenant}"')
        return self.tenants[tenant]

    def put(self, tenant: str, item: StoredObject) -> None:
        """Write an object. Like the server, take NaN, zero vectors, and no vector at all."""
        objects = self.objects(tenant)
        for name, value in item.properties.items():
            self._check_type(name, value)
        for name, vector in item.vectors.items():
            if name not in self.vector_names:
                raise Refused(f"class {self.name} does not have named vector {name} defined")
            if (dimension := self._dimension(name)) not in (None, len(vector)):
                raise Refused(
                    f"new node has a vector with length {len(vector)}. "
                    f"Existing nodes have vectors with length {dimension}"
                )
        objects[item.id] = item

    def vector(self, tenant: str, targets: list[str], query: Vector) -> str:
        """Name of the vector that a search goes by, if the query's length fits it."""
        name = targets[0] if targets else next(iter(self.vector_names), "")
        if name not in self.vector_names:
            raise Refused(f"class {self.name} does not have named vector {name} defined")
        dimension = self._dimension(name)
        if dimension not in (None, len(query)):
            raise Refused(f"vector lengths don't match: {dimension} vs {len(query)}")
        return name

    def metric(self, vector: str) -> str:
        """Distance that a named vector is compared by."""
        index = self.schema["vectorConfig"][vector].get("vectorIndexConfig") or {}
        return str(index.get("distance", "cosine"))

    def _dimension(self, name: str) -> int | None:
        stored = (item for objects in self.tenants.values() for item in objects.values())
        return next((len(item.vectors[name]) for item in stored if name in item.vectors), None)

    def _check_type(self, name: str, value: Any) -> None:
        if name not in self.properties:
            raise Refused(f"no such prop with name '{name}' found in class '{self.name}'")
        kind = self.properties[name]["dataType"][0]
        number_wanted = kind in ("int", "number")
        fits = isinstance(value, _PYTHON_TYPES[kind]) and not (
            number_wanted and isinstance(value, bool)
        )
        if fits and kind == "date":
            fits = _is_date(value)
        if not fits:
            raise Refused(
                f"invalid {kind} property '{name}' on class '{self.name}': "
                f"not a {kind}, but {type(value).__name__}"
            )


def valid_id(text: str) -> str:
    """An object's id in its usual form."""
    try:
        return str(uuid.UUID(text))
    except ValueError as error:
        raise Refused(f"invalid UUID {text!r}") from error


def _is_date(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
