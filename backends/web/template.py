"""Renders a memory test whose launch is chosen in the page. It is WGSL with every part that a profile may ask for.

The page replaces the constants (``backends.shared.layout``), and keeps of the text what the profile asks for:

    //? SPIN ..  //.       is there where the constant is not 0; ``!SPIN``, where it is 0
    //+                    of the load and the store that follow, those of the profile's sequence

so that what it runs is, but for nothing, what ``synth compile --backend wgsl`` writes for that profile. ``profiles.js``
does so, and knows how the constants come of a profile; a test holds both together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from backends.shared.layout import Layout
from backends.wgsl.memory import WgslKernel


def _where(constant: str, lines: Iterable[str]) -> list[str]:
    return [f"//? {constant}", *lines, "//."]


class _Sequenced(WgslKernel):
    def accesses(self, load: str, store: str) -> list[str]:
        return ["//+", load, store]


class Template(_Sequenced):
    """A memory test as the text that the page takes. It does not depend on the launch that the layout says."""

    def __init__(self, layout: Layout) -> None:
        parameters = replace(layout.parameters, stress=1, stress_before=1, spin=1, spread=1)
        super().__init__(replace(layout, parameters=parameters))
        self._moving = _Sequenced(replace(layout, parameters=replace(parameters, spread=0)))

    def hammering(self, number: str, rounds: str) -> list[str]:  # noqa: D102
        staying, moving = super().hammering(number, rounds), self._moving.hammering(number, rounds)
        return _where("SPREAD", staying) + _where("!SPREAD", moving)

    def _stress(self) -> list[str]:
        return _where("STRESS", super()._stress())

    def _stress_before(self) -> list[str]:
        return _where("STRESS_BEFORE", super()._stress_before())

    def _patience(self) -> list[str]:
        return _where("SPIN", super()._patience())

    def _synchronise(self) -> list[str]:
        return _where("SPIN", super()._synchronise())
