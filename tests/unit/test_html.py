"""Data in pages: nothing that it says ends the element that it stands in."""

import json

from hypothesis import given
from hypothesis import strategies as st

from backends.shared.html import embedded


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda each: st.lists(each) | st.dictionaries(st.text(), each))
)
def test_it_is_the_value_and_has_no_signs_of_markup(value: object) -> None:
    text = embedded(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


def test_a_name_that_would_end_the_element() -> None:
    assert embedded("</script><!--") == '"\\u003c/script\\u003e\\u003c!--"'
