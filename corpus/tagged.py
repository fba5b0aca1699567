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
            return {key: self.encode(each) for key, each in value.items()}
        if isinstance(value, tuple):
            if hasattr(value, "_fields"):
                return {name: self.encode(each) for name, each in zip(value._fields, value, strict=True)}
            return [self.encode(each) for each in value]
        kind = self.kinds.get(type(value))
        found = {} if kind is None else {"kind": kind}
        for each in fields(value):
            inner = getattr(value, each.name)
            if each.default is MISSING or inner != each.default:
                found[each.name] = self.encode(inner)
        return found

    def decode(self, kind: Any, data: Any, at: str = "") -> Any:
        """Return the value of a type that JSON data denotes. Raises ``InputError`` with the place in the JSON where the
        data denotes none.
        """
        origin, inner = get_origin(kind), get_args(kind)
        if origin in (types.UnionType, Union):
            return self.decode(self._member(inner, data, at), data, at)
        if kind in _PRIMITIVES:
            return _checked(kind, data, at)
        if origin is tuple:
            items = _checked(list, data, at)
            if inner[1:] != (...,) and len(items) != len(inner):
                raise _refused(f"{len(inner)} items", items, at)
            types_of = inner[:1] * len(items) if inner[1:] == (...,) else inner
            pairs = enumerate(zip(types_of, items, strict=True))
            return tuple(self.decode(each, item, f"{at}[{number}]") for number, (each, item) in pairs)
        if not isinstance(kind, type):  # a mapping
            return {key: self.decode(inner[1], each, f"{at}.{key}") for key, each in _checked(dict, data, at).items()}
        if issubclass(kind, Enum):
            words = {_word(each): each for each in kind}
            if not isinstance(data, str) or data not in words:
                raise _refused(" or ".join(words), data, at)
            return words[data]
        return self._object(kind, _checked(dict, data, at), at)

    def _object(self, kind: Any, data: dict[str, Any], at: str) -> Any:
        wanted = {"kind": self.kinds[kind]} if kind in self.kinds else {}
        hints = _hints(kind)
        for key, value in data.items():
            if key in wanted and value != wanted[key]:
                raise _refused(wanted[key], value, f"{at}.kind")
            if key not in wanted and key not in hints:
                raise InputError(f"{at or 'the object'}: no field {key!r} is known there")
        if missing := [name for name in (*wanted, *_required(kind)) if name not in data]:
            raise InputError(f"{at or 'the object'}: {', '.join(missing)} is missing")
        given = {name: self.decode(hints[name], data[name], f"{at}.{name}") for name in hints if name in data}
        try:
            return kind(**given)
        except ValueError as error:  # what the class itself refuses
            raise InputError(f"{at or 'the object'}: {error}") from None

    def _member(self, members: tuple[Any, ...], data: Any, at: str) -> Any:
        if isinstance(data, dict):
            objects = [each for each in members if each not in _PRIMITIVES]
            if len(objects) == 1:
                return objects[0]
            known = {self.kinds[each]: each for each in objects}
            if data.get("kind") not in known:
                raise _refused(f"a kind, {' or '.join(known)}", data.get("kind"), at)
            return known[data["kind"]]
        if type(data) in members:
            return type(data)
        words = [each for each in members if isinstance(each, type) and issubclass(each, Enum)]
        if not words:
            raise _refused(" or ".join(map(self._named, members)), data, at)
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
            return {"anyOf": [self._schema(each, definitions) for each in inner]}
        if kind in _PRIMITIVES:
            return {"type": _PRIMITIVES[kind]}
        if origin is tuple and inner[1:] == (...,):
            return {"type": "array", "items": self._schema(inner[0], definitions)}
        if origin is tuple:
            items = [self._schema(each, definitions) for each in inner]
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
            return {**about, "enum": [_word(each) for each in kind]}
        own = {"kind": {"const": self.kinds[kind]}} if kind in self.kinds else {}
        defaults = {each.name: each.default for each in fields(kind)} if is_dataclass(kind) else {}
        for name, each in _hints(kind).items():
            default = defaults.get(name, MISSING)
            extra = {} if default is MISSING else {"default": self.encode(default)}
            own[name] = self._schema(each, definitions) | extra
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
        return tuple(each.name for each in fields(kind) if each.default is MISSING)
    return tuple(kind._fields)


def _word(value: Enum) -> str:
    return value.value if isinstance(value.value, str) else value.name.lower()


def _checked(kind: Any, data: Any, at: str) -> Any:
    if type(data) is not kind:
        raise _refused(_PRIMITIVES.get(kind, {list: "an array", dict: "an object"}.get(kind, "")), data, at)
    return data


def _refused(wanted: str, found: Any, at: str) -> InputError:
    return InputError(f"{at or 'the object'}: expected {wanted}, found {str(found)[:40]!r}")
