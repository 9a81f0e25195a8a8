"""What a configuration file may say, as frozen models: ``strictcall.toml``, or the same in JSON or YAML.

Every setting that may stand at several levels is optional at each: the nearest of tool, model, provider and top level
that says it wins (``strictcall.link.resolve``). ``null`` says nothing, as a key that is left out.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from strictcall.link.resolved import Api, Support

Text = Annotated[str, Field(min_length=1)]
Id = Annotated[str, Field(pattern=r"^\S(.*\S)?$")]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]


class Part(BaseModel):
    """A table of a configuration: no key that is not known, nothing read as what it is not, never changed."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True, hide_input_in_errors=True
    )


class PolicySettings(Part):
    """How tools are compiled; what is left out is decided one level further up."""

    fidelity: Literal["checked", "exact"] | None = None
    """With ``exact``, a tool that needs the local check for more than the encoding itself is loose."""
    open_objects: Literal["close", "carry", "refuse"] | None = None
    """Objects that are open by omission: closed, kept open, or a reason to be loose."""
    free_form: Literal["tree", "json_text", "refuse"] | None = None
    """Values of any kind: a tree of JSON where the dialect recurses, JSON text, or a reason to be loose."""
    nulls: Literal["auto", "fold", "distinguish"] | None = None
    """Optionals that also admit null: folded where their default is null, always folded, or kept apart."""
    implied_types: bool | None = None
    """Read a schema with ``properties`` and no ``type`` as an object, and so on."""
    formats: Literal["annotate", "assert"] | None = None
    """Whether the local check asserts ``format``."""
    hints: bool | None = None
    """Say in the description what the wire schema does not hold."""


class TimeoutSettings(Part):
    """Seconds; 0 sets no limit."""

    connect: Seconds | None = None
    """Until there is a connection."""
    read: Seconds | None = None
    """The longest silence of an answer that is awaited or under way."""
    total: Seconds | None = None
    """For one attempt as a whole, streams included."""


class Level(Part):
    """What may be said at the top level, of a provider, and of a model."""

    strict_tools: bool | None = None
    """Whether strict tools are wanted. Without a word: where the model's ``supports_tools`` is ``strict``."""
    policy: PolicySettings | None = None
    """How tools are compiled."""
    tagged: Text | None = None
    """The format in which the model writes calls as text; ``auto`` any, ``none`` none. Unsaid it is the dialect's."""
    headers: dict[str, str] | None = Field(default=None, repr=False)
    """Sent with each request. ``${NAME}`` in a value is that environment variable."""
    extra_body: dict[str, JsonValue] | None = Field(default=None, repr=False)
    """Fields laid over the body of each request."""
    timeouts: TimeoutSettings | None = None
    """How long a request may take."""
    max_output_tokens: Count | None = None
    """The most tokens of one answer."""
    max_tool_output: Annotated[int, Field(ge=200)] | None = None
    """The most characters of a tool's output that the model is given."""
    max_parallel_tool_calls: Count | None = None
    """How many calls of one answer may run at once."""


class ModelEntry(Level):
    """A model of a provider."""

    id: Id
    """The model's name, as the provider knows it."""
    supports_tools: Support | None = None
    """What the model can do with tools: nothing, one call after another, several at once, or calls whose arguments are
    held to their schema.
    """
    api: Api | None = None
    """How the model is spoken to, where that is not as its provider's others."""
    dialect: Text | None = None
    """What the model's decoder accepts, where that is not what its provider's others do."""
    dialect_overrides: dict[str, JsonValue] | None = None
    """What differs from the dialect, in the format of a dialect's file."""


class ProviderEntry(Level):
    """A provider: an endpoint with its models. What is left out comes from the catalog, for an ``id`` that is in it."""

    id: Annotated[str, Field(pattern=r"^[^\s/]+$")]
    """The provider's name in links: ``id/model``."""
    api: Api | None = None
    """How the provider is spoken to."""
    dialect: Text | None = None
    """What its decoder accepts; ``strictcall dialects`` lists the names."""
    dialect_overrides: dict[str, JsonValue] | None = None
    """What differs from the dialect, in the format of a dialect's file."""
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+(/[^\s?#]*)?$")] | None = None
    """The address that a client is given: ``https://…/v1``."""
    api_key_env: Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")] | None = None
    """The environment variable that has the key; empty where none is asked for."""
    models: tuple[ModelEntry, ...] = ()
    """What is to be said of single models. A model that is not listed can be used too."""


class ToolEntry(Part):
    """What holds for one tool, on every link."""

    strict: bool | None = None
    """Whether the tool is wanted strict."""
    policy: PolicySettings | None = None
    """How the tool is compiled."""


class FallbackSettings(Part):
    """Which links serve."""

    chain: tuple[str, ...] = ()
    """Links, ``provider/model``, the most wanted first. The next serves where one cannot."""


class RetrySettings(Part):
    """How often a link is asked again that gave no answer; seconds for times."""

    attempts: Count | None = None
    """How often at most, the first time included."""
    first_wait: Seconds | None = None
    """Before the second attempt; twice as long before each further one."""
    longest_wait: Seconds | None = None
    """The longest wait, also where the provider asks for one."""
    within: Seconds | None = None
    """No attempt begins later than so long after the first."""


class Config(Level):
    """The configuration of strictcall's links to models."""

    providers: tuple[ProviderEntry, ...] = ()
    """The providers, each with its models."""
    tools: dict[str, ToolEntry] = Field(default_factory=dict)
    """What holds for single tools, by name."""
    fallback: FallbackSettings = FallbackSettings()
    """Which links serve."""
    retries: RetrySettings = RetrySettings()
    """How often a link is asked again."""
