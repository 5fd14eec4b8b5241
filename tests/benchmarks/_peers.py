"""Other ways to the same frame, each written as one would who knows its tool and takes no care of completeness.

All of them give a pandas frame whose dates and times are such. dlt's resource is read straight into pandas, without the
database it would otherwise go through; Polars' frame is turned into pandas' at the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pandas as pd

__all__ = ["PEERS", "download", "pages_of"]

PATH = "/v2/time-entries"
SELECT = "client,matter,user,meta,fixedFee"
CONNECTIONS = 8
DATES = {"date": "datetime64[us]", "invoice.invoiceDate": "datetime64[us]"}
TIMES = ("meta.createdAt", "meta.modifiedAt")


def download(url: str, entries: int, connections: int = CONNECTIONS) -> int:
    """Download the bare pages and throw them away."""
    with httpx.Client(base_url=url) as http, ThreadPoolExecutor(connections) as threads:
        return sum(threads.map(lambda page: len(http.get(PATH, params=page).content), pages_of(entries)))


def pages_of(entries: int) -> list[dict[str, Any]]:
    return [_page(offset) for offset in range(0, entries, 1000)]


def page_by_page(url: str, entries: int) -> pd.DataFrame:
    """`httpx` and `pandas.json_normalize`, one page after the other."""
    with httpx.Client(base_url=url) as http:
        frames = [pd.json_normalize(http.get(PATH, params=page).json()["data"]) for page in pages_of(entries)]
    return _typed(pd.concat(frames, ignore_index=True))


def side_by_side(url: str, entries: int) -> pd.DataFrame:
    """The same with asyncio over 8 connections."""

    async def read() -> list[pd.DataFrame]:
        limits = httpx.Limits(max_connections=CONNECTIONS)
        async with httpx.AsyncClient(base_url=url, limits=limits, timeout=None) as http:

            async def one(page: dict[str, Any]) -> pd.DataFrame:
                return pd.json_normalize((await http.get(PATH, params=page)).json()["data"])

            return await asyncio.gather(*map(one, pages_of(entries)))

    return _typed(pd.concat(asyncio.run(read()), ignore_index=True))


def by_dlt(url: str, entries: int) -> pd.DataFrame:
    """dlt's REST source, read into pandas."""
    from dlt.sources.rest_api import rest_api_source

    paginator = {"type": "offset", "limit": 1000, "total_path": "pagination.total"}
    endpoint = {"path": PATH.lstrip("/"), "params": {"select": SELECT, "sort": "date"}, "data_selector": "data"}
    source = rest_api_source(
        {
            "client": {"base_url": url, "paginator": paginator},
            "resources": [{"name": "time_entries", "endpoint": endpoint}],
        }
    )
    return _typed(pd.json_normalize(list(source.resources["time_entries"])))


def by_polars(url: str, entries: int) -> pd.DataFrame:
    """`orjson` and Polars."""
    import orjson
    import polars as pl

    def pages() -> Iterator[pl.DataFrame]:
        with httpx.Client(base_url=url) as http:
            for page in pages_of(entries):
                yield pl.DataFrame(orjson.loads(http.get(PATH, params=page).content)["data"], infer_schema_length=None)

    frame = pl.concat(pages(), how="diagonal_relaxed")
    nested = [name for name, kind in frame.schema.items() if kind == pl.Struct]
    for name in nested:
        frame = frame.with_columns(pl.col(name).name.prefix_fields(f"{name}.")).unnest(name)
    days, times = (
        [pl.col(name).str.to_date() for name in DATES],
        [pl.col(name).str.to_datetime(time_zone="UTC") for name in TIMES],
    )
    return frame.with_columns(*days, *times).to_pandas()


PEERS = {
    "json_normalize, page by page": page_by_page,
    "json_normalize, asyncio over 8 connections": side_by_side,
    "dlt's REST source": by_dlt,
    "orjson and Polars": by_polars,
}


def _page(offset: int) -> dict[str, Any]:
    return {"select": SELECT, "sort": "date", "limit": 1000, "offset": offset}


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    times = {name: pd.to_datetime(frame[name], format="ISO8601") for name in TIMES}
    return frame.astype(DATES).assign(**times)
