"""Random answers: arguments and structured output that a strict decoder could write, and texts of every kind."""

from __future__ import annotations

import json
import random
from typing import Any, Final

from strictcall.dialect.model import Dialect
from strictcall.emulator.answers.grammar import Grammar, GrammarRefusedError, Written, grammar, prepared
from strictcall.emulator.answers.interesting import TEXTS
from strictcall.emulator.answers.loosely import loosely

ANY_OBJECT: Final[dict[str, Any]] = {"type": "object"}
"""The schema of structured output where any JSON object will do."""
_SENTENCES: Final = (
    "Here is what I found.",
    "Done!",
    "I could not find a file with that name; shall I create it?",
    "Es wurden 3 Einträge geändert.",
    "検索結果は以下のとおりです。",
    "Готово: файл сохранён.",
    "تم حفظ الملف.",
    "All good 👍🏽 — anything else?",
    "The answer is 42.",
    "Let me check that for you …",
)
_BLOCKS: Final = (
    "# Result\n\n- first\n- second\n  - nested\n",
    "| name | size |\n|---|---:|\n| a.txt | 12 |\n",
    "```python\nprint('hi')\n```",
    '```json\n{"query": "x", "limit": null}\n```',
    '{"name": "search", "arguments": {"query": "x"}}',
    "[1, 2, 3]",
    "null",
    '<tool_call>\n{"name": "search"}\n</tool_call>',
    "**bold**, _italic_, `code` and a [link](https://example.com/?a=1&b=2)",
    "data: [DONE]\n\n",
    "line one\r\nline two\r\n\ttabbed",
    "\\u0041 is not an escape here, nor is \\n",
)
_THOUGHTS: Final = (
    "The user wants something simple.",
    "I should look at the tools first.",
    "No tool is needed here.",
    "ユーザーの意図を確認する。",
    "Wait, that is not right. Let me think again.",
    "The arguments must fit the schema.",
)


def arguments(tool_schema: Any, dialect: Dialect, rng: random.Random, budget_bytes: int) -> Written:
    """Arguments of a strict tool: any text that the dialect's decoder could write for its schema.

    Where no grammar can be made of the schema as it stands, values are made another way and checked by a validator.
    Raises ``GrammarRefusedError`` where that finds none either.
    """
    return _fitting(prepared(tool_schema, dialect), rng, budget_bytes)


def output(schema: Any, dialect: Dialect, rng: random.Random, budget_bytes: int) -> Written:
    """Structured output, as ``arguments``; ``None`` for a schema means any JSON object."""
    return _fitting(ANY_OBJECT if schema is None else prepared(schema, dialect), rng, budget_bytes)


def text(rng: random.Random) -> str:
    """An answer's text: sometimes empty or odd, sometimes markdown or what looks like JSON, now and then long."""
    kind = rng.random()
    if kind < 0.08:
        return ""
    if kind < 0.2:
        return str(json.loads(f'"{rng.choice(TEXTS)}"'))
    parts = rng.choices(_SENTENCES, k=rng.choice((1, 1, 2, 4)))
    if kind > 0.5:
        parts.insert(rng.randrange(len(parts) + 1), rng.choice(_BLOCKS))
    if kind > 0.95:
        parts *= rng.choice((10, 40))
    return rng.choice((" ", "\n\n")).join(parts)


def reasoning(rng: random.Random) -> str:
    """What a model thinks before it answers: nothing, or a few sentences."""
    return " ".join(rng.choices(_THOUGHTS, k=rng.choice((0, 1, 3, 8))))


def _fitting(schema: Any, rng: random.Random, budget_bytes: int) -> Written:
    try:
        return grammar(schema).sample(rng, budget_bytes=budget_bytes)
    except GrammarRefusedError:
        return _checked(schema, rng, budget_bytes)


def _checked(schema: Any, rng: random.Random, budget_bytes: int) -> Written:
    maker = loosely(schema)
    value = maker.value(rng)
    if maker.fits(value) is not True:
        Grammar(schema)  # says why
        raise GrammarRefusedError("no value was found that fits it")
    made = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Written(made[:budget_bytes].decode(errors="ignore"), complete=len(made) <= budget_bytes)
