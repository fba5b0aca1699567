"""What is said of an input that is refused."""

from collections.abc import Callable

import pytest

from corpus.errors import InputError


def refusal(work: Callable[..., object], *arguments: object, **options: object) -> str:
    """The error that this call ends with, which is one line."""
    with pytest.raises(InputError) as caught:
        work(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)
