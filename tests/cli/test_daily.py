"""``check`` in daily use: what counts, codes by count, the baseline, and the closing line."""

from __future__ import annotations

import json

import pytest

FINE = {"type": "object", "properties": {}, "additionalProperties": False}
OPEN = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
UNIQUE = {
    "type": "object",
    "properties": {"x": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
    "required": ["x"],
    "additionalProperties": False,
}
BOTH = {**UNIQUE, "properties": {**UNIQUE["properties"], "m": {"additionalProperties": {"type": "string"}}}}
AWAY = {"$ref": "https://example.com/elsewhere.json"}


def rows(**schemas):
    return json.dumps([{"name": name, "schema": schema} for name, schema in schemas.items()])


@pytest.fixture
def check(inside):
    """Check some schemas, given by the names of their tools."""

    def run(*words, **schemas):
        (inside.folder / "t.json").write_text(rows(**schemas))
        return inside("check", "t.json", *words)

    run.folder = inside.folder
    return run


def test_statistics_count_codes_in_place_of_tools(check):
    done = check("--statistics", fine=FINE, one=OPEN, two=OPEN, unique=UNIQUE, away=AWAY)
    lines = done.out.splitlines()
    assert lines[1].split() == ["tools", "changes", "code", "effect"]
    assert lines[2].split() == ["2", "2", "object-closed", "closed"]
    assert lines[3].split() == ["1", "1", "unique-items", "checked"]
    assert lines[4].startswith("5 tools: 1 exact, 2 closed, 1 checked, 0 narrowed, 1 loose")
    assert done.code == 1


def test_statistics_in_json_stand_beside_the_tools(check):
    found = check("--statistics", "--output-format", "json", one=OPEN, two=OPEN).json["dialects"]["openai"]
    assert found["statistics"] == [{"code": "object-closed", "effect": "closed", "tools": 2, "changes": 2}]
    assert [tool["name"] for tool in found["tools"]] == ["one", "two"]
    assert "statistics" not in check("--output-format", "json", one=OPEN).json["dialects"]["openai"]


@pytest.mark.parametrize(
    ("words", "codes", "code"),
    [
        ([], {"unique-items", "map-entries"}, 1),
        (["--select", "unique-items"], {"unique-items"}, 0),
        (["--select", "unique-items,loose"], {"unique-items"}, 1),
        (["--select", "unique-items", "--select", "map-entries"], {"unique-items", "map-entries"}, 0),
        (["--ignore", "unique-items, map-entries"], set(), 1),
        (["--ignore", "loose"], {"unique-items", "map-entries"}, 0),
        (["--ignore", "checked,loose"], set(), 0),
        (["--select", "checked", "--ignore", "unique-items"], {"map-entries"}, 0),
    ],
)
def test_only_what_is_selected_and_not_ignored_counts(check, words, codes, code):
    done = check(*words, "--output-format", "json", "--dialect", "anthropic", both=BOTH, away=AWAY)
    found = done.json["dialects"]["anthropic"]["tools"]
    shown = {change["code"] for tool in found for change in tool["changes"]}
    assert shown & {"unique-items", "map-entries"} == codes
    # What is shown is filtered, what a tool is stays a fact.
    assert [tool["verdict"] for tool in found] == ["checked", "loose"]
    assert done.code == code


def test_what_is_ignored_does_not_fail(check):
    constant = {**OPEN, "properties": {"a": {"not": {"const": 5}}}, "additionalProperties": False}
    words = ["--fidelity", "exact"]
    assert check(*words, unique=UNIQUE).code == 1
    narrowed = check("--fail-on", "narrowed", "--nulls", "fold", maybe=MAYBE_NULL)
    assert (narrowed.code, "null-lost" in narrowed.out) == (1, True)
    ignoring = check("--fail-on", "narrowed", "--nulls", "fold", "--ignore", "null-lost", maybe=MAYBE_NULL)
    assert (ignoring.code, "null-lost" in ignoring.out) == (0, False)
    assert check(constant=constant).code == 0


MAYBE_NULL = {
    "type": "object",
    "properties": {"a": {"type": ["string", "null"], "default": "x"}},
    "additionalProperties": False,
}


def test_the_closing_line_says_what_to_do(check):
    def closing(*words, **schemas):
        return check(*words, **schemas).out.splitlines()[-1]

    assert closing(fine=FINE, one=OPEN) == "fine: nothing to do"
    assert closing(u=UNIQUE) == "fine; for better verdicts, see what to do: strictcall explain unique-items"
    assert closing(u=UNIQUE, a=AWAY, b=AWAY) == (
        "to do: 2 verdicts are loose; mend the schemas, each for the reason beside it, "
        "or accept them for now with --baseline FILE --update-baseline"
    )
    assert closing("--fail-on", "narrowed", "--nulls", "fold", m=MAYBE_NULL).startswith(
        "to do: 1 verdict is narrowed; see what to do: strictcall explain null-lost, or accept"
    )


def test_a_baseline_is_stable_and_sorted(check):
    words = ["--dialect", "openai", "--dialect", "anthropic", "--baseline", "base.json", "--update-baseline"]
    done = check(*words, unique=UNIQUE, away=AWAY, fine=FINE)
    assert done.code == 0
    assert done.out.splitlines()[-1] == "fine: base.json now says how things stand"
    first = (check.folder / "base.json").read_bytes()
    assert check(*words, fine=FINE, away=AWAY, unique=UNIQUE).code == 0
    assert (check.folder / "base.json").read_bytes() == first
    found = json.loads(first)
    assert list(found["dialects"]) == ["anthropic", "openai"]
    assert found["dialects"]["openai"] == {
        "away": {"verdict": "loose", "codes": []},
        "fine": {"verdict": "exact", "codes": []},
        "unique": {"verdict": "checked", "codes": ["unique-items"]},
    }
    assert list(found["dialects"]["openai"]) == ["away", "fine", "unique"]
    assert first.endswith(b"}\n")


@pytest.mark.parametrize(
    ("before", "after", "words", "code", "moved"),
    [
        ({"t": AWAY}, {"t": AWAY}, "", 0, ([], [])),
        ({"t": FINE}, {"t": UNIQUE}, "", 1, (["t"], [])),  # a worse verdict
        ({"t": UNIQUE}, {"t": BOTH}, "", 1, (["t"], [])),  # a new code
        ({"t": UNIQUE}, {"t": AWAY}, "", 1, (["t"], [])),
        ({"t": UNIQUE}, {"t": AWAY}, "--fail-on never", 0, (["t"], [])),
        ({"t": AWAY}, {"t": BOTH}, "", 0, ([], ["t"])),  # better, whatever its codes
        ({"t": BOTH}, {"t": UNIQUE}, "", 0, ([], ["t"])),
        ({"t": UNIQUE}, {"t": FINE, "n": AWAY}, "", 1, (["n"], ["t"])),  # a new loose tool
        ({"t": FINE}, {"t": FINE, "n": UNIQUE}, "", 0, ([], [])),
        ({"t": FINE, "n": AWAY}, {"t": FINE}, "", 0, ([], [])),
        ({"t": UNIQUE}, {"t": BOTH}, "--ignore map-entries,optional-null,free-form-tree,encoded", 0, ([], [])),
    ],
)
def test_a_check_against_a_baseline_fails_only_on_what_is_worse(check, before, after, words, code, moved):
    (worse, better), words = moved, words.split()
    check("--baseline", "base.json", "--update-baseline", **before)
    held = (check.folder / "base.json").read_bytes()
    done = check("--baseline", "base.json", "--output-format", "json", *words, **after)
    assert done.code == code
    found = done.json["baseline"]
    assert [move["tool"] for move in found["worse"]] == worse
    assert [move["tool"] for move in found["better"]] == better
    gone = [move["tool"] for move in found["gone"]]
    assert gone == [name for name in before if name not in after]
    assert (check.folder / "base.json").read_bytes() == held
    text = check("--baseline", "base.json", *words, **after)
    assert text.code == code
    closing = text.out.splitlines()[-1]
    assert closing.startswith("to do: " if worse else "fine: ")
    if worse:
        assert closing == "to do: 1 got worse than base.json says; mend it, or accept what is with --update-baseline"
        assert "worse than the baseline:\n  openai: " in text.out
    elif better:
        assert "write down what changed with --update-baseline" in closing
        assert "better than the baseline:\n  openai: t: " in text.out


def test_the_moves_of_a_baseline_are_shown_with_verdicts_and_codes(check):
    check("--baseline", "base.json", "--update-baseline", worse=OPEN, better=UNIQUE, gone=FINE)
    out = check("--baseline", "base.json", worse=UNIQUE, better=FINE, new=OPEN).out
    assert "  openai: worse: closed -> checked (+unique-items, -object-closed)\n" in out
    assert "  openai: better: checked -> exact (-unique-items)\n" in out
    assert "new since the baseline:\n  openai: new: closed\n" in out
    assert "gone since the baseline:\n  openai: gone: exact\n" in out


def test_an_update_keeps_the_dialects_that_were_not_checked(check):
    words = ["--baseline", "base.json", "--update-baseline"]
    check(*words, "--dialect", "anthropic", t=UNIQUE)
    check(*words, t=FINE)
    found = json.loads((check.folder / "base.json").read_text())["dialects"]
    assert {dialect: tools["t"]["verdict"] for dialect, tools in found.items()} == {
        "anthropic": "checked",
        "openai": "exact",
    }
    assert check("--baseline", "base.json", "--dialect", "json_schema", t=FINE).code == 0  # all its tools are new


def test_tools_of_one_name_are_told_apart(check, inside):
    twice = json.dumps([{"name": "t", "schema": FINE}, {"name": "t", "schema": UNIQUE}])
    (check.folder / "t.json").write_text(twice)
    inside("check", "t.json", "--baseline", "base.json", "--update-baseline")
    assert list(json.loads((check.folder / "base.json").read_text())["dialects"]["openai"]) == ["t", "t#2"]
    assert inside("check", "t.json", "--baseline", "base.json").code == 0


@pytest.mark.parametrize(
    ("held", "words", "message"),
    [
        (None, ["--baseline", "base.json"], "base.json: no such file; --update-baseline makes it"),
        (None, ["--update-baseline"], "--update-baseline writes the file that --baseline names; name one"),
        ("oops", ["--baseline", "base.json"], "base.json: not valid JSON"),
        ("[]", ["--baseline", "base.json"], "base.json: not a baseline: it has no object 'dialects'"),
        ('{"version": 9, "dialects": {}}', ["--baseline", "base.json"], "base.json: a baseline of another version"),
        (
            '{"version": 1, "dialects": {"openai": 5}}',
            ["--baseline", "base.json"],
            "base.json: not a baseline: 'openai' is no",
        ),
        (
            '{"version": 1, "dialects": {"openai": {"t": {"verdict": "great", "codes": []}}}}',
            ["--baseline", "base.json", "--update-baseline"],
            "base.json: not a baseline: 'openai/t' has no verdict and list of codes",
        ),
        (None, ["--baseline", "."], ".: Is a directory"),
        (None, ["--baseline", "no/where.json", "--update-baseline"], "no/where.json: No such file or directory"),
        (None, ["--select", "unique-item"], "no code is called 'unique-item'; did you mean 'unique-items'"),
        (None, ["--ignore", "encoded,nothing-like-it"], "no code is called 'nothing-like-it'"),
    ],
)
def test_wrong_use_is_one_line(check, held, words, message):
    if held is not None:
        (check.folder / "base.json").write_text(held)
    done = check(*words, t=FINE)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"strictcall: {message}")
    assert done.err.count("\n") == 1


def test_a_baseline_is_not_written_of_a_part(check):
    done = check("no-such.json", "--baseline", "base.json", "--update-baseline", t=FINE)
    assert done.code == 2
    assert "base.json: not written, since a part of the sources could not be read" in done.err
    assert not (check.folder / "base.json").exists()
