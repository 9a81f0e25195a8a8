import copy
import datetime as dt
import tomllib
from importlib import resources

import pytest

from strictcall.dialect.build import build
from strictcall.dialect.model import Keyword, Limit, State, admits
from strictcall.dialect.registry import dialects, load, merged, read
from strictcall.dialect.rules import RULES
from strictcall.errors import DialectError

NAMES = tuple(
    sorted(
        file.name.removesuffix(".toml")
        for file in resources.files("strictcall.dialect").iterdir()
        if file.name.endswith(".toml")
    )
)
PARENT = {
    "title": "A parent",
    "others": "ignored",
    "formats": ["date", "email"],
    "root": {"object_only": True, "forbidden": ["anyOf"]},
    "tool_name": {"pattern": "[a-z]+", "max_length": 8},
    "sources": {"guide": {"url": "https://example.com/guide", "date": "2026-01-02"}},
    "regex_forbidden": {"look_around": r"\(\?[=!]", "back_reference": r"\\[1-9]"},
    "rules": {"recursion": {"source": "guide", "phrase": "no circles"}},
    "limits": {"tool": {"depth": {"most": 5, "source": "guide"}, "properties": {"most": 9, "source": "guide"}}},
    "keywords": {
        "type": {"state": "enforced", "source": "guide"},
        "minItems": {"state": "enforced", "values": [0, 1], "phrase": "0 or 1", "source": "guide"},
    },
}


def table(name):
    return tomllib.loads(resources.files("strictcall.dialect").joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def find(files):
    def look(name):
        return copy.deepcopy(files[name])

    return look


def test_the_shipped_dialects_are_listed_by_name():
    assert tuple(dialect.name for dialect in dialects()) == NAMES


def test_a_dialect_is_read_once():
    assert load("openai") is load("openai")


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_of_the_file_reaches_the_dialect(name):
    written = table(name)
    dialect = load(name)
    assert dialect.title == written["title"]
    for key, entry in written.get("keywords", {}).items():
        assert dialect.keywords[key].state is State(entry["state"])
    given = {(limit.per, limit.name): limit.most for limit in dialect.limits}
    for per, group in written.get("limits", {}).items():
        for measure, entry in group.items():
            assert given.get((per, measure)) == (entry["most"] if entry else None)
    for key in ("title", "optional", "null", "const", "recursion", "strict_place", "strict_default", "enforced"):
        assert getattr(dialect, key) == written.get(key, getattr(dialect, key))
    if "formats" in written:
        assert dialect.formats == frozenset(written["formats"])
    if "regex_forbidden" in written:
        assert written["regex_forbidden"].items() <= dict(dialect.regex_forbidden).items()
    assert dialect.root.forbidden >= frozenset(written.get("root", {}).get("forbidden", ()))


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_has_a_source_with_address_and_date(name):
    written = table(name)
    used = set()
    for part in (written, written.get("output", {})):
        for group in (part.get("keywords", {}), part.get("rules", {}), *part.get("limits", {}).values()):
            used |= {entry["source"] for entry in group.values() if entry}
        used |= {part["tagged"]["source"]} if "source" in part.get("tagged", {}) else set()
    assert written["sources"].keys() <= used, "a source that nothing is taken from"
    dialect = load(name)
    rules = [*dialect.keywords.values(), *dialect.limits, *dialect.rules.values()]
    rules += [dialect.tagged] if dialect.tagged.format != "none" else []
    assert {rule.source for rule in rules} <= dialect.sources.keys()
    for source in dialect.sources.values():
        assert source.url.startswith("https://")
        assert dt.date.fromisoformat(source.date) <= dt.date(2026, 11, 30)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("target", ["tool", "output"])
def test_a_dialect_is_of_one_piece(name, target):
    """What a dialect says in one place must be possible by what it says in another."""
    dialect = load(name, target)
    assert dialect.target == target
    for keyword in ("properties", "required", "type", "items", "enum"):
        assert dialect.state(keyword) is State.ENFORCED
    assert dialect.const == "enum" or dialect.state("const") is State.ENFORCED
    assert dialect.null != "type_list" or dialect.type_lists != "none"
    assert dialect.null != "nullable" or dialect.state("nullable") is State.ENFORCED
    assert dialect.null == "nullable" or dialect.state("anyOf") is State.ENFORCED
    if dialect.references:
        assert dialect.state(dialect.definitions) is State.ENFORCED
    if dialect.open_objects:
        assert dialect.state("additionalProperties") is State.ENFORCED
    assert (dialect.pattern_anchoring == "whole") is (dialect.state("pattern") is State.NARROWER)
    assert dialect.silent <= RULES.keys()


def test_the_three_are_of_opposite_character():
    openai, anthropic, engine = load("openai"), load("anthropic"), load("json_schema")
    assert (openai.optional, anthropic.optional, engine.optional) == ("null", "absent", "absent")
    assert (openai.recursion, anthropic.recursion, engine.recursion) == (True, False, True)
    assert (openai.open_objects, anthropic.open_objects, engine.open_objects) == (False, False, True)
    assert openai.state("minimum") is State.ENFORCED
    assert anthropic.state("minimum") is State.REJECTED
    assert anthropic.state("minItems", 1) is State.ENFORCED
    assert anthropic.state("minItems", 2) is State.REJECTED
    assert engine.state("x-anything") is State.IGNORED
    assert openai.state("x-anything") is State.REJECTED


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("opneai", "did you mean 'openai'"),
        ("jsonschema", "did you mean 'json_schema'?"),
        ("zzz", "known are anthropic, azure-openai, bedrock-anthropic"),
        ("../openai", "did you mean 'openai'"),
        ("lama.cpp", "did you mean 'llama.cpp'"),
        ("", "known are"),
    ],
)
def test_an_unknown_name_is_answered_with_the_near_ones(name, told):
    with pytest.raises(DialectError) as error:
        load(name)
    assert told in str(error.value)
    assert error.value.name == name


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (["colour"], "red", "colour: unknown key; known are title"),
        (["title"], None, "title: missing"),
        (["title"], 3, "title: 3 is not a text"),
        (["optional"], "maybe", "optional: 'maybe' is not one of 'absent', 'null'"),
        (["others"], "taken", "others: 'taken' is not one of 'enforced', 'narrower', 'ignored', 'rejected'"),
        (["recursion"], 1, "recursion: 1 is not one of True, False"),
        (["formats"], "date", "formats: 'date' is not a list of texts"),
        (["recursion"], "often", "recursion: 'often' is not one of True, False, 'optional'"),
        (["union_siblings"], "title", "union_siblings: 'title' is not a list of texts"),
        (["long_enum"], "250", "long_enum: '250' is not a whole number"),
        (["description_limit"], "9", "description_limit: '9' is not a whole number"),
        (["conflicts"], [["pattern"]], "conflicts: must be a list of pairs of lists of keywords"),
        (["conflicts"], [["pattern", "format"]], "conflicts: 'pattern' is not a list of texts"),
        (["silent"], ["no-such"], "silent: 'no-such' is not one of 'not-json'"),
        (["strict_value"], 3, "strict_value: 3 is not a text"),
        (["strict_place"], "header", "strict_place: 'header' is not one of 'function', 'tool'"),
        (["tool_name", "forbidden"], "search", "tool_name.forbidden: 'search' is not a list of texts"),
        (["keywords", "type", "held_most"], "9", "keywords.type.held_most: must be a number"),
        (["target"], "tool", "target: unknown key"),
        (["literals"], ["text"], "literals: 'text' is not one of 'string'"),
        (["patterns"], -1, "patterns: -1 is not a whole number"),
        (["root"], [], "root: must be a table of object_only, forbidden"),
        (["root", "open"], True, "root.open: unknown key; known are object_only, forbidden"),
        (["baseline"], {"items": True}, "baseline.items: unknown key"),
        (["baseline"], {"well_formed": "yes"}, "baseline.well_formed: 'yes' is not one of True, False"),
        (["tool_name", "pattern"], "(", "tool_name.pattern: not a regular expression"),
        (["tool_name", "max_length"], "8", "tool_name.max_length: '8' is not a whole number"),
        (["regex_forbidden", "look_around"], "[", "regex_forbidden.look_around: not a regular expression"),
        (["keywords", "type", "state"], "fine", "keywords.type.state: 'fine' is not one of"),
        (["keywords", "type", "source"], "page", "keywords.type.source: 'page' is not one of 'guide'"),
        (["keywords", "type", "source"], None, "keywords.type.source: missing"),
        (["keywords", "type", "value"], [1], "keywords.type.value: unknown key"),
        (["keywords", "type", "values"], [{}], "keywords.type.values: must be a list"),
        (["keywords", "type", "most"], True, "keywords.type.most: must be a number"),
        (["keywords", "type", "digits"], 1.5, "keywords.type.digits: 1.5 is not a whole number"),
        (["keywords", "type", "phrase"], "", "keywords.type.phrase: '' is not a text"),
        (["keywords"], [], "keywords: must be a table"),
        (["rules", "no-such"], {"source": "guide"}, "rules.no-such: no such rule"),
        (["limits", "minute"], {}, "limits.minute: unknown key; known are tool, request"),
        (["limits", "tool", "breadth"], {"most": 1, "source": "guide"}, "limits.tool.breadth: unknown key"),
        (["limits", "tool", "strict_tools"], {"most": 1, "source": "guide"}, "limits.tool.strict_tools: unknown key"),
        (["limits", "tool", "depth", "most"], "5", "limits.tool.depth.most: '5' is not a whole number"),
        (["sources", "guide", "date"], None, "sources.guide.date: missing"),
        (["tagged"], "auto", "tagged: must be a table of format, source"),
        (["tagged"], {"format": "auto"}, "tagged.source: missing"),
        (["tagged"], {"format": "auto", "source": "page"}, "tagged.source: 'page' is not one of 'guide'"),
    ],
)
def test_a_flaw_in_a_file_is_named_with_what_is_allowed(path, value, told):
    flawed = copy.deepcopy(PARENT)
    place = flawed
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(DialectError) as error:
        build("flawed", flawed)
    assert str(error.value).startswith(f"dialect 'flawed': {told}")


def test_a_child_is_its_parent_plus_what_differs():
    child = {
        "parent": "base",
        "title": "A child",
        "formats": ["date"],
        "root": {"object_only": False},
        "tool_name": {"max_length": False},
        "sources": {"report": {"url": "https://example.com/report", "date": "2026-03-04"}},
        "regex_forbidden": {"look_around": False},
        "rules": {"recursion": False},
        "limits": {"tool": {"depth": {"most": 3, "source": "report"}, "properties": False}},
        "keywords": {
            "minItems": {"state": "rejected", "source": "report"},
            "maxItems": {"state": "ignored", "source": "guide"},
        },
    }
    dialect = build("child", merged("child", find({"child": child, "base": PARENT})))
    assert (dialect.name, dialect.title, dialect.parent) == ("child", "A child", "base")
    assert dialect.formats == {"date"}
    assert (dialect.root.object_only, dialect.root.forbidden) == (False, {"anyOf"})
    assert (dialect.tool_name.pattern, dialect.tool_name.max_length) == ("[a-z]+", None)
    assert dialect.sources.keys() == {"guide", "report"}
    assert dialect.regex_forbidden.keys() == {"back_reference"}
    assert dialect.rules == {}
    assert dialect.limits == (Limit("depth", 3, "tool", None, "report"),)
    assert dialect.keyword("minItems") == Keyword("minItems", State.REJECTED, source="report")
    assert dialect.state("maxItems") is State.IGNORED
    assert dialect.state("type") is State.ENFORCED


def test_what_differs_for_output_is_laid_over_its_own_file_and_under_its_children():
    files = {
        "base": {**PARENT, "output": {"others": "rejected", "keywords": {"type": False}, "recursion": "optional"}},
        "child": {"parent": "base", "recursion": True, "output": {"optional": "absent"}},
    }
    tool = build("child", merged("child", find(files)))
    output = build("child", merged("child", find(files), "output"), "output")
    assert (tool.target, tool.others, tool.recursion, tool.optional) == ("tool", State.IGNORED, True, "null")
    assert (output.target, output.others, output.recursion, output.optional) == (
        "output",
        State.REJECTED,
        True,
        "absent",
    )
    assert "type" in tool.keywords
    assert "type" not in output.keywords


def test_output_must_be_a_table():
    with pytest.raises(DialectError, match="output: must be a table"):
        merged("a", find({"a": {"title": "a", "output": 3}}))


def test_a_grandchild_is_laid_over_both():
    files = {
        "base": PARENT,
        "child": {"parent": "base", "others": "rejected", "optional": "absent"},
        "grandchild": {"parent": "child", "others": "enforced"},
    }
    dialect = build("grandchild", merged("grandchild", find(files)))
    assert (dialect.others, dialect.optional, dialect.title) == (State.ENFORCED, "absent", "A parent")


def test_laying_a_child_over_a_parent_changes_neither():
    files = {"child": {"parent": "base", "limits": {"tool": {"depth": False}}}, "base": copy.deepcopy(PARENT)}
    merged("child", files.__getitem__)
    assert files["base"] == PARENT
    assert files["child"] == {"parent": "base", "limits": {"tool": {"depth": False}}}


def test_parents_in_a_circle_are_refused():
    files = {"a": {"parent": "b", "title": "a"}, "b": {"parent": "a", "title": "b"}}
    with pytest.raises(DialectError, match="parent: a → b → a goes in a circle"):
        merged("a", find(files))


def test_a_file_of_ones_own_may_stand_on_a_shipped_dialect(tmp_path):
    path = tmp_path / "cautious.toml"
    path.write_text('parent = "openai"\ntitle = "Cautious"\nrecursion = false\n', encoding="utf-8")
    dialect = read(path)
    assert (dialect.name, dialect.title, dialect.recursion) == ("cautious", "Cautious", False)
    assert dialect.keywords == load("openai").keywords


def test_a_file_of_ones_own_may_stand_on_one_beside_it(tmp_path):
    (tmp_path / "base.toml").write_text('title = "Base"\nothers = "ignored"\n', encoding="utf-8")
    path = tmp_path / "leaf.toml"
    path.write_text('parent = "base"\nuntyped = true\n', encoding="utf-8")
    dialect = read(path)
    assert (dialect.title, dialect.others, dialect.untyped) == ("Base", State.IGNORED, True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("title = ", "not TOML"),
        ('parent = "none"\n', "unknown; known are"),
        ("parent = 3\n", "3 is not a dialect's name"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_dialect_error(tmp_path, text, told):
    path = tmp_path / "broken.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DialectError, match=told):
        read(path)


def test_a_file_that_is_not_there_is_a_dialect_error(tmp_path):
    with pytest.raises(DialectError, match="cannot be read"):
        read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("rule", "value", "taken"),
    [
        ({"values": (0, 1)}, 1, True),
        ({"values": (0, 1)}, 1.0, True),
        ({"values": (0, 1)}, True, False),
        ({"values": (0, 1)}, 2, False),
        ({"values": (0, 1)}, [0], False),
        ({"values": (True,)}, 1, False),
        ({"values": (True,)}, True, True),
        ({"values": ("a",)}, "a", True),
        ({"most": 10}, 10, True),
        ({"most": 10}, 11, False),
        ({"most": 10}, "many", True),
        ({"least": -1}, -2, False),
        ({"digits": 4}, 0.123, True),
        ({"digits": 3}, 0.1234, False),
        ({"digits": 3}, 0.07, False),
        ({"digits": 3}, 1200, True),
        ({"digits": 3}, 1234, False),
        pytest.param({"digits": 3}, 10**5000, False, id="huge"),
    ],
)
def test_which_values_a_keyword_takes(rule, value, taken):
    assert admits(Keyword("k", State.ENFORCED, **rule), value) is taken


def test_a_value_above_what_is_held_is_taken_and_not_held():
    xai = load("xai")
    assert xai.state("maxLength") is State.ENFORCED
    assert xai.state("maxLength", 2048) is State.ENFORCED
    assert xai.state("maxLength", 2049) is State.IGNORED
    assert xai.state("minContains", 2049) is State.REJECTED
