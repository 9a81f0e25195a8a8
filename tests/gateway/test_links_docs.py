"""The tables of the documentation are the code's."""

from __future__ import annotations

import re
from pathlib import Path

from strictcall.gateway.links.errors import KINDS
from strictcall.gateway.links.fields import DEFAULTS, LEFT_OUT, PLACES

PAGE = (Path(__file__).parents[2] / "docs" / "gateway.md").read_text(encoding="utf-8")
OTHERS = ("responses", "messages", "generate_content")


def between(name: str) -> list[str]:
    return re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", PAGE, re.DOTALL)[1].splitlines()[2:]


def test_the_table_of_fields() -> None:
    names = dict.fromkeys(name for api in OTHERS for name in PLACES[api])
    rows = [f"| `{name}` | {' | '.join(place(api, name) for api in OTHERS)} |" for name in names]
    assert between("fields") == rows


def place(api: str, name: str) -> str:
    path = PLACES[api].get(name)
    return f"`{'.'.join(path)}`" if path else "left out" if name in LEFT_OUT else "400"


def test_what_is_left_out_everywhere_and_what_says_nothing() -> None:
    everywhere = {name for name in LEFT_OUT if not any(name in PLACES[api] for api in OTHERS)}
    assert everywhere == {"prediction"}
    for name in [*DEFAULTS, *everywhere]:
        assert f"`{name}" in PAGE, name


def test_the_table_of_statuses() -> None:
    rows = [
        f"| `{kind}` | {status} | `{name}` | {f'`{code}`' if code else ''} |"
        for kind, (status, name, code) in KINDS.items()
    ]
    assert between("statuses") == rows
