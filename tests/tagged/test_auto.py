"""``auto``: by the model's name or by the text, and prose when unsure."""

from __future__ import annotations

import re

import pytest

from strictcall.tagged import formats, read, write
from strictcall.tagged.registry import FAMILIES
from tagged.everywhere import NOW, PARIS, ROME, TOOLS, calls, everywhere

MODELS = [
    ("Qwen/Qwen2.5-7B-Instruct", "hermes"),
    ("Qwen/Qwen3-8B", "hermes"),
    ("qwen3:8b", "hermes"),
    ("NousResearch/Hermes-3-Llama-3.1-8B", "hermes"),
    ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3_coder"),
    ("Qwen/Qwen3.5-35B", "qwen3_coder"),
    ("meta-llama/Llama-3.1-8B-Instruct", "llama3_json"),
    ("llama3.3:70b", "llama3_json"),
    ("meta-llama/Llama-3.2-1B-Instruct", "pythonic"),
    ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "pythonic"),
    ("mistralai/Mistral-7B-Instruct-v0.3", "mistral_old"),
    ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral"),
    ("deepseek-ai/DeepSeek-V3-0324", "deepseek_v3"),
    ("deepseek-ai/DeepSeek-R1-0528", "deepseek_v3"),
    ("deepseek-ai/DeepSeek-V3.1", "deepseek_v31"),
    ("deepseek-ai/DeepSeek-V3.2", "deepseek_v32"),
    ("deepseek-ai/DeepSeek-V4.1", "deepseek_v41"),
    ("tencent/Hunyuan-A13B-Instruct", "tool_calls"),
    ("tencent/HY-V3-Instruct", "hunyuan_v3"),
    ("openbmb/MiniCPM5-8B", "minicpm5"),
    ("Salesforce/xLAM-2-8b-fc-r", "xlam"),
    ("moonshotai/Kimi-K2-Instruct", "kimi_k2"),
    ("zai-org/GLM-4.5-Air", "glm45"),
    ("zai-org/GLM-4.7", "glm47"),
    ("openai/gpt-oss-20b", "harmony"),
    ("ibm-granite/granite-3.1-8b-instruct", "granite"),
    ("ibm-granite/granite-4.0-h-small", "hermes"),
    ("microsoft/Phi-4-mini-instruct", "phi4_mini"),
    ("meetkai/functionary-small-v3.1", "functionary"),
    ("internlm/internlm2_5-7b-chat", "internlm"),
    ("CohereLabs/c4ai-command-r7b-12-2024", "command_r"),
    ("MiniMaxAI/MiniMax-M2", "minimax_m2"),
    ("ByteDance-Seed/Seed-OSS-36B-Instruct", "seed_oss"),
    ("LiquidAI/LFM2-1.2B", "lfm2"),
    ("allenai/Olmo-3-7B-Instruct", "olmo3"),
    ("google/functiongemma-270m-it", "functiongemma"),
]


@pytest.mark.parametrize(("model", "wanted"), MODELS)
def test_a_model_is_known_by_its_name(model, wanted):
    known = [family.name for family in FAMILIES if family.models and re.search(family.models, model, re.IGNORECASE)]
    assert wanted in known
    text = write([PARIS, ROME, NOW], wanted)
    assert calls(read(text, TOOLS, "auto", model=model)) == [PARIS, ROME, NOW]


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4", "some-model", ""])
def test_an_unknown_model_is_none_of_them(model):
    assert not [family.name for family in FAMILIES if family.models and re.search(family.models, model, re.IGNORECASE)]
    assert calls(everywhere(f"<tool_call>{P}</tool_call>", "auto", model=model)) == [PARIS]


P = '{"name": "get_weather", "parameters": {"city": "Paris"}}'


@pytest.mark.parametrize("form", formats())
def test_what_is_written_is_known_by_itself(form):
    """Without any name, for every format whose calls are marked as calls, or are all that the answer holds."""
    assert calls(everywhere(write([PARIS, ROME], form), "auto")) == [PARIS, ROME]


UNSURE = [
    # a text that is prose in auto, and the format or model for which it is a call
    (f"The answer: {P}", "llama3_json", "meta-llama/Llama-3.1-8B-Instruct"),
    (f"{P}\nThat was it.", "llama3_json", "meta-llama/Llama-3.1-8B-Instruct"),
    ('>>>get_weather\n{"city": "Paris"}', "functionary", "meetkai/functionary-small-v3.2"),
    (P.replace("parameters", "arguments") + "\n</tool_call>", "hermes", "Qwen/Qwen2.5-7B-Instruct"),
]


@pytest.mark.parametrize(("text", "form", "model"), UNSURE)
def test_what_may_be_prose_is_a_call_only_where_the_format_or_the_model_is_named(text, form, model):
    assert calls(everywhere(text, form)) == [PARIS]
    assert calls(everywhere(text, "auto", model=model)) == [PARIS]
    answer = everywhere(text)
    assert (calls(answer), answer.text) == ([], text)


def test_every_other_name_of_a_format_is_known_once():
    names = [name for family in FAMILIES for name in (family.name, *family.also)]
    assert len(set(names)) == len(names)
    assert formats() == [family.name for family in FAMILIES]
    assert calls(everywhere(f"<tool_call>{P}</tool_call>", "qwen25")) == [PARIS]


def test_no_tools_no_calls():
    from strictcall import Toolset

    answer = everywhere("Hello.", "auto", Toolset([], "openai"))
    assert (calls(answer), answer.text) == ([], "Hello.")
