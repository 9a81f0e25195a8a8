"""Recorded answers with which the judge disagrees on purpose: what was recorded, what the judge says, and why."""

RAISED = "a ceiling or rule that is gone: "
LATER = "two answers to the same, and the later one counts: "
CONVERTER = "no provider's own words, and a build of the engine decides: "
REPORT = "a report without the provider's words: "

EXCEPTIONS = {
    "openai-rf-enum-520": (
        "rejected",
        "accepted",
        RAISED + "the ceiling of 500 enum values of 2024 was raised to 1,000, which the guide prints now",
    ),
    "openai-rf-anyof-same-first-key": (
        "rejected",
        "accepted",
        RAISED + "branches that share the first key were recorded as taken by 2026-08",
    ),
    "openai-rf-strict-default-ok": (
        "accepted",
        "rejected",
        "`default` was refused until 2024-11 and is taken since 2025-12: the dialect stays on the safe side",
    ),
    "openai-codex-root-oneof": (
        "accepted",
        "rejected",
        REPORT
        + "one endpoint's behaviour as its reader infers it; every quoted error refuses a root without type: object",
    ),
    "anthropic-root-oneof-claim": (
        "accepted",
        "rejected",
        REPORT + "a side remark that every quoted error of the API contradicts",
    ),
    "bedrock-name-hyphen-2025": (
        "rejected",
        "accepted",
        LATER + "a hyphen in a tool's name was refused in 2025-01 and is taken in 2026-05",
    ),
    "gemini-rs-title": (
        "rejected",
        "accepted",
        LATER + "`title` in a response schema was recorded as taken in 2025-12",
    ),
    "gemini-rs-null-type": (
        "rejected",
        "accepted",
        LATER + "a null branch was recorded as taken in 2026-08 and 2026-09",
    ),
    "gemini-empty-properties-2025": (
        "rejected",
        "accepted",
        LATER + "parameters without properties were recorded as taken by 2026-08",
    ),
    "gemini-empty-properties-2025b": (
        "rejected",
        "accepted",
        LATER + "parameters without properties were recorded as taken by 2026-08",
    ),
    "gemini-interactions-maxlength": (
        "rejected",
        "accepted",
        REPORT + "the Interactions API, an interface of its own that has no dialect",
    ),
    "gemini-interactions-minimum": (
        "rejected",
        "accepted",
        REPORT + "the Interactions API, an interface of its own that has no dialect",
    ),
    "gemini-interactions-maxitems-bad": (
        "rejected",
        "accepted",
        REPORT + "the same author saw the same schema taken on the same day",
    ),
    "deepseek-strict-nonbeta": (
        "accepted",
        "rejected",
        REPORT + "the address outside the beta, where the flag is not acted on",
    ),
    "vllm-required-2025": (
        "rejected",
        "accepted",
        RAISED + "a defect of one release, which refused a plain schema of two texts",
    ),
    "sglang-pattern-and-length": (
        "accepted",
        "rejected",
        "before 2026-09 the weaker of the two was dropped in silence; the dialect follows what is refused since",
    ),
    "llamacpp-anchored-S": (
        "accepted",
        "rejected",
        CONVERTER + "`\\S` is read by some releases and refused by later ones",
    ),
    "llamacpp-maxlength-2001": (
        "accepted",
        "rejected",
        CONVERTER + "lengths of 2,000 and more fail wherever they reach the grammar",
    ),
    "llamacpp-maxlength-65536": (
        "accepted",
        "rejected",
        CONVERTER + "lengths of 2,000 and more fail wherever they reach the grammar",
    ),
    "llamacpp-empty-properties": (
        "rejected",
        "accepted",
        CONVERTER + "an object without properties broke the grammar until 2026-09-02",
    ),
    "llamacpp-bad-regex-open": (
        "accepted",
        "rejected",
        "the grammar failed and the server answered without one, in structured output; for a tool it is an error",
    ),
    "lmstudio-unanchored-0418": (
        "accepted",
        "rejected",
        LATER + "a pattern without anchors was taken by 0.4.18 and is refused by 0.4.20",
    ),
}
