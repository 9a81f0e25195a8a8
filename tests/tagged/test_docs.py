"""The tables in docs/tagged.md say what the code and the tests hold."""

import pytest

from tagged.page import PAGE, PARTS

TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("part", PARTS)
def test_the_page_says_what_is_there(part):
    assert f"<!-- {part} -->\n{PARTS[part]()}\n<!-- end of {part} -->" in TEXT, "run python tests/tagged/page.py"
