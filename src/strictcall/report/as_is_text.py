"""What each provider would say to tools as they stand, for people: a row a dialect, the rules, and tools by example."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from strictcall.dialect.rules import RULES
from strictcall.report.as_is import Answer, Broken, DialectHearings, Part, Remark, subject
from strictcall.report.plain import plain
from strictcall.report.table import Paper

MOST_TOOLS = 10
MOST_PLACES = 6
MOST_RULES = 12
MOST_WORDINGS = 2
_NAMED = 3
_STYLES = {Answer.STRICT: "green", Answer.LOOSE: "yellow", Answer.REFUSED: "red"}
_EVERYTHING = "--output-format json has all of them"


def as_is_text(results: Sequence[DialectHearings], paper: Paper, failing: Collection[Answer]) -> str:
    """The text of ``check --as-is``: what each dialect does with the tools, the rules that they break in the providers'
    own words, and the places in those tools that meet most resistance. ``failing`` answers make the closing line say
    what to do.
    """
    tools, dialects = len(results[0].tools), len(results)
    title = f"{_count(tools, 'tool')} as {'it stands' if tools == 1 else 'they stand'}, {_count(dialects, 'dialect')}"
    parts: list[RenderableType] = [Text(title, style="bold"), _overview(results, paper)]
    parts += [Text(note, style="dim") for note in _notes(results)]
    for heading, lines in (
        ("what they say, and what refuses a tool first:", list(_rules(results))),
        ("where, in the tools that meet most of it:", list(_tools(results))),
    ):
        if lines:
            parts += [Text(), Text(heading, style="bold"), *lines]
    return paper.render(*parts) + f"\n{_closing(results, failing)}\n"


def _overview(results: Sequence[DialectHearings], paper: Paper) -> Table:
    named = any(result.names_aside != result.summary for result in results)
    columns = [*(answer.value for answer in Answer), *(["names aside"] if named else []), "broken most, in tools"]
    table = paper.grid("dialect", *columns)
    for result in results:
        counts = [Text(str(count), style=_STYLES[answer] if count else "") for answer, count in result.summary.items()]
        aside = [" / ".join(map(str, result.names_aside.values()))] if named else []
        table.add_row(result.dialect.name, *counts, *aside, Text(plain(_most_broken(result))))
    return table


def _most_broken(result: DialectHearings) -> str:
    refusing = _listed(result.rules(refusing=True))
    loosening = _listed(result.rules(refusing=False))
    kinds = [("refused: ", refusing), ("not strict: ", loosening)]
    return "; ".join(kind + rules for kind, rules in kinds if rules)


def _listed(rules: Sequence[Broken]) -> str:
    shown = [f"{broken.label} {broken.tools}" for broken in rules[:_NAMED]]
    return ", ".join([*shown, "…"] if len(rules) > _NAMED else shown)


def _notes(results: Sequence[DialectHearings]) -> Iterator[str]:
    yield "strict: taken, and may be marked strict; loose: taken only unmarked; refused: even unmarked, with all others"
    idle = [result.dialect.name for result in results if result.dialect.enforced == "none"]
    if idle:
        yield f"taken, but held by nothing: {', '.join(idle)}"
    mixed = [
        result.dialect.name
        for result in results
        if result.dialect.all_or_none and 0 < result.summary[Answer.STRICT] < len(result.tools)
    ]
    if mixed:
        yield f"strict only if every tool is: {', '.join(mixed)}"
    for result in results:
        for violation in result.request:
            yield f"in one request, {result.dialect.name}: {violation.message}"


# --- rules ----------------------------------------------------------------------------------------------------------


def _rules(results: Sequence[DialectHearings]) -> Iterator[Text]:
    """Each rule that is broken: what it means, who has it, and how they word it."""
    found: dict[tuple[str, str | None], list[tuple[DialectHearings, int, Remark]]] = {}
    for result in results:
        for number, hearing in enumerate(result.tools):
            for remark in hearing.remarks:
                found.setdefault(subject(remark.violation), []).append((result, number, remark))
    kinds = sorted(found.items(), key=lambda item: _weight(item[1]))
    for (rule, keyword), remarks in kinds[:MOST_RULES]:
        refuses = any(remark.loose for _, _, remark in remarks)
        told = f"{rule}{'' if keyword is None else f' {keyword}'}"
        tools = len({number for _, number, _ in remarks})
        line = Text("  ").append(plain(told), style=_STYLES[Answer.REFUSED if refuses else Answer.LOOSE])
        yield line.append(f" in {_count(tools, 'tool')}{_by([result for result, _, _ in remarks], results)}: ").append(
            RULES.get(rule, "")
        )
        yield from _wordings(remarks)
    if len(kinds) > MOST_RULES:
        yield Text(f"  and {_count(len(kinds) - MOST_RULES, 'more rule')}: {_EVERYTHING}")


def _weight(remarks: Sequence[tuple[DialectHearings, int, Remark]]) -> tuple[bool, int, int]:
    refuses = any(remark.loose for _, _, remark in remarks)
    return not refuses, -len({number for _, number, _ in remarks}), -len(remarks)


def _wordings(remarks: Sequence[tuple[DialectHearings, int, Remark]]) -> Iterator[Text]:
    wordings: dict[tuple[str | None, str | None], dict[str, None]] = {}
    for result, _, remark in remarks:
        key = (remark.violation.phrase, remark.violation.source)
        wordings.setdefault(key, {})[result.dialect.name] = None
    known = [(key, names) for key, names in wordings.items() if key != (None, None)]
    known.sort(key=lambda item: (item[0][0] is None, -len(item[1])))
    for (phrase, source), names in known[:MOST_WORDINGS]:
        said = [f'"{phrase}"'] if phrase else []
        yield Text(plain(f"    {_names(list(names))}: {' '.join([*said, source or ''])}".rstrip()), style="dim")


# --- tools ----------------------------------------------------------------------------------------------------------


def _tools(results: Sequence[DialectHearings]) -> Iterator[Text]:
    """Tools by example, those refused by most dialects first: each place with the rule and the dialects."""
    numbers = [number for number in range(len(results[0].tools)) if any(r.tools[number].remarks for r in results)]
    numbers.sort(key=lambda number: _resistance(results, number))
    for number in numbers[:MOST_TOOLS]:
        answers = [result.tools[number].answer for result in results]
        counts = ", ".join(f"{answers.count(answer)} {answer.value}" for answer in Answer if answer in answers)
        name = plain(results[0].tools[number].tool.name) or "(no name)"
        yield Text("  ").append(name, style="bold").append(f": {counts}" if len(results) > 1 else f": {answers[0]}")
        yield from _places(results, number)
    if len(numbers) > MOST_TOOLS:
        yield Text(f"  and {_count(len(numbers) - MOST_TOOLS, 'more tool')}: {_EVERYTHING}")


def _resistance(results: Sequence[DialectHearings], number: int) -> tuple[int, int, int]:
    heard = [result.tools[number] for result in results]
    aside = [hearing.names_aside for hearing in heard]
    answers = [hearing.answer for hearing in heard]
    return -aside.count(Answer.REFUSED), -answers.count(Answer.REFUSED), -answers.count(Answer.LOOSE)


def _places(results: Sequence[DialectHearings], number: int) -> Iterator[Text]:
    found: dict[tuple[bool, Part, str, str], list[tuple[DialectHearings, Remark]]] = {}
    for result in results:
        for remark in result.tools[number].remarks:
            key = (not remark.loose, remark.part, remark.violation.pointer, remark.violation.rule)
            found.setdefault(key, []).append((result, remark))
    places = sorted(found.items(), key=lambda item: (item[0][0], -len(item[1])))
    for (mild, part, pointer, rule), remarks in places[:MOST_PLACES]:
        answer = Answer.LOOSE if mild else Answer.REFUSED
        where = (pointer or "(root)") if part == "parameters" else part
        said = f" {where}: {remarks[0][1].violation.message} [{rule}]{_by([r for r, _ in remarks], results)}"
        yield Text("    ").append("not strict" if mild else answer.value, style=_STYLES[answer]).append(plain(said))
    if len(places) > MOST_PLACES:
        yield Text(f"    and {_count(len(places) - MOST_PLACES, 'more place')}")


# --- words ----------------------------------------------------------------------------------------------------------


def _by(some: Sequence[DialectHearings], all_of_them: Sequence[DialectHearings]) -> str:
    """Which dialects say so; nothing where there is only one."""
    names = list(dict.fromkeys(result.dialect.name for result in some))
    if len(all_of_them) == 1:
        return ""
    return " under every dialect" if len(names) == len(all_of_them) else f" under {_names(names)}"


def _names(names: Sequence[str]) -> str:
    if len(names) <= _NAMED + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _closing(results: Sequence[DialectHearings], failing: Collection[Answer]) -> str:
    compiles = "strictcall check without --as-is says what they compile to"
    for answer, what in (
        (Answer.REFUSED, "refused even without strict"),
        (Answer.LOOSE, "not taken strict"),
    ):
        by = [result.dialect.name for result in results if result.summary[answer]]
        tools = {number for result in results for number, heard in enumerate(result.tools) if heard.answer is answer}
        if tools:
            start = "to do" if answer in failing else "fine"
            held = f"{_count(len(tools), 'tool')} {'is' if len(tools) == 1 else 'are'} {what} by {_names(by)}"
            return f"{start}: {held}; {compiles}"
    return "fine: every tool is taken strict as it stands"
