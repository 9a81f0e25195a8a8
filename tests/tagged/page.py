"""The generated parts of docs/tagged.md. ``python tests/tagged/page.py`` writes them anew."""

import json
import sys
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from strictcall.tagged.registry import FAMILIES

PAGE = Path(__file__).parents[2] / "docs" / "tagged.md"
ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "tagged_rows.jsonl").read_text("utf-8").splitlines()
]
PROJECTS = ("vllm-project/vllm", "sgl-project/sglang", "mudler/LocalAI")


def code(text):
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def overview():
    """One row a format."""
    rows = [
        (
            code(family.name),
            ", ".join(map(code, family.also)),
            family.about,
            code(family.shape),
        )
        for family in FAMILIES
    ]
    return table(("format", "also called", "models", "a call"), rows)


def counts():
    """How many texts each format is tested with, and whose they are."""
    rows = []
    total = Counter()
    for family in FAMILIES:
        own = [row for row in ROWS if row["format"] == family.name]
        found = Counter(row["source"].split()[0] for row in own)
        numbers = [len(own), *(found[name] for name in PROJECTS)]
        numbers += [len(own) - sum(numbers[1:]), sum("ours" in row for row in own)]
        total.update(dict(enumerate(numbers)))
        rows.append((code(family.name), *numbers))
    rows.append(("all", *(total[column] for column in range(len(total)))))
    return table(("format", "texts", "vLLM", "SGLang", "LocalAI", "others and our own", "read otherwise"), rows)


def otherwise():
    """Why a text is read otherwise than the parser it comes from reads it."""
    reasons = Counter(row["why"] for row in ROWS if "why" in row)
    return table(("why", "texts"), sorted(reasons.items(), key=lambda item: (-item[1], item[0])))


def lacking():
    """What of a format is not supported."""
    return table(("format", "not supported"), [(code(f.name), f.lacks) for f in FAMILIES if f.lacks])


PARTS = {"formats": overview, "counts": counts, "read otherwise": otherwise, "not supported": lacking}


def main():
    text = PAGE.read_text(encoding="utf-8")
    for name, write in PARTS.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(start)
        text = before + start + write() + "\n" + end + rest.split(end)[1]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
