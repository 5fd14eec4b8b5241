"""Load the same frame with other tools, each used as by an experienced user who does not check completeness.

None of them proves a load: rows that move between pages are lost or doubled without an error. All return a pandas frame
with typed dates and times. dlt's resource is read directly into pandas, without a database. Polars' frame is converted
to pandas at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import pandas as pd

__all__ = ["ENTRIES", "MATTERS", "PEERS", "Listing", "download"]

CONNECTIONS = 8


@dataclass(frozen=True, slots=True)
class Listing:
    """A list to load: its path, its parameters, its days and its instants."""

    path: str
    parameters: dict[str, str]
    days: tuple[str, ...]
    instants: tuple[str, ...] = ("meta.createdAt", "meta.modifiedAt")

    def pages(self, records: int) -> list[dict[str, Any]]:
        """Return the parameters of each page."""
        return [{**self.parameters, "limit": 1000, "offset": offset} for offset in range(0, records, 1000)]


ENTRIES = Listing(
    "/v2/time-entries", {"select": "client,matter,user,meta,fixedFee", "sort": "date"}, ("date", "invoice.invoiceDate")
)
MATTERS = Listing("/v2/matters", {"select": "responsible,meta,customFields", "sort": "name"}, ("opened",))


def download(url: str, listing: Listing, records: int, connections: int = CONNECTIONS) -> int:
    """Download the pages, and discard them."""
    with httpx.Client(base_url=url) as http, ThreadPoolExecutor(connections) as threads:
        sizes = threads.map(lambda page: len(http.get(listing.path, params=page).content), listing.pages(records))
        return sum(sizes)


def page_by_page(url: str, listing: Listing, records: int) -> pd.DataFrame:
    """`httpx` and `pandas.json_normalize`, one page after the other."""
    with httpx.Client(base_url=url) as http:
        answers = (http.get(listing.path, params=page).json()["data"] for page in listing.pages(records))
        frames = [pd.json_normalize(_with_fields(rows)) for rows in answers]
    return _typed(pd.concat(frames, ignore_index=True), listing)


def side_by_side(url: str, listing: Listing, records: int) -> pd.DataFrame:
    """The same with asyncio over 8 connections."""

    async def read() -> list[pd.DataFrame]:
        limits = httpx.Limits(max_connections=CONNECTIONS)
        async with httpx.AsyncClient(base_url=url, limits=limits, timeout=None) as http:

            async def one(page: dict[str, Any]) -> pd.DataFrame:
                return pd.json_normalize(_with_fields((await http.get(listing.path, params=page)).json()["data"]))

            return await asyncio.gather(*map(one, listing.pages(records)))

    return _typed(pd.concat(asyncio.run(read()), ignore_index=True), listing)


def by_dlt(url: str, listing: Listing, records: int) -> pd.DataFrame:
    """dlt's REST source, read into pandas."""
    from dlt.sources.rest_api import rest_api_source

    paginator = {"type": "offset", "limit": 1000, "total_path": "pagination.total"}
    endpoint = {"path": listing.path.lstrip("/"), "params": listing.parameters, "data_selector": "data"}
    source = rest_api_source(
        {
            "client": {"base_url": url, "paginator": paginator},
            "resources": [{"name": "records", "endpoint": endpoint}],
        }
    )
    return _typed(pd.json_normalize(_with_fields(list(source.resources["records"]))), listing)


def by_polars(url: str, listing: Listing, records: int) -> pd.DataFrame:
    """`orjson` and Polars."""
    import orjson
    import polars as pl

    def pages() -> Iterator[pl.DataFrame]:
        with httpx.Client(base_url=url) as http:
            for page in listing.pages(records):
                rows = _with_fields(orjson.loads(http.get(listing.path, params=page).content)["data"])
                yield pl.DataFrame(rows, infer_schema_length=None)

    frame = pl.concat(pages(), how="diagonal_relaxed")
    for name in [name for name, kind in frame.schema.items() if kind == pl.Struct]:
        frame = frame.with_columns(pl.col(name).name.prefix_fields(f"{name}.")).unnest(name)
    zoned = frame.select(pl.col(listing.instants[0]).str.contains("(Z|[+-][0-9]{2}:[0-9]{2})$").all()).item()
    instants = [pl.col(name) if zoned else pl.col(name) + "Z" for name in listing.instants]
    read = [each.str.to_datetime("%+", time_unit="us", time_zone="UTC") for each in instants]
    return frame.with_columns(*(pl.col(name).str.to_date() for name in listing.days), *read).to_pandas()


PEERS = {
    "json_normalize, page by page": page_by_page,
    "json_normalize, asyncio over 8 connections": side_by_side,
    "dlt's REST source": by_dlt,
    "orjson and Polars": by_polars,
}


def _with_fields(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add a value for each of its custom fields to each record."""
    for row in rows:
        for field in row.pop("customFields", None) or ():
            row[field["name"]] = field["value"]
    return rows


def _typed(frame: pd.DataFrame, listing: Listing) -> pd.DataFrame:
    instants = {name: pd.to_datetime(frame[name], format="ISO8601", utc=True) for name in listing.instants}
    return frame.astype(dict.fromkeys(listing.days, "datetime64[us]")).assign(**instants)
