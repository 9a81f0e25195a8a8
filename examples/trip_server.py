"""A small MCP server for planning trips, with arguments of the kinds that strict decoders cannot take as they are.

Run it over stdio with ``python examples/trip_server.py``. It keeps everything in memory and reaches no network.
"""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

server = MCPServer("trips", version="1.0.0", log_level="WARNING")

Place = dict[str, str | float]
PLACES: list[Place] = [
    {"name": "Alfama", "kind": "quarter", "price": 0, "lat": 38.71, "lon": -9.13},
    {"name": "Oceanarium", "kind": "museum", "price": 25, "lat": 38.76, "lon": -9.09},
    {"name": "Tile Museum", "kind": "museum", "price": 8, "lat": 38.72, "lon": -9.11},
    {"name": "Ribeira", "kind": "quarter", "price": 0, "lat": 41.14, "lon": -8.61},
    {"name": "Livraria Lello", "kind": "shop", "price": 8, "lat": 41.15, "lon": -8.61},
]


class Stop(BaseModel):
    """A city on the way."""

    city: str
    nights: int = Field(ge=1, le=30, description="How many nights to stay")
    hotel: str | None = Field(default=None, description="A hotel already booked")


class Traveller(BaseModel):
    """Who travels."""

    name: str = Field(min_length=1)
    diet: Literal["any", "vegetarian", "vegan"] = "any"


class Filter(BaseModel):
    """A condition on places: a comparison, or others combined."""

    field: Literal["kind", "price"] | None = None
    equals: str | float | None = None
    at_most: float | None = None
    all_of: list[Filter] | None = None
    any_of: list[Filter] | None = None

    def holds(self, place: Place) -> bool:
        """Whether a place meets the condition."""
        if self.all_of is not None and not all(part.holds(place) for part in self.all_of):
            return False
        if self.any_of is not None and not any(part.holds(place) for part in self.any_of):
            return False
        if self.field is None:
            return True
        value = place[self.field]
        if self.equals is not None and value != self.equals:
            return False
        return self.at_most is None or float(value) <= self.at_most


@server.tool()
def plan_trip(
    traveller: Traveller,
    stops: Annotated[list[Stop], Field(min_length=1, description="In the order of travel")],
    budget: Annotated[dict[str, float], Field(description="Euros for each kind of expense, such as food or trains")],
    pace: Annotated[Literal["slow", "steady", "fast"], Field(description="How full the days are")] = "steady",
    guide: Annotated[str | None, Field(description="A guide's name; null for no guide")] = "Inês",
) -> str:
    """Plan a trip through several cities."""
    nights = sum(stop.nights for stop in stops)
    route = " - ".join(stop.city for stop in stops)
    money = ", ".join(f"{kind} {euros:g} EUR" for kind, euros in sorted(budget.items())) or "no budget"
    company = f"with {guide}" if guide is not None else "without a guide"
    hotels = "".join(f"; booked: {stop.hotel}" for stop in stops if stop.hotel)
    return f"{traveller.name}: {route}, {nights} nights, {pace}, {company}, diet {traveller.diet}; {money}{hotels}"


@server.tool()
def search_places(
    where: Annotated[Filter, Field(description="What the places must be like")],
    near: Annotated[tuple[float, float] | None, Field(description="Latitude and longitude to sort by")] = None,
    limit: Annotated[int, Field(ge=1, le=10)] = 3,
) -> str:
    """Find places that meet a condition."""
    found = [place for place in PLACES if where.holds(place)]
    if near is not None:
        found.sort(key=lambda place: (float(place["lat"]) - near[0]) ** 2 + (float(place["lon"]) - near[1]) ** 2)
    return ", ".join(str(place["name"]) for place in found[:limit]) or "no place meets the condition"


@server.tool()
def rate_place(
    name: str,
    stars: Annotated[int, Field(ge=1, le=5)],
    comment: Annotated[str | None, Field(max_length=200)] = None,
    labels: Annotated[dict[str, str] | None, Field(description="Free labels, such as season: spring")] = None,
) -> str:
    """Rate a place that was visited."""
    if name not in {place["name"] for place in PLACES}:
        raise ToolError(f"There is no place called {name!r}.")
    said = f" - {comment}" if comment else ""
    tagged = "".join(f" [{key}: {value}]" for key, value in sorted((labels or {}).items()))
    return f"{name}: {'*' * stars}{said}{tagged}"


if __name__ == "__main__":
    server.run("stdio")
