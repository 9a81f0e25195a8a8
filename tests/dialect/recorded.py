"""What providers were recorded to answer, and what the judge says of the same."""

from strictcall.dialect import judge, judge_name, judge_request, load, measure

DIALECTS = {
    "anthropic": "anthropic",
    "anthropic_managed_agents": "anthropic",
    "azure_openai": "azure-openai",
    "baishan (deepseek v4)": "deepseek",
    "bedrock": "bedrock-anthropic",
    "bedrock_nova": "bedrock-nova",
    "cerebras": "cerebras",
    "cohere": "cohere",
    "dashscope": "qwen",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "gemini": "gemini",
    "gemini_code_assist": "gemini",
    "github_copilot": "openai",
    "groq": "groq",
    "kimi": "kimi",
    "llama.cpp": "llama.cpp",
    "lm_studio": "lmstudio",
    "localai": "localai",
    "mistral": "mistral",
    "moonshot": "kimi",
    "oci_generative_ai_gemini": "gemini",
    "ollama": "ollama",
    "openai": "openai",
    "openai (via relay)": "openai",
    "openai-compatible (unnamed)": "openai",
    "openai_codex": "openai",
    "openrouter": "openrouter",
    "openrouter (deepseek v4 upstream)": "deepseek",
    "openrouter (xai upstream)": "xai",
    "sglang": "sglang",
    "together": "together",
    "vertex_gemini": "gemini",
    "vllm": "vllm",
    "xai": "xai",
    "xgrammar (vllm, sglang)": "vllm",
}
"""The dialect of each provider in the records; other providers there have none."""
OTHER_FAULTS = {"strict_flag", "request_field", "parameters_absent"}
"""What is wrong with these requests is not in a schema or a name."""
STRICT_ROWS = {"groq-items-open": "the client that sent it marks its tools strict"}
"""Rows that do not say whether they were strict, and other text of theirs does."""
CONSTRAINED = {"converter", "converter_test", "structured_outputs"}
"""Interfaces of an engine that hold what they are given, as for a strict tool."""
ALWAYS_STRICT = {"anthropic", "bedrock", "fireworks", "groq", "ollama", "sglang", "vertex_gemini", "gemini", "xai"}
"""Providers whose structured output is always held; elsewhere a flag says so."""


def dialect_of(row):
    """The dialect that a recorded request was judged by; ``None`` where there is none for its provider."""
    name = DIALECTS.get(row["provider"])
    target = "tool" if row["target"] == "tool" else "output"
    json_schema = row.get("field") == "parameters_json_schema" or row["target"] == "response_json_schema"
    if name == "gemini" and (json_schema or row["api"] == "interactions"):
        name = "gemini-json"
    return None if name is None else load(name, target)


def is_judged(row):
    """Whether the row is about a schema or a name, of a provider that has a dialect."""
    return dialect_of(row) is not None and row.get("fault") not in OTHER_FAULTS


def is_strict(row):
    """Whether the request was strict. Where the record does not say, the provider's default counts."""
    if row["strict"] is not None:
        return row["strict"]
    if row["id"] in STRICT_ROWS or row["api"] in CONSTRAINED:
        return True
    if row["target"] != "tool":
        return row["provider"] in ALWAYS_STRICT
    return dialect_of(row).strict_default == "strict"


def asked(row):
    """The schema to judge: a converter is tested with any schema, which in a tool would be that of a property."""
    schema = row["schema"]
    if row["provider"] == "llama.cpp" and row["api"] in CONSTRAINED and "$ref" not in schema:
        return {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


def judged(row):
    """What the judge says of a recorded request: ``accepted`` or ``rejected``."""
    dialect = dialect_of(row)
    if row["schema"] is None:
        raise ValueError(f"{row['id']}: a request without parameters is not the judge's to say")
    violations = judge(asked(row), dialect, strict=is_strict(row))
    if row.get("fault") == "tool_name":
        violations += judge_name(row["tool_name"], dialect)
    if row.get("fault") == "tool_count":
        violations += judge_request([measure(row["schema"], dialect)] * row["tool_count"], dialect)
    return "rejected" if violations else "accepted"


def recorded(row):
    """What the provider said: an answer that was accepted but not kept was accepted."""
    return "rejected" if row["verdict"] == "rejected" else "accepted"
