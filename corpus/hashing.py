"""Hashes of values that are looked up again and again."""

from __future__ import annotations

from dataclasses import fields
from typing import TypeVar

Value = TypeVar("Value")


def hashed_once(kind: type[Value]) -> type[Value]:
    """Decorate a frozen dataclass whose values are looked up again and again: each computes its hash once, in every
    process.
    """
    of_parts = kind.__hash__

    def hash_of(value: Value) -> int:
        try:
            return value._hash  # type: ignore[attr-defined,no-any-return]
        except AttributeError:
            found = value.__dict__["_hash"] = of_parts(value)
            return found

    def reduced(value: Value) -> tuple[type[Value], tuple[object, ...]]:
        # In another process, the hash is another one.
        return kind, tuple(getattr(value, field.name) for field in fields(kind))  # type: ignore[arg-type]

    kind.__hash__ = hash_of  # type: ignore[method-assign,assignment]
    if "__reduce__" not in vars(kind):
        kind.__reduce__ = reduced  # type: ignore[method-assign,assignment]
    return kind
