"""The tree of errors that ``strictcall.errors`` draws."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import strictcall
from strictcall import errors

SOURCE = Path(strictcall.__file__).parent


def classes():
    """Every class of the package by name, with the names of its bases and its module."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "Error" not in text:
            continue
        module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                yield node.name, {base.id for base in node.bases if isinstance(base, ast.Name)}, module


def test_every_error_is_drawn_and_where_it_is():
    found = list(classes())
    errors_of_ours, size = {"StrictCallError"}, 0
    while len(errors_of_ours) != size:
        size = len(errors_of_ours)
        errors_of_ours |= {name for name, bases, _ in found if bases & errors_of_ours}
    modules = {name: module for name, _, module in found if name in errors_of_ours and not name.startswith("_")}
    del modules["StrictCallError"]
    drawn = dict(re.findall(r"^    [├└]── (\w+) +\S.*?(?:\((strictcall\.[\w.]+)\))?$", errors.__doc__, re.MULTILINE))
    assert {name: module or "strictcall.errors" for name, module in drawn.items()} == modules
