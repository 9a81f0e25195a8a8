"""What comes of a request, in lines for people: which link served, and why. No line holds a key, a header or a body."""

from __future__ import annotations

from strictcall.link.events import LinkEvent, LinkFailed, LinkRetry, LinkServed, LinkSkipped


def line_of(event: LinkEvent) -> str | None:
    """The line of an event; ``None`` for one that another tells of as well."""
    match event:
        case LinkServed(link, why, strict, attempts):
            tools = f"; strict: {', '.join(strict)}" if strict else ""
            again = f"; at the {attempts}. attempt" if attempts > 1 else ""
            return f"{link} serves: {why}{again}{tools}"
        case LinkRetry(link, kind, words, _, delay):
            return f"{link} is asked again in {delay:.1f} s: {kind}: {words}"
        case LinkFailed(link, kind, words, cooldown):
            rest = f"; it is left alone for {cooldown:.0f} s" if cooldown else ""
            return f"{link} failed: {kind}: {words}{rest}"
        case LinkSkipped(link, why):
            return f"{link} is not asked: {why}"
        case _:
            return None
