"""The tables in docs/dialects.md say what the data says."""

import pytest

from dialect.page import PAGE, PARTS

TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("part", PARTS)
def test_the_page_says_what_the_data_says(part):
    assert f"<!-- {part} -->\n{PARTS[part]()}\n<!-- end of {part} -->" in TEXT, "run python tests/dialect/page.py"
