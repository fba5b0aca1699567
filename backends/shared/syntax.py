"""Phrases the declarations of kernels where languages differ. All else in a kernel is text that each language takes.

That text is the common part of C and WGSL: every branch in braces, ``+= 1u`` and no ``++``, parentheses around shifts
and bits that meet arithmetic, shifts by unsigned numbers, a default in every switch, and no name that either reserves.
"""

from __future__ import annotations

from collections.abc import Iterable


class LanguageSyntax:
    """The syntax of C. ``word`` is the type of unsigned numbers of 32 bits; all values are of this type."""

    def __init__(self, word: str = "uint") -> None:
        self.word = word

    def constant(self, name: str, value: str) -> str:
        """Return the declaration of a variable that keeps its value."""
        return f"const {self.word} {name} = {value};"

    def variable(self, name: str, value: str) -> str:
        """Return the declaration of a variable that may change its value."""
        return f"{self.word} {name} = {value};"

    def choice(self, condition: str, then: str, otherwise: str) -> str:
        """Return the expression for one of two values, both of which may be computed."""
        return f"{condition} ? {then} : {otherwise}"

    def do_while(self, body: Iterable[str], condition: str) -> list[str]:
        """Return a loop that looks at its condition after each round; the lines of the body are indented."""
        return ["do {", *body, f"}} while ({condition});"]

    def definitions(self, constants: Iterable[tuple[str, int]], functions: Iterable[tuple[str, str]]) -> list[str]:
        """Return definitions of numbers, and of functions, ``name(a, b)`` with the expression that each stands for."""
        return [
            *(f"#define {name} {value}u" for name, value in constants),
            *(f"#define {head} {body}" for head, body in functions),
        ]


class WgslSyntax(LanguageSyntax):
    """The syntax of WGSL, in which ``const`` is what is known when a shader is made, and there are neither macros nor
    ``?:``.
    """

    def __init__(self) -> None:
        super().__init__("u32")

    def constant(self, name: str, value: str) -> str:  # noqa: D102
        return f"let {name} = {value};"

    def variable(self, name: str, value: str) -> str:  # noqa: D102
        return f"var {name} = {value};"

    def choice(self, condition: str, then: str, otherwise: str) -> str:  # noqa: D102
        return f"select({otherwise}, {then}, {condition})"

    def do_while(self, body: Iterable[str], condition: str) -> list[str]:  # noqa: D102
        return ["loop {", *body, f"    if (!({condition})) {{ break; }}", "}"]

    def definitions(self, constants: Iterable[tuple[str, int]], functions: Iterable[tuple[str, str]]) -> list[str]:  # noqa: D102
        return [
            *(f"const {name} = {value}u;" for name, value in constants),
            *(f"fn {_typed(head)} -> u32 {{ return {body}; }}" for head, body in functions),
        ]


def _typed(head: str) -> str:
    name, _, parameters = head.removesuffix(")").partition("(")
    return f"{name}({', '.join(f'{parameter.strip()}: u32' for parameter in parameters.split(','))})"


C = LanguageSyntax()
WGSL = WgslSyntax()
