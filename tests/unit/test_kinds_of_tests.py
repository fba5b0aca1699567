"""Of many cases of one kind some are fast, and all are run by ``make test-all``."""

import pytest


@pytest.mark.one_in(3)
@pytest.mark.parametrize("number", range(6))
def test_one_in_three_is_fast(number, request):
    slow = request.node.get_closest_marker("slow") is not None
    assert slow is (number % 3 != 0)
