"""One referee, in its own environment: a wire schema a line on standard input, its refusals a line on standard output.

The first line out names the version of the library that judges; each line after it is a list of pairs of a rule and
words. A rule is stable and names no schema, so that an exception can be made for a rule and for nothing else. What the
library itself prints goes to standard error. Runs with the standard library and the referee only.
"""

from __future__ import annotations

import copy
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import re
import sys
import tempfile
import types
from collections.abc import Callable
from typing import Any

from meaning import canonical, difference, spelled_out

Refusals = list[tuple[str, str]]
Judge = Callable[[Any], Refusals]


def mcp_strict_check(axis: str) -> Judge:
    """What its own tables call a hard rejection, on MCP's axis and on a provider's, of a request with this one tool."""
    rules = importlib.import_module("mcp_strict_check").cli.rules

    def judge(schema: Any) -> Refusals:
        tool = {"name": "tool", "inputSchema": schema}
        server = {"server_name": "server", "pkg": "server", "tools": [tool]}
        found = rules.judge_server_mcp_openai(server)
        hits = found["A_hits"] + (found["B_hits"] if axis == "openai" else [])
        if axis == "anthropic":
            found = rules.judge_server_anthropic(server)
            hits += found["C0_hits"] + found["C_hits"] + found["C_limit_hits"]
        return [(_counted(hit), f"{hit['msg']}: {json.dumps(hit['value'])[:200]}") for hit in hits]

    return judge


def _counted(hit: dict[str, Any]) -> str:
    """A code, with the count where the code is about one."""
    return f"{hit['code']}:{hit['value']}" if isinstance(hit["value"], int) else str(hit["code"])


def anthropic() -> Judge:
    """``transform_schema`` must give a schema that accepts the same values (``meaning`` says how that is seen)."""
    library = importlib.import_module("anthropic")

    def judge(schema: Any) -> Refusals:
        found: Refusals = []
        try:
            given = library.transform_schema(copy.deepcopy(schema))
        except AssertionError as error:
            found.append(("type-list-asserts", str(error)))
            given = library.transform_schema(spelled_out(schema))
        other = difference(canonical(schema), canonical(given))
        if other is None:
            return found
        without = frozenset({"pattern"})
        if difference(canonical(schema, without), canonical(given, without)) is None:
            return [*found, ("pattern-moved", "pattern is moved into the description")]
        return [*found, (f"changed:{other[1]}", f"at {other[0]}")]

    return judge


def openai_agents() -> Judge:
    """``ensure_strict_json_schema`` must neither raise nor change anything."""
    library = importlib.import_module("agents.strict_schema")

    def judge(schema: Any) -> Refusals:
        given = library.ensure_strict_json_schema(copy.deepcopy(schema))
        if json.dumps(given) == json.dumps(schema):
            return []
        if json.dumps(given) == json.dumps(_without_null_default(schema)):
            return [("null-default-dropped", "default null is taken out")]
        return [("changed", json.dumps(given)[:200])]

    return judge


def _without_null_default(node: Any) -> Any:
    """A schema without ``default: null`` in any object that is a schema or looks like one."""
    if isinstance(node, dict):
        looks = node.keys() & {"type", "anyOf", "enum", "$ref"}
        return {
            name: _without_null_default(child)
            for name, child in node.items()
            if not (name == "default" and child is None and looks)
        }
    return [_without_null_default(child) for child in node] if isinstance(node, list) else node


def pydantic_ai() -> Judge:
    """Both transformers, the one shared by all that speak OpenAI's API and the one of OpenAI itself, call it strict."""
    profiles = importlib.import_module("pydantic_ai.profiles.openai")
    profile = importlib.import_module("pydantic_ai.providers.openai").OpenAIProvider.model_profile("gpt-5")
    transformers = [profiles.OpenAIJsonSchemaTransformer, profile["json_schema_transformer"]]

    def judge(schema: Any) -> Refusals:
        found: Refusals = []
        for transformer in transformers:
            walked = transformer(copy.deepcopy(schema), strict=None)
            walked.walk()
            if walked.is_strict_compatible:
                continue
            again = transformer(_without_default(schema), strict=None)
            given = again.walk()
            if again.is_strict_compatible:
                rule = "default-kept"
            else:
                rule = "size-limits" if profiles._exceeds_strict_size_limits(given) else "not-strict-compatible"
            found.append((rule, transformer.__name__))
        return found

    return judge


def _without_default(node: Any) -> Any:
    """A schema without ``default`` in any object that is a schema or looks like one."""
    if isinstance(node, dict):
        looks = node.keys() & {"type", "anyOf", "enum", "$ref"}
        return {name: _without_default(child) for name, child in node.items() if not (name == "default" and looks)}
    return [_without_default(child) for child in node] if isinstance(node, list) else node


def llguidance() -> Judge:
    """The grammar compiles, without a warning, and gives a first mask over a vocabulary of bytes."""
    library = importlib.import_module("llguidance")
    tokenizer = library.LLTokenizer("byte")

    def judge(schema: Any) -> Refusals:
        grammar = library.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        failed, words = library.LLMatcher.validate_grammar_with_warnings(grammar, tokenizer)
        if failed or words:
            return [(_general(word), word[:300]) for word in words]
        matcher = library.LLMatcher(tokenizer, grammar)
        matcher.compute_bitmask()
        return [(_general(matcher.get_error()), matcher.get_error()[:300])] if matcher.is_error() else []

    return judge


def _general(words: str) -> str:
    """What a message says without what is particular to one schema; a keyword or format that is named stays."""
    line = words.strip().splitlines()[0] if words.strip() else "no words"
    return re.sub(r"\d{2,}", "N", line)[:80]


def xgrammar() -> Judge:
    """The grammar compiles for a vocabulary of bytes; what it warns about is passed over by the engine, so told too."""
    library = _xgrammar_without_torch()
    vocabulary = [bytes([byte]) for byte in range(256)] + [b"</s>"]
    info = library.TokenizerInfo(vocabulary, vocab_type=library.VocabType.RAW, stop_token_ids=[256])
    compiler = library.GrammarCompiler(info, max_threads=1, cache_enabled=False)
    said = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  it takes the place of standard error
    os.dup2(said.fileno(), 2)

    def judge(schema: Any) -> Refusals:
        said.seek(0)
        said.truncate()
        found: Refusals = []
        try:
            compiler.compile_json_schema(json.dumps(schema))
        except RuntimeError as error:
            words = str(error).strip().splitlines()[-1]
            found.append((re.sub(r"\[.*?\]|\S+:\d+:?|\d+", "", words).strip()[:80], words[:300]))
        said.seek(0)
        warnings = [line.partition("Warning: ")[2].strip() for line in said if "Warning: " in line]
        return found + [(f"warning: {words.partition(': ')[0]}", words[:300]) for words in dict.fromkeys(warnings)]

    return judge


class _Stand(types.ModuleType):
    """A module of which every name is an empty class."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda *_, **__: None})


def _xgrammar_without_torch() -> Any:
    """The library without the gigabyte that it imports: its compiler is native code.

    torch holds the masks and moves them to a device, transformers reads tokenizers; neither takes part in compiling.
    """
    if importlib.util.find_spec("torch") is None:
        importlib.import_module("tvm_ffi")  # looks whether torch is there, and would believe the stand-in
        for name in ("torch", "transformers"):
            stand = _Stand(name)
            stand.__spec__ = importlib.machinery.ModuleSpec(name, None)
            sys.modules[name] = stand
    return importlib.import_module("xgrammar")


MAKERS: dict[str, tuple[str, Callable[[], Judge]]] = {
    "mcp-strict-check-openai": ("mcp-strict-check", lambda: mcp_strict_check("openai")),
    "mcp-strict-check-anthropic": ("mcp-strict-check", lambda: mcp_strict_check("anthropic")),
    "anthropic": ("anthropic", anthropic),
    "openai-agents": ("openai-agents", openai_agents),
    "pydantic-ai": ("pydantic-ai-slim", pydantic_ai),
    "llguidance": ("llguidance", llguidance),
    "xgrammar": ("xgrammar", xgrammar),
}
"""Each referee by its name: the distribution whose version is told, and what makes the judge."""


def main() -> None:
    """Judge until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    distribution, make = MAKERS[sys.argv[1]]
    judge = make()
    print(json.dumps(importlib.metadata.version(distribution)), file=answers, flush=True)
    for line in sys.stdin:
        try:
            found = judge(json.loads(line))
        except Exception as error:  # noqa: BLE001 - a referee that fails has not accepted
            found = [(f"exception:{type(error).__name__}", str(error)[:300])]
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
