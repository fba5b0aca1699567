"""Encodes frozen dataclasses as JSON, decodes them, and makes their JSON Schema. It goes by the types of their
fields.

    Load("r0", Loc("x"))    {"kind": "load", "target": "r0", "address": {"kind": "location", "name": "x"}}

A dataclass that stands beside others in a union has a *kind*, which tells it from them. A field with its default value
is left out, and the schema says which that is. Tuples are arrays, but for named ones, which are objects; an ``Enum`` is
its value where that is text, else its name in small letters.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from corpus.errors import InputError

_PRIMITIVES = {int: "integer", str: "string", bool: "boolean", types.NoneType: "null"}


@dataclass(frozen=True)
class Coding:
    """The kinds that a coding gives to dataclasses, by which JSON tells them from each other."""

    kinds: Mapping[type, str]

    def encode(self, value: Any) -> Any:
        """Return a value, such as a dataclass, as JSON data."""
        if isinstance(value, Enum):
            return _word(value)
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, Mapping):
            return {key: self.encode(item) for key, item in value.items()}
        if isinstance(value, tuple):
            if hasattr(value, "_fields"):
                return {name: self.encode(item) for name, item in zip(value._fields, value, strict=True)}
            return [self.encode(item) for item in value]
        kind = self.kinds.get(type(value))
        found = {} if kind is None else {"kind": kind}
        for part in fields(value):
            inner = getattr(value, part.name)
            if part.default is MISSING or inner != part.default:
                found[part.name] = self.encode(inner)
        return found

    def decode(self, kind: Any, data: Any, place: str = "") -> Any:
        """Return the value of a type that JSON data denotes. Raises ``InputError`` with the place in the JSON where the
        data denotes none.
        """
        origin, inner = get_origin(kind), get_args(kind)
        if origin in (types.UnionType, Union):
            return self.decode(self._member(inner, data, place), data, place)
        if kind in _PRIMITIVES:
            return _checked(kind, data, place)
        if origin is tuple:
            items = _checked(list, data, place)
            if inner[1:] != (...,) and len(items) != len(inner):
                raise _refused(f"{len(inner)} items", items, place)
            types_of = inner[:1] * len(items) if inner[1:] == (...,) else inner
            pairs = enumerate(zip(types_of, items, strict=True))
            return tuple(
                self.decode(kind_of_item, item, f"{place}[{number}]") for number, (kind_of_item, item) in pairs
            )
        if not isinstance(kind, type):  # a mapping
            return {
                key: self.decode(inner[1], item, f"{place}.{key}") for key, item in _checked(dict, data, place).items()
            }
        if issubclass(kind, Enum):
            words = {_word(member): member for member in kind}
            if not isinstance(data, str) or data not in words:
                raise _refused(" or ".join(words), data, place)
            return words[data]
        return self._object(kind, _checked(dict, data, place), place)

    def _object(self, kind: Any, data: dict[str, Any], place: str) -> Any:
        wanted = {"kind": self.kinds[kind]} if kind in self.kinds else {}
        hints = _hints(kind)
        for key, value in data.items():
            if key in wanted and value != wanted[key]:
                raise _refused(wanted[key], value, f"{place}.kind")
            if key not in wanted and key not in hints:
                raise InputError(f"{place or 'the object'}: no field {key!r} is known there")
        if missing := [name for name in (*wanted, *_required(kind)) if name not in data]:
            raise InputError(f"{place or 'the object'}: {', '.join(missing)} is missing")
        given = {name: self.decode(hints[name], data[name], f"{place}.{name}") for name in hints if name in data}
        try:
            return kind(**given)
        except ValueError as error:  # what the class itself refuses
            raise InputError(f"{place or 'the object'}: {error}") from None

    def _member(self, members: tuple[Any, ...], data: Any, place: str) -> Any:
        if isinstance(data, dict):
            objects = [member for member in members if member not in _PRIMITIVES]
            if len(objects) == 1:
                return objects[0]
            known = {self.kinds[member]: member for member in objects}
            if data.get("kind") not in known:
                raise _refused(f"a kind, {' or '.join(known)}", data.get("kind"), place)
            return known[data["kind"]]
        if type(data) in members:
            return type(data)
        words = [member for member in members if isinstance(member, type) and issubclass(member, Enum)]
        if not words:
            raise _refused(" or ".join(map(self._named, members)), data, place)
        return words[0]

    def _named(self, kind: Any) -> str:
        return _PRIMITIVES.get(kind) or self.kinds.get(kind) or kind.__name__

    def schema(self, root: type) -> dict[str, Any]:
        """Return the schema of what ``encode`` makes of a dataclass, in JSON Schema 2020-12."""
        definitions: dict[str, Any] = {}
        top = self._schema(root, definitions)
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        return {**head, **top, "$defs": dict(sorted(definitions.items()))}

    def _schema(self, kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
        origin, inner = get_origin(kind), get_args(kind)
        if origin in (types.UnionType, Union):
            return {"anyOf": [self._schema(argument, definitions) for argument in inner]}
        if kind in _PRIMITIVES:
            return {"type": _PRIMITIVES[kind]}
        if origin is tuple and inner[1:] == (...,):
            return {"type": "array", "items": self._schema(inner[0], definitions)}
        if origin is tuple:
            items = [self._schema(argument, definitions) for argument in inner]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if not isinstance(kind, type):
            return {"type": "object", "additionalProperties": self._schema(inner[1], definitions)}
        name = kind.__name__
        if name not in definitions:
            definitions[name] = {}  # it may be a part of itself
            definitions[name] = self._definition(kind, definitions)
        return {"$ref": f"#/$defs/{name}"}

    def _definition(self, kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
        about = {"description": " ".join((kind.__doc__ or "").split("\n\n")[0].split())}
        if issubclass(kind, Enum):
            return {**about, "enum": [_word(member) for member in kind]}
        own = {"kind": {"const": self.kinds[kind]}} if kind in self.kinds else {}
        defaults = {part.name: part.default for part in fields(kind)} if is_dataclass(kind) else {}
        for name, hint in _hints(kind).items():
            default = defaults.get(name, MISSING)
            extra = {} if default is MISSING else {"default": self.encode(default)}
            own[name] = self._schema(hint, definitions) | extra
        return {
            **about,
            "type": "object",
            "properties": own,
            "required": [*(["kind"] if kind in self.kinds else []), *_required(kind)],
            "additionalProperties": False,
        }


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)


@cache
def _required(kind: Any) -> tuple[str, ...]:
    if is_dataclass(kind):
        return tuple(part.name for part in fields(kind) if part.default is MISSING)
    return tuple(kind._fields)


def _word(value: Enum) -> str:
    return value.value if isinstance(value.value, str) else value.name.lower()


def _checked(kind: Any, data: Any, place: str) -> Any:
    if type(data) is not kind:
        raise _refused(_PRIMITIVES.get(kind, {list: "an array", dict: "an object"}.get(kind, "")), data, place)
    return data


def _refused(wanted: str, found: Any, place: str) -> InputError:
    return InputError(f"{place or 'the object'}: expected {wanted}, found {str(found)[:40]!r}")
