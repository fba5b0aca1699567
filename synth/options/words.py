"""Lists of words on a command line, as ``cta,gpu``."""

from __future__ import annotations

import click


def listed(option: str, text: str | None, known: list[str]) -> tuple[str, ...]:
    """The words of a list, in the order of ``known``; none where nothing is given. Fails where one is unknown."""
    if text is None:
        return ()
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise click.BadParameter(f"expected {', '.join(known)}, found '{name}'", param_hint=f"'{option}'")
    if not names:
        raise click.BadParameter(f"expected one or more of {', '.join(known)}", param_hint=f"'{option}'")
    return tuple(name for name in known if name in names)
