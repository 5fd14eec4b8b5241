"""Analyses of Dask frames: lazy, on whichever worker is free, and done by pandas.

A Dask frame's partitions are cut to the columns and days that an analysis asks for, each where it is. What is left
comes together in one task, which is the same analysis of pandas frames: so the figures are the same, and what is left
must fit in one process. Planned as Dask's own joins and groupings, an analysis takes longer to plan than to compute.

Columns are known before any row is: the analysis is asked of empty frames, and its door notes what is taken.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar, cast

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from billframes._warn import kept_warnings, warn
from billframes.analysis._checks import within
from billframes.analysis._frames import Frame, is_dask, noted_columns, open_frames
from billframes.analysis._people import settle
from billframes.errors import BillframesError, BillframesWarning
from billframes.periods import Period, resolve

__all__ = ["on_dask"]

Analysis = TypeVar("Analysis", bound=Callable[..., Any])
Message = tuple[str, type[BillframesWarning]]
Answer = tuple[pd.DataFrame | BillframesError, list[Message]]


def on_dask(*dated: str) -> Callable[[Analysis], Analysis]:
    """
    Let an analysis take Dask frames.

    The call runs one query, in which the workers do the analysis and send its warnings and its columns' types, no rows.
    The result is a Dask frame of one partition; computing it does the analysis again.

    Parameters
    ----------
    *dated : str
        The frames of which the analysis sees no row whose `date` is outside `start` and `end`.
    """

    def decorated(analysis: Analysis) -> Analysis:
        signature = inspect.signature(analysis)
        frames = [name for name, each in signature.parameters.items() if "IntoFrame" in str(each.annotation)]

        @functools.wraps(analysis)
        def asked(*args: Any, **options: Any) -> Any:
            if any(map(is_dask, (*args, *options.values()))):
                given = signature.bind(*args, **options).arguments
                if all(is_dask(given[name]) for name in frames if given.get(name) is not None):
                    return _later(asked, given, dated)
            # Frames of two engines are refused there, as everywhere.
            return analysis(*args, **options)

        return cast("Analysis", asked)

    return decorated


def _later(analysis: Callable[..., Any], given: dict[str, Any], dated: Sequence[str]) -> Any:
    import dask.dataframe as dd
    from dask.delayed import delayed

    frames = {name: each for name, each in given.items() if is_dask(each)}
    options = _settled({name: each for name, each in given.items() if name not in frames}, frames.get("users"))
    columns = _columns(analysis, frames, options)
    period = resolve(options.get("start"), options.get("end")) if dated else Period(None, None)
    together = {
        name: _together(frame, columns[name], period if name in dated else None) for name, frame in frames.items()
    }
    answer = delayed(functools.partial(_answer, analysis, options, columns))(together)
    nothing, messages = delayed(_said)(answer).compute()
    for message, category in messages:
        warn(message, category)
    if isinstance(nothing, BillframesError):
        raise nothing
    return dd.from_delayed([delayed(_rows)(answer)], meta=nothing)


def _settled(options: dict[str, Any], users: Any) -> dict[str, Any]:
    """Name the settings' users by id before anything is asked: of no users, nobody has an address."""
    settings = options.get("settings")
    if settings is None or users is None or not settings.emails:
        return options
    named = users[[name for name in ("user_id", "email") if name in users.columns]].compute()
    return options | {"settings": settle(settings, open_frames(users=named)["users"])}


def _columns(
    analysis: Callable[..., Any], frames: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Ask an analysis of empty frames, and list the columns it takes of each; what is wrong in the call is said now."""
    with kept_warnings(), noted_columns() as noted:
        analysis(**{name: frame._meta for name, frame in frames.items()}, **options)
    return {name: _of(frame, noted.get(name, set())) for name, frame in frames.items()}


def _of(frame: Any, noted: Collection[str]) -> list[str]:
    return [name for name in frame.columns if name in noted]


def _together(frame: Any, columns: list[str], period: Period | None) -> Any:
    from dask.delayed import delayed

    # Rows can't be counted where there are no columns at all.
    parts = frame[columns or list(frame.columns[:1])].to_delayed()
    if period is not None:
        parts = [delayed(functools.partial(_dated, period=period))(part) for part in parts]
    return delayed(functools.partial(_whole, names=list(frame.columns)))(parts)


def _dated(rows: pd.DataFrame, period: Period) -> pd.DataFrame:
    frame: Frame = nw.from_native(rows)
    dated = frame.with_columns(_day=nw.col("date").cast(nw.Datetime("us")))
    return cast("pd.DataFrame", within(dated, "_day", period).drop("_day").to_native())


def _whole(parts: Sequence[pd.DataFrame], names: list[str]) -> pd.DataFrame:
    """Put partitions together, with pandas' own text, and fill columns nobody asks for: what is there is told alike."""
    import dask.dataframe.dispatch

    together: Any = dask.dataframe.dispatch.concat
    rows: pd.DataFrame = together(parts).reset_index(drop=True)
    texts = [name for name in rows if isinstance(rows[name].dtype, pd.StringDtype)]
    unasked = {name: np.int8(0) for name in names if name not in rows}
    return rows.astype(dict.fromkeys(texts, "str")).assign(**unasked)[names]


def _answer(
    analysis: Callable[..., Any],
    options: Mapping[str, Any],
    columns: Mapping[str, list[str]],
    frames: Mapping[str, pd.DataFrame],
) -> Answer:
    """Ask the analysis. What it refuses comes back: a worker would log the error with the settings beside it."""
    with kept_warnings() as messages, noted_columns() as noted:
        try:
            rows: pd.DataFrame = analysis(**frames, **options)
        except BillframesError as error:
            return error, messages
    more = [name for name, frame in frames.items() if set(_of(frame, noted.get(name, set()))) - set(columns[name])]
    if more:
        raise RuntimeError(f"{analysis.__name__} took columns of {', '.join(more)} that it takes of no empty frame.")
    return rows, messages


def _said(answer: Answer) -> Answer:
    rows, messages = answer
    return rows if isinstance(rows, BillframesError) else rows.iloc[:0], messages


def _rows(answer: Answer) -> pd.DataFrame:
    rows, _ = answer
    if isinstance(rows, BillframesError):
        raise rows
    return rows
