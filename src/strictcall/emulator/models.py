"""Which models there are, as each API lists them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.routing import Route

DEFAULT: Final = ("strict-1",)
"""What is listed where any name is taken."""
_MADE: Final = "2026-01-01T00:00:00Z"
_MADE_SECONDS: Final = 1_767_225_600


def routes(names: Sequence[str]) -> list[Route]:
    """``GET`` on the paths under which models are listed."""
    listed = tuple(names) or DEFAULT

    async def by_v1(request: HttpRequest) -> JSONResponse:
        """OpenAI and Anthropic share the path; a header tells whose client asks."""
        return JSONResponse(_anthropic(listed) if "anthropic-version" in request.headers else _openai(listed))

    async def by_v1beta(request: HttpRequest) -> JSONResponse:
        del request
        return JSONResponse(_gemini(listed))

    return [Route("/v1/models", by_v1), Route("/v1beta/models", by_v1beta)]


def _openai(names: Sequence[str]) -> dict[str, Any]:
    """https://platform.openai.com/docs/api-reference/models/list"""
    data = [{"id": name, "object": "model", "created": _MADE_SECONDS, "owned_by": "strictcall"} for name in names]
    return {"object": "list", "data": data}


def _anthropic(names: Sequence[str]) -> dict[str, Any]:
    """https://docs.anthropic.com/en/api/models-list"""
    data = [{"type": "model", "id": name, "display_name": name, "created_at": _MADE} for name in names]
    return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def _gemini(names: Sequence[str]) -> dict[str, Any]:
    """https://ai.google.dev/api/models#method:-models.list"""
    methods = ["generateContent"]
    return {
        "models": [
            {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods} for name in names
        ]
    }
