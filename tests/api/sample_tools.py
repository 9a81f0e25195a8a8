"""Tools of every kind that a stream treats differently."""

from strictcall import Tool, Toolset


def closed(properties, required=()):
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


TEXT = {"type": "string"}
ECHO = Tool("echo", "Say it again", closed({"text": TEXT}, ["text"]))
"""Its wire form is its contract: what comes is handed on."""
SEARCH = Tool(
    "search",
    "Find things",
    closed({"query": TEXT, "limit": {"type": "integer"}, "where": closed({"tag": TEXT, "deep": TEXT})}, ["query"]),
)
"""Where all must be required, nulls are left out while they arrive."""
SET_ENV = Tool(
    "set env",
    "Set variables",
    closed({"env": {"type": "object", "additionalProperties": TEXT}}, ["env"]),
)
"""Its name is no provider's; where maps are not taken, its arguments are held until they are complete."""
OUTSIDE = Tool("outside", "Loose", {"type": "object", "properties": {"x": {"$ref": "https://example.com/x"}}})
"""Loose everywhere: it refers to what is not there."""
TOOLS = (ECHO, SEARCH, SET_ENV)


def toolset(dialect, *more):
    return Toolset([*TOOLS, *more], dialect)
