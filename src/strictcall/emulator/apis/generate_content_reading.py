"""Reading a Gemini request (``GenerateContentRequest``; the sources are named beside the fields' table)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from strictcall.emulator.apis.generate_content_history import read_contents, said
from strictcall.emulator.apis.generate_content_proto import Reader
from strictcall.emulator.apis.generate_content_wording import invalid_field
from strictcall.emulator.conversation import Choice, Message, OfferedTool, Request, WantedOutput
from strictcall.emulator.refusal import Refusal

METHODS: Final = {"generateContent": False, "streamGenerateContent": True}
"""The methods served, and whether they stream."""
_MIME_TYPES: Final = ("text/plain", "application/json", "text/x.enum")
_BEFORE_GEMINI_3: Final = re.compile(r"gemini-[12]\b")
_GEMINI_3: Final = re.compile(r"gemini-([3-9]|\d\d)\b")
_RANGES: Final[Mapping[str, tuple[float, float, str]]] = {
    "temperature": (0.0, 2.0, "temperature must be in the range [0.0, 2.0]."),
    "top_p": (0.0, 1.0, "top_p must be in the range [0.0, 1.0]."),
    "top_k": (1.0, float("inf"), "top_k must be positive."),
    "max_output_tokens": (1.0, float("inf"), "max_output_tokens must be positive."),
    "candidate_count": (1.0, 1.0, "Multiple candidates is not enabled for this model"),
    "presence_penalty": (-2.0, 2.0, "presence_penalty must be in the range [-2.0, 2.0)."),
    "frequency_penalty": (-2.0, 2.0, "frequency_penalty must be in the range [-2.0, 2.0)."),
}


def read(body: Any, path: Mapping[str, str], query: Mapping[str, str]) -> Request:
    """A body as a request, with the model and the method from the path.

    ``options`` of the request hold ``dialect`` (``gemini`` where a schema is given as ``parameters`` or
    ``responseSchema``, else ``gemini-json``), ``array`` (a stream without ``alt=sse``: one JSON array), ``thoughts``
    (the model's thoughts are shown) and ``enum`` (the answer is one of the schema's values as bare text). Raises
    ``Refusal``.
    """
    method = path.get("method", "generateContent")
    if method not in METHODS:
        raise Refusal(f"The method {method} is not found.", 404)
    model = path.get("model", "")
    reader = Reader()
    given = reader.request(body)
    config = given.get("generation_config") or {}
    _check_config(config)
    declared: list[dict[str, Any]] = given.get("tools") or []
    tools = tuple(
        _tool(declaration, f"tools[{index}].function_declarations[{at}]")
        for index, tool in enumerate(declared)
        for at, declaration in enumerate(tool.get("function_declarations") or [])
    )
    output = _output(config)
    if tools and output is not None and _BEFORE_GEMINI_3.match(model):
        raise Refusal("Function calling with a response mime type: 'application/json' is unsupported")
    others = any(set(tool) - {"function_declarations"} for tool in declared)
    choice, only, constrained = _choice(given, others or output is not None)
    stream = METHODS[method]
    return Request(
        model=model,
        messages=_messages(given, model),
        tools=tools,
        choice=choice,
        only=only,
        constrained=constrained,
        output=output,
        max_tokens=config.get("max_output_tokens"),
        stream=stream,
        seed=config.get("seed"),
        unknown_fields=tuple(reader.unknown),
        options={
            "dialect": "gemini" if _is_proto(declared, config) else "gemini-json",
            "array": stream and query.get("alt") != "sse",
            "thoughts": bool((config.get("thinking_config") or {}).get("include_thoughts")),
            "enum": config.get("response_mime_type") == "text/x.enum",
        },
    )


def _messages(given: dict[str, Any], model: str) -> tuple[Message, ...]:
    messages = read_contents(given.get("contents") or [], signed=bool(_GEMINI_3.match(model)))
    instruction = given.get("system_instruction")
    return messages if instruction is None else (Message("system", said(instruction)), *messages)


def _check_config(config: dict[str, Any]) -> None:
    for name, (least, most, problem) in _RANGES.items():
        value = config.get(name)
        if value is not None and not least <= value <= most:
            raise invalid_field(f"generation_config.{name}", problem)


def _is_proto(declared: list[dict[str, Any]], config: dict[str, Any]) -> bool:
    """Whether a schema is given in Google's own message rather than as JSON Schema."""
    declarations = [item for tool in declared for item in tool.get("function_declarations") or []]
    return "response_schema" in config or any("parameters" in item for item in declarations)


def _tool(declaration: dict[str, Any], place: str) -> OfferedTool:
    if "parameters" in declaration and "parameters_json_schema" in declaration:
        raise Refusal(
            f"* GenerateContentRequest.{place}: parameters and parameters_json_schema are mutually exclusive. "
            "Only one of them may be set.\n"
        )
    field = "parameters" if "parameters" in declaration else "parameters_json_schema"
    return OfferedTool(
        name=declaration.get("name") or "",
        description=declaration.get("description"),
        schema=declaration.get(field),
        place=place,
        schema_place=f"{place}.{field}",
    )


def _choice(given: dict[str, Any], mixed: bool) -> tuple[Choice, frozenset[str] | None, bool]:
    """The choice, the functions that it allows, and whether the decoder holds schemas.

    ``mixed`` says that functions stand beside other tools or a schema for the answer: then ``VALIDATED`` is the
    mode where none is given (https://ai.google.dev/gemini-api/docs/function-calling#function_calling_modes).
    """
    config = (given.get("tool_config") or {}).get("function_calling_config") or {}
    mode = config.get("mode") or "MODE_UNSPECIFIED"
    if mode == "MODE_UNSPECIFIED":
        mode = "VALIDATED" if mixed else "AUTO"
    allowed = config.get("allowed_function_names") or []
    if allowed and mode not in ("ANY", "VALIDATED"):
        place = "tool_config.function_calling_config.allowed_function_names"
        raise invalid_field(place, "should only be set when the mode is ANY or VALIDATED.")
    choice: Choice = "required" if mode == "ANY" else "none" if mode == "NONE" else "auto"
    return choice, frozenset(allowed) or None, mode in ("ANY", "VALIDATED")


def _output(config: dict[str, Any]) -> WantedOutput | None:
    mime_type = config.get("response_mime_type") or "text/plain"
    given = [name for name in ("response_schema", "response_json_schema") if name in config]
    if mime_type not in _MIME_TYPES:
        listed = ", ".join(f"`{name}`" for name in _MIME_TYPES)
        raise invalid_field("generation_config.response_mime_type", f"allowed mimetypes are {listed}.")
    if len(given) > 1:
        raise invalid_field("generation_config", "only one of response_schema and response_json_schema may be set.")
    if given and mime_type == "text/plain":
        problem = "a schema is only taken with the response_mime_type application/json or text/x.enum."
        raise invalid_field(f"generation_config.{given[0]}", problem)
    if mime_type == "text/plain":
        return None
    place = f"generation_config.{given[0] if given else 'response_mime_type'}"
    return WantedOutput("", config[given[0]] if given else None, place)
