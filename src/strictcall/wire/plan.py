"""A plan: which parts of a tool are written more cheaply than usual, so that it fits a provider's limits."""

from __future__ import annotations

from strictcall.value import value


@value
class Plan:
    """Rewrites by the JSON Pointers of the schemas that they are for; ``fit`` makes plans, the lowering keeps them.

    - ``shared``: equal parts of the wire schema are written once, as definitions.
    - ``folded``: optional properties whose default is null lose their null: absent says the same.
    - ``nullable``: optional properties that are required, and null where they are absent.
    - ``gathered``: optional properties that are written as entries of one further field.
    - ``unlisted``: enums that are written as plain text and only checked.
    - ``unbounded``: arrays whose greatest length is only checked.
    - ``texts``: parts of the arguments that are written as text that holds JSON.
    """

    shared: bool = False
    folded: frozenset[str] = frozenset()
    nullable: frozenset[str] = frozenset()
    gathered: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    unbounded: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()


AS_USUAL = Plan()
"""The plan of nearly every tool."""
