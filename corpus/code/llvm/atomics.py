"""Which calls of the C++ library are atomic accesses and fences, by what the metadata says of the function called.

!368 = !DISubprogram(name: "store", scope: !347, ..)                    store
!347 = !DICompositeType(name: "__atomic_base<int, false>", ..)
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from corpus.code.llvm.debugging import DebugInformation

_CLASSES = re.compile(r"(?:__)?atomic(?:_base|_ref|_ref_base|_flag)?\b|__atomic_(?:base|ref|ref_base|flag_base)\b")
"""The names of the classes of libc++ and libstdc++ whose members access an atomic object."""

_ACCESSES: Mapping[str, str] = {
    **dict.fromkeys(("load", "test", "wait"), "load"),
    **dict.fromkeys(("store", "clear", "operator="), "store"),
    **dict.fromkeys(("compare_exchange_weak", "compare_exchange_strong"), "cmpxchg"),
    **dict.fromkeys(("exchange", "test_and_set", "operator++", "operator--"), "atomicrmw"),
    **{f"fetch_{word}": "atomicrmw" for word in ("add", "sub", "and", "or", "xor", "max", "min")},
    **{f"operator{word}=": "atomicrmw" for word in "+-&|^"},
}
"""The members, and the instruction of LLVM that each becomes."""

_FREE = re.compile(r"atomic_(?:flag_)?(\w+?)(?:_explicit)?(?:<.*>)?")


def access_of(debug: DebugInformation, node: str) -> str:
    """Return the instruction that a function of the library becomes whose node this is: ``load``, ``store``,
    ``cmpxchg``, ``atomicrmw`` or ``fence``; nothing where it is none that accesses an atomic object.
    """
    fields = debug.node(node)
    name = fields.get("name", '""').strip('"')
    scope = debug.node(fields.get("scope", ""))
    around = scope.get("name", '""').strip('"')
    if scope["kind"] == "DICompositeType" and _CLASSES.match(around):
        conversion = re.match(r"operator\s*[\w:]", name) is not None
        return "load" if conversion else _ACCESSES.get(name, "")
    if scope["kind"] != "DINamespace" or around not in ("std", "__1"):
        return ""
    if name == "atomic_thread_fence":
        return "fence"
    found = _FREE.fullmatch(name)
    return _ACCESSES.get(found[1].replace("test_set", "test_and_set"), "") if found else ""
