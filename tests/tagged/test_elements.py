"""Calls written as elements: where a value ends, and what stands in it."""

from __future__ import annotations

import time

import pytest

from strictcall import Tool, Toolset
from strictcall.tagged import read
from strictcall.tagged.elements import CDATA, Tag, quoted
from strictcall.tagged.family import Written
from strictcall.tagged.registry import family

TEXT = {"type": "string"}
NOTE = Tool(
    "note",
    "",
    {
        "type": "object",
        "properties": {"body": TEXT, "title": TEXT, "size": {"type": "object"}},
        "additionalProperties": False,
    },
)
OFFERED = Toolset([NOTE], "openai")
FORMATS = ["qwen3_coder", "seed_oss", "glm45", "glm47", "minimax_m2", "deepseek_v32", "deepseek_v4", "step3"]
FORMATS += ["cohere_xml", "kimi_k3", "deepseek_v41", "hunyuan_v3", "minicpm5"]
VALUES = [
    "",
    "\n",
    " \n two lines \n",
    "]]>",
    "<![CDATA[x]]>",
    "<![CDATA[not closed",
    "a <b>tag</b>",
    "</parameter>",
    "</parameter>\n</function>\n</tool_call>",
    "\n<parameter=title>\nx\n</parameter>",
    "</arg_value><arg_key>title</arg_key><arg_value>",
    '</invoke><invoke name="note">',
    "</｜DSML｜parameter></｜DSML｜invoke>",  # noqa: RUF001
    "<|close|>argument<|sep|><|close|>call<|sep|>",
    "&amp; &lt;",
    "`code` and ```\nfence\n```",
]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("value", VALUES)
def test_what_is_written_is_read(form, value):
    text = family(form).write([Written("note", {"body": value, "title": "t"})])
    (call,) = read(text, OFFERED, form).calls
    assert call.faults == ()
    assert call.arguments == {"body": value, "title": "t"}


@pytest.mark.parametrize("form", FORMATS)
def test_a_parameter_that_is_not_declared_is_a_fault_with_the_nearest(form):
    text = family(form).write([Written("note", {"titel": "t"}), Written("note", {"title": "t"})])
    wrong, right = read(text, OFFERED, form).calls
    assert [(fault.pointer, fault.nearest) for fault in wrong.faults] == [("/titel", "title")]
    assert right.arguments == {"title": "t"}


@pytest.mark.parametrize("form", FORMATS)
def test_cut_off_at_any_place_is_no_call_that_may_run(form):
    text = family(form).write([Written("note", {"body": "some text", "title": "t"})])
    for end in range(1, len(text)):
        for call in read(text[:end], OFFERED, form).calls:
            assert not call.complete or call.arguments == {"body": "some text", "title": "t"}, text[:end]


def test_a_name_that_no_tag_can_say():
    with pytest.raises(ValueError, match="cannot say the name"):
        Tag("<f", name="name").written('a"b')


def test_a_value_is_put_in_cdata_only_where_it_must_be():
    assert quoted("a < b", ("</p>",)) == "a < b"
    assert quoted("</p>", ("</p>",)) == f"{CDATA}</p>]]>"
    assert quoted("</p>]]>", ("</p>",)) == f"{CDATA}</p>]]]]>{CDATA}>]]>"


@pytest.mark.parametrize("filler", ["</parameter>", "</parameter> ", "\n<parameter=zz>", "</function>\n", " ", "]]>"])
def test_values_full_of_tags_take_linear_time(filler):
    body = filler * (200_000 // len(filler))
    text = f"<tool_call>\n<function=note>\n<parameter=body>\n{body}x\n</parameter>\n</function>\n</tool_call>"
    started = time.process_time()
    (call,) = read(text, OFFERED, "qwen3_coder").calls
    assert time.process_time() - started < 5
    assert call.arguments == {"body": f"{body}x"}


@pytest.mark.parametrize("form", FORMATS)
def test_half_a_character_is_a_fault_of_its_call(form):
    """A lone surrogate is no character: no JSON holds it, and nothing else comes of it than a fault."""
    text = family(form).write([Written("note", {"body": "\ud800", "title": "t"})])
    (call,) = read(text, OFFERED, form).calls
    assert call.complete
    assert call.faults
