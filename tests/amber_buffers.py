"""What Amber writes of a buffer, made up."""

from __future__ import annotations


def dump(words: list[int], name: str = "3") -> str:
    """As Amber's ``samples/amber.cc`` prints a buffer."""
    data = b"".join(word.to_bytes(4, "little") for word in words)
    text = f"{name}\n"
    for place_, byte in enumerate(data):
        text += f" {byte:02x}" + ("\n" if place_ % 16 == 15 else "")
    return text + "\n"


def totals(*rows: list[int], launches: int = 2, instances: int = 64, other: int = 0) -> list[int]:
    cells = [cell for row in rows for cell in row]
    return [launches, instances, 0, other, *cells, *[0] * (256 * 3 - len(cells))]
