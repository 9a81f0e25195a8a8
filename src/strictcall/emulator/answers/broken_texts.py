"""How models break JSON itself: a table of ways, each a function of the arguments' text.

A way answers ``None`` for a text that it does not apply to. The text is compact JSON of an object.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Final

Way = Callable[[str, random.Random], str | None]
_TEXT: Final = r'"(?:[^"\\]|\\.)*"'
_TOKENS: Final = re.compile(rf"{_TEXT}|[^\"]+")
_TEXTS: Final = re.compile(_TEXT)
_LITERALS: Final = re.compile(rf"{_TEXT}|\b(?:true|false|null)\b")
_PYTHON: Final = {"true": "True", "false": "False", "null": "None"}


def _text_in_text(text: str, _rng: random.Random) -> str:
    return json.dumps(text, ensure_ascii=False)


def _trailing_comma(text: str, rng: random.Random) -> str | None:
    ends = [
        found.start() + at
        for found in _TOKENS.finditer(text)
        if not found[0].startswith('"')
        for at, character in enumerate(found[0])
        if character in "}]" and text[found.start() + at - 1] not in "{["
    ]
    if not ends:
        return None
    end = rng.choice(ends)
    return f"{text[:end]},{text[end:]}"


def _single_quotes(text: str, _rng: random.Random) -> str | None:
    if '"' not in text:
        return None
    return _TEXTS.sub(lambda found: "'" + found[0][1:-1].replace('\\"', '"').replace("'", "\\'") + "'", text)


def _python_literals(text: str, _rng: random.Random) -> str | None:
    changed = _LITERALS.sub(lambda found: _PYTHON.get(found[0], found[0]), text)
    return changed if changed != text else None


def _bare_names(text: str, _rng: random.Random) -> str | None:
    changed = re.sub(rf"({_TEXT})(:?)", lambda found: found[1][1:-1] + ":" if found[2] else found[0], text)
    return changed if changed != text else None


def _raw_newline(text: str, rng: random.Random) -> str | None:
    every = [found.span() for found in _TEXTS.finditer(text)]
    if not every:
        return None
    start, end = rng.choice([span for span in every if text[span[1] : span[1] + 1] != ":"] or every)
    content = text[start + 1 : end - 1]
    broken = content.replace("\\n", "\n") if "\\n" in content else content + "\n"
    return f'{text[: start + 1]}{broken}"{text[end:]}'


def _truncated(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(1, len(text))]


def _missing_brace(text: str, _rng: random.Random) -> str:
    return text[:-1]


def _extra_brace(text: str, rng: random.Random) -> str:
    return text + rng.choice(["}", "]}", '"}'])


def _fenced(text: str, rng: random.Random) -> str:
    before = rng.choice(["", "Here are the arguments:\n", "\n"])
    return f"{before}```{rng.choice(['json', '', 'JSON'])}\n{text}\n```"


def _twice(text: str, rng: random.Random) -> str:
    return text + rng.choice(["", "\n", ", "]) + text


def _commented(text: str, _rng: random.Random) -> str:
    return text[:-1] + " // as asked\n}"


def _tagged(text: str, rng: random.Random) -> str:
    return text + rng.choice(["</tool_call>", "<|im_end|>", "\n```", "</s>"])


def _empty(_text: str, rng: random.Random) -> str:
    return rng.choice(["", " ", "\n"])


def _null(_text: str, _rng: random.Random) -> str:
    return "null"


def _duplicate_name(text: str, rng: random.Random) -> str | None:
    value = json.loads(text)
    if not isinstance(value, dict) or not value:
        return None
    name, item = rng.choice(list(value.items()))
    again = f"{json.dumps(name, ensure_ascii=False)}:{rng.choice([json.dumps(item, ensure_ascii=False), 'null'])}"
    return f"{text[:-1]},{again}}}"


IN_THE_TEXT: Final[dict[str, Way]] = {
    "text-in-text": _text_in_text,
    "trailing-comma": _trailing_comma,
    "single-quotes": _single_quotes,
    "python-literals": _python_literals,
    "bare-names": _bare_names,
    "raw-newline": _raw_newline,
    "truncated": _truncated,
    "missing-brace": _missing_brace,
    "extra-brace": _extra_brace,
    "markdown-fence": _fenced,
    "twice-over": _twice,
    "comment": _commented,
    "end-token": _tagged,
    "empty-text": _empty,
    "null-text": _null,
    "duplicate-name": _duplicate_name,
}
"""Ways to break the arguments' text."""
