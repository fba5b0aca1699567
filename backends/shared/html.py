"""Embeds data in a page that a browser shows. It is JSON in a script element, which no text in the data can end."""

from __future__ import annotations

import json

_ESCAPES = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


def embedded(value: object) -> str:
    """Return a value as JSON that may stand between ``<script type="application/json">`` and its end, whatever
    it says.

    ``<``, ``>`` and ``&`` can only be in strings, where an escape means its character (HTML, restrictions for contents
    of script elements).
    """
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPES)
