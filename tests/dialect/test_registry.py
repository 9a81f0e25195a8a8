import copy
import tomllib
from importlib import resources

import pytest

from strictcall.dialect.build import build
from strictcall.dialect.model import Keyword, Limit, State, admits
from strictcall.dialect.registry import dialects, load, merged, read
from strictcall.errors import DialectError

NAMES = ("anthropic", "json_schema", "openai")
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
    assert {key: rule.state for key, rule in dialect.keywords.items()} == {
        key: State(entry["state"]) for key, entry in written["keywords"].items()
    }
    assert dialect.formats == frozenset(written["formats"])
    assert {(limit.per, limit.name): limit.most for limit in dialect.limits} == {
        (per, measure): entry["most"]
        for per, group in written.get("limits", {}).items()
        for measure, entry in group.items()
    }
    assert dict(dialect.regex_forbidden) == written["regex_forbidden"]
    assert dialect.root.forbidden == frozenset(written["root"]["forbidden"])


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_has_a_source_with_address_and_date(name):
    dialect = load(name)
    used = [*dialect.keywords.values(), *dialect.limits, *dialect.rules.values()]
    assert {rule.source for rule in used} <= dialect.sources.keys()
    assert dialect.sources.keys() == {rule.source for rule in used}, "a source that nothing is taken from"
    for source in dialect.sources.values():
        assert source.url.startswith("https://")
        assert len(source.date) == len("2026-01-01")


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
        ("opneai", "did you mean 'openai'?"),
        ("jsonschema", "did you mean 'json_schema'?"),
        ("zzz", "known are anthropic, json_schema, openai"),
        ("../openai", "did you mean 'openai'?"),
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
        ({"digits": 3}, 0.123, True),
        ({"digits": 3}, 0.1234, False),
        ({"digits": 3}, 1200, True),
        ({"digits": 3}, 1234, False),
        pytest.param({"digits": 3}, 10**5000, False, id="huge"),
    ],
)
def test_which_values_a_keyword_takes(rule, value, taken):
    assert admits(Keyword("k", State.ENFORCED, **rule), value) is taken
