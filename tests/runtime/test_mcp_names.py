"""What the tools of several servers are called."""

from __future__ import annotations

import pytest

from strictcall.runtime.mcp_names import found, named

A, B, C = ("one", "search"), ("two", "search"), ("two", "fetch")


def test_only_names_that_clash_get_their_servers_before_them():
    assert named([A, B, C]) == {A: "one__search", B: "two__search", C: "fetch"}


def test_all_of_them_where_that_is_asked_for():
    assert named([A, C], always=True) == {A: "one__search", C: "two__fetch"}


def test_a_name_once_given_stays_whatever_comes_later():
    first = named([A])
    assert first == {A: "search"}
    assert named([A, B], first) == {A: "search", B: "two__search"}
    both = named([A, B])
    assert named([B], both) == {B: "two__search"}
    # The one that is away still has its name.
    assert named([("three", "search")], both) == {("three", "search"): "three__search"}


@pytest.mark.parametrize(
    "tools",
    [
        [("a", "b__c"), ("a__b", "c"), ("x", "b__c"), ("x", "c")],
        [("a", "x"), ("b", "x"), ("c", "a__x")],
        [("c", "a__x"), ("a", "x"), ("b", "x"), ("d", "a__x")],
    ],
)
def test_no_two_tools_share_a_name(tools):
    names = named(tools)
    assert list(names) == tools
    assert len(set(names.values())) == len(tools)
    assert all(found(name, names) == owned for owned, name in names.items())


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("one__search", A),
        ("one.search", A),
        ("two/search", B),
        ("fetch", C),
        ("two.fetch", C),
        ("search", None),
        ("three.fetch", None),
        ("", None),
    ],
)
def test_a_tool_is_found_by_either_name_unless_it_could_be_another(name, meant):
    assert found(name, named([A, B, C])) == meant


def test_its_own_name_finds_a_tool_that_is_called_after_its_server():
    assert found("fetch", named([A, B, C], always=True)) == C
