"""Families that write calls as JSON in tags: their shapes, what is recovered of them, and what is none."""

from __future__ import annotations

import pytest

from tagged.everywhere import NOW, PARIS, ROME, TOOLS, calls, everywhere

P = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
R = '{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}'
N = '{"name": "now", "arguments": {}}'
P_PARAMETERS = P.replace("arguments", "parameters")
R_PARAMETERS = R.replace("arguments", "parameters")
P_COHERE = '{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}'
CUT = ("get_weather", "cut")
FAULT = ("get_weather", "fault")

ROWS = [
    # format, text, calls, text around them
    ("hermes", f"<tool_call>\n{P}\n</tool_call>", [PARIS], ""),
    ("hermes", f"<tool_call>{P}</tool_call>", [PARIS], ""),
    (
        "hermes",
        f"Let me see.\n<tool_call>\n{P}\n</tool_call>\n<tool_call>\n{R}\n</tool_call>",
        [PARIS, ROME],
        "Let me see.",
    ),
    ("hermes", f"<tool_call>{P}</tool_call>\nThat is it.", [PARIS], "That is it."),
    ("hermes", f"One,\n<tool_call>{P}</tool_call>\ntwo.", [PARIS], "One,\n\ntwo."),
    ("hermes", f"<tool_call>{P}\n{R}</tool_call>", [PARIS, ROME], ""),
    ("hermes", f"<tool_call>[{P}, {R}]</tool_call>", [PARIS, ROME], ""),
    ("hermes", f"<tool_call>\n{P}\n<tool_call>\n{R}\n</tool_call>", [PARIS, ROME], ""),
    ("hermes", f"<tool_call>\n{P}", [PARIS], ""),
    ("hermes", f"<tool_call>\n{P}\n</tool_c", [PARIS], ""),
    ("hermes", f"<tool_call>{P}}}</tool_call>", [PARIS], ""),
    ("hermes", f"{P}\n</tool_call>", [PARIS], ""),
    ("hermes", f"{P}\nand so on", [], f"{P}\nand so on"),
    ("hermes", f"<tool_call>{N}</tool_call><|im_end|>", [NOW], ""),
    ("hermes", '<tool_call>{"name": "now"}</tool_call>', [NOW], ""),
    ("hermes", '<tool_call>{"name": "now", "arguments": null}</tool_call>', [NOW], ""),
    ("hermes", '<tool_call>{"arguments": {"city": "Paris"}, "name": "get_weather"}</tool_call>', [PARIS], ""),
    ("hermes", '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}</tool_call>', [PARIS], ""),
    ("hermes", f'<tool_call>{{"type": "function", "function": {P}}}</tool_call>', [PARIS], ""),
    (
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {"city": "a\nb"}}</tool_call>',
        [("get_weather", {"city": "a\nb"})],
        "",
    ),
    (
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {"city": "</tool_call><tool_call>{\\"name\\""}}</tool_call>',
        [("get_weather", {"city": '</tool_call><tool_call>{"name"'})],
        "",
    ),
    ("hermes", '<tool_call>{"name": "get_weather", "arguments": {"city": "Par', [CUT], ""),
    ("hermes", '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}', [CUT], ""),
    ("hermes", '<tool_call>{"name": "get_wea', [], '<tool_call>{"name": "get_wea'),
    ("hermes", '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris",}}</tool_call> Hm.', [FAULT], "Hm."),
    ("hermes", f'<tool_call>{{"name": "get_weather", "arguments": {{"city": oops}}}}</tool_call>{P}', [FAULT], P),
    (
        "hermes",
        f'<tool_call>{{"name": "get_weather", "arguments": {{"city": "Par\n<tool_call>{R}</tool_call>',
        [FAULT, ROME],
        "",
    ),
    (
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "city": "Rome"}}</tool_call>',
        [FAULT],
        "",
    ),
    (
        "hermes",
        f'<tool_call>{{"name": "get_weather", "arguments": {{"town": "Paris"}}}}</tool_call><tool_call>{R}</tool_call>',
        [FAULT, ROME],
        "",
    ),
    ("hermes", "<tool_call> or not </tool_call>", [], "<tool_call> or not </tool_call>"),
    ("hermes", "<tool_call>{}</tool_call>", [], "<tool_call>{}</tool_call>"),
    ("hermes", "The <tool_call> tag opens a call.", [], "The <tool_call> tag opens a call."),
    ("hermes", f"<think>\nI may call.\n</think>\n\n<tool_call>{P}</tool_call>", [PARIS], ""),
    ("hermes", f"<think>\nI could say <tool_call>{R}</tool_call>\n</think>\n\n<tool_call>{P}</tool_call>", [PARIS], ""),
    ("hermes", f"<think>So <tool_call>{R}</tool_call>", [], ""),
    ("granite", f"<|tool_call|>[{P},{R}]", [PARIS, ROME], ""),
    ("granite", f"<tool_call>[{P}]", [PARIS], ""),
    ("granite", f"<|tool_call|>[{P}]<|end_of_text|>", [PARIS], ""),
    ("granite_20b", f"<function_call> {P} <function_call> {R}", [PARIS, ROME], ""),
    ("tool_calls", f"<tool_calls>[{P}, {R}]</tool_calls>", [PARIS, ROME], ""),
    ("tool_calls", f"<tool_calls>\n{P}\n{R}\n</tool_calls>", [PARIS, ROME], ""),
    ("nemotron", f"<TOOLCALL>[{P}]</TOOLCALL>", [PARIS], ""),
    ("longcat", f"<longcat_tool_call>\n{P}\n</longcat_tool_call>", [PARIS], ""),
    ("gigachat3", f"Now.<|function_call|>{P}", [PARIS], "Now."),
    ("gigachat3", f"function call<|role_sep|>\n{P}", [PARIS], ""),
    ("lm_studio", f"[TOOL_REQUEST]{P}[END_TOOL_REQUEST]\n[TOOL_REQUEST]{R}[END_TOOL_REQUEST]", [PARIS, ROME], ""),
    ("functionary", '<function=get_weather>{"city": "Paris"}</function><function=now>{}</function>', [PARIS, NOW], ""),
    ("functionary", '<function=get_weather>{"city": "Paris"}', [PARIS], ""),
    ("functionary", '<function=get_weather>{"city": "Pa', [CUT], ""),
    ("functionary", '<function=get_weather>{"city": Paris}</function>', [FAULT], ""),
    ("functionary", '>>>get_weather\n{"city": "Paris"}', [PARIS], ""),
    ("internlm", f"Yes.<|action_start|><|plugin|>\n{P_PARAMETERS}<|action_end|>\n", [PARIS], "Yes."),
    ("internlm", f"<|action_start|> <|plugin|>{P_PARAMETERS}", [PARIS], ""),
    (
        "command_r",
        f"<|START_THINKING|>Hm.<|END_THINKING|><|START_ACTION|>[\n    {P_COHERE}\n]<|END_ACTION|>",
        [PARIS],
        "",
    ),
    ("command_r", f"<|START_ACTION|>{P_COHERE}<|END_ACTION|>", [PARIS], ""),
    ("command_r", f"Action: ```json\n[\n    {P_COHERE}\n]\n```", [PARIS], ""),
    ("command_r", "<|START_RESPONSE|>Hello<|END_RESPONSE|><|END_OF_TURN_TOKEN|>", [], "Hello"),
    ("phi4_mini", f"functools[{P}, {R}]", [PARIS, ROME], ""),
    ("phi4_mini", "from functools[sic] import cache", [], "from functools[sic] import cache"),
    ("llama3_json", P_PARAMETERS, [PARIS], ""),
    ("llama3_json", f"<|python_tag|>{P_PARAMETERS}<|eom_id|>", [PARIS], ""),
    ("llama3_json", f"{P_PARAMETERS}; {R_PARAMETERS}", [PARIS, ROME], ""),
    ("llama3_json", f"<|python_tag|>{P_PARAMETERS}; {R_PARAMETERS}", [PARIS, ROME], ""),
    ("llama3_json", f"[{P_PARAMETERS}, {R_PARAMETERS}]", [PARIS, ROME], ""),
    ("llama3_json", f"It is {P_PARAMETERS} now.", [PARIS], "It is now."),
    (
        "llama3_json",
        '{"name": "get_weather", "parameters": {"city": "Paris", "days": "3"}}',
        [("get_weather", {"city": "Paris", "days": 3})],
        "",
    ),
    ("llama3_json", '{"name": "nobody", "parameters": {}}', [], '{"name": "nobody", "parameters": {}}'),
    ("llama3_json", '{"name": "get_weather"}', [], '{"name": "get_weather"}'),
    ("llama3_json", '{"name": "get_weather", "parameters": {"city": "Pa', [CUT], ""),
]
IN_AUTO = {
    "hermes",
    "granite",
    "granite_20b",
    "tool_calls",
    "nemotron",
    "longcat",
    "gigachat3",
    "lm_studio",
    "internlm",
}


@pytest.mark.parametrize(("form", "text", "wanted", "around"), ROWS)
def test_read(form, text, wanted, around):
    answer = everywhere(text, form)
    assert calls(answer) == wanted
    assert answer.text.split() == around.split()


@pytest.mark.parametrize(("form", "text", "wanted", "around"), [row for row in ROWS if row[0] in IN_AUTO])
def test_what_is_unmistakable_needs_no_format(form, text, wanted, around):
    answer = everywhere(text)
    assert calls(answer) == (wanted if not text.startswith("{") else [])


def test_text_stays_as_it_stands_up_to_white_space_around_calls():
    assert everywhere(" a\n\n b \n").text == " a\n\n b \n"
    assert everywhere(f"\n <tool_call>{P}</tool_call>\n a \n\n<tool_call>{R}</tool_call>\n\n", "hermes").text == "a"


def test_a_tool_that_is_not_offered_is_a_fault_where_the_tags_are_unmistakable():
    (call,) = everywhere(f"<tool_call>{P.replace('weather', 'wether')}</tool_call>").calls
    assert (call.name, call.arguments, call.complete) == ("get_wether", None, True)
    assert call.faults[0].nearest == "get_weather"


def test_an_invented_argument_is_a_fault_with_the_nearest_declared_name():
    (call,) = everywhere(f"<tool_call>{P.replace('city', 'citi')}</tool_call>").calls
    assert {(fault.pointer, fault.nearest) for fault in call.faults} >= {("/citi", "city")}


def test_optional_means_optional_and_null_means_absent():
    assert TOOLS["get_weather"].parameters["required"] == ["city", "days"]
    (call,) = everywhere(
        '<tool_call>{"name": "get_weather", "arguments": {"city": "x", "days": null}}</tool_call>'
    ).calls
    assert call.arguments == {"city": "x"}


def test_ids_and_names_that_calls_are_written_with():
    answer = everywhere(f"<|START_ACTION|>[{P_COHERE}]<|END_ACTION|>")
    assert [(call.id, call.wire_name, call.raw) for call in answer.calls] == [("0", "get_weather", '{"city": "Paris"}')]
