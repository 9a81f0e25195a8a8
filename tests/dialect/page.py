"""The generated parts of docs/dialects.md. ``python tests/dialect/page.py`` writes them anew."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from dialect.exceptions import EXCEPTIONS
from strictcall.dialect import State, dialects, load
from strictcall.dialect.rules import RULES

PAGE = Path(__file__).parents[2] / "docs" / "dialects.md"
THREE = ("openai", "anthropic", "json_schema")


def overview():
    """One row a dialect: how it writes the things that dialects differ in most."""
    columns = ("dialect", "parent", "optional", "null", "open objects", "recursion", "references", "marked")
    rows = [f"| {' | '.join(columns)} | where it is not marked |", "|---|---|---|---|---|---|---|---|---|"]
    for dialect in dialects():
        place = dialect.strict_place if dialect.enforced == "decoder" else "nothing is held"
        cells = (
            f"[`{dialect.name}`](#{dialect.name.replace('.', '').replace(' ', '-')})",
            dialect.parent or "",
            "absent" if dialect.optional == "absent" else "required, null",
            dialect.null.replace("_", " "),
            "yes" if dialect.open_objects else "no",
            dialect.recursion if isinstance(dialect.recursion, str) else ("yes" if dialect.recursion else "no"),
            "yes" if dialect.references else "no",
            "always" if place == "none" and dialect.strict_default == "strict" else place,
            dialect.strict_default,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def names(items):
    return ", ".join(f"`{item}`" for item in items) or "none"


def keyword(rule):
    bounds = [*map(str, rule.values or ())] if rule.values is not None and len(rule.values) < 4 else []
    bounds += [f"at most {rule.most:g}"] if rule.most is not None and rule.least is None and rule.most < 4e9 else []
    bounds += [f"held up to {rule.held_most:g}"] if rule.held_most is not None else []
    return f"`{rule.name}`" + (f" ({', '.join(bounds)})" if bounds else "")


def section(dialect):
    """What a dialect is, and where its rules were read."""
    by_state = {state: [rule for rule in dialect.keywords.values() if rule.state is state] for state in State}
    parent = f"; parent `{dialect.parent}`" if dialect.parent else ""
    taken = (State.ENFORCED, State.NARROWER, State.IGNORED)
    lines = [f"### {dialect.name}", "", f"{dialect.title}{parent}.", ""]
    lines += [f"- {state.value}: {', '.join(map(keyword, by_state[state]))}" for state in taken if by_state[state]]
    lines.append(f"- what is not listed: {dialect.others.value}")
    if dialect.silent:
        lines.append(f"- taken and not held, against these rules: {names(sorted(dialect.silent))}")
    if dialect.formats is not None:
        lines.append(f"- formats: {names(sorted(dialect.formats))}; others {dialect.other_formats}")
    lines += [f"- at most {limit.most:,} {limit.name.replace('_', ' ')} in one {limit.per}" for limit in dialect.limits]
    if dialect.schema_language == "openapi":
        lines.append("- a schema is written in OpenAPI's part of JSON Schema, in a field of its own")
    if not dialect.output_beside_tools:
        lines.append("- no structured output in a request with tools")
    if dialect.tagged.format != "none":
        lines.append(f"- calls are looked for in the text of answers, too: `{dialect.tagged.format}`")
    output = differences(dialect, load(dialect.name, "output"))
    if output:
        lines.append(f"- for structured output: {output}")
    sources = sorted({(source.url, source.date) for source in dialect.sources.values()})
    lines += ["- sources:", *(f"  - <{url}> ({date})" for url, date in sources)]
    return "\n".join(lines)


def differences(tool, output):
    told = [f"{'held' if output.enforced == 'decoder' else 'not held'}"] if tool.enforced != output.enforced else []
    changed = [rule for name, rule in output.keywords.items() if rule.state is not tool.keyword(name).state]
    return ", ".join([*told, *(f"`{rule.name}` {rule.state.value}" for rule in changed)])


def cell(name, word):
    rule = load(name).keyword(word)
    few = rule.values is not None and len(rule.values) < 4
    return f"{rule.state.value} ({', '.join(map(str, rule.values))})" if few else rule.state.value


def keywords_table():
    words = dict.fromkeys(word for name in ("json_schema", "openai", "anthropic") for word in load(name).keywords)
    rows = [f"| keyword | {' | '.join(THREE)} |", "|---|---|---|---|"]
    rows += [f"| `{word}` | {' | '.join(cell(name, word) for name in THREE)} |" for word in words]
    return "\n".join(rows)


def rules_table():
    return "\n".join(
        ["| rule | what it says |", "|---|---|", *(f"| `{rule}` | {text} |" for rule, text in RULES.items())]
    )


def exceptions_table():
    rows = ["| row | recorded | the judge | why |", "|---|---|---|---|"]
    return "\n".join(rows + [f"| `{name}` | {' | '.join(row)} |" for name, row in EXCEPTIONS.items()])


PARTS = {
    "overview": overview,
    "keywords": keywords_table,
    "rules": rules_table,
    "exceptions": exceptions_table,
    "dialects": lambda: "\n\n".join(map(section, dialects())),
}


def written(text):
    """The page with its generated parts made anew; each lies between two comments that name it."""
    for name, part in PARTS.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = text.partition(start)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"no place for {name}")
        text = f"{before}{start}{part()}\n{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
