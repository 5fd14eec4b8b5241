"""Compare frames as `pandas.testing.assert_frame_equal`, in a fraction of its time, and load those of books once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest

from billframes.book.frames import BookFrames


def assert_frame_equal(found: pd.DataFrame, expected: pd.DataFrame, **options: Any) -> None:
    """
    Compare each two columns as a whole, and leave those that are not equal to pandas, which shows the differences.

    pandas compares value by value, and decodes categorical columns for it, which takes most of its time for a firm's
    frames.
    """
    if list(found.columns) == list(expected.columns) and found.columns.is_unique:
        equal = [name for name in found.columns if _equal(found[name].array, expected[name].array)]
        found, expected = found.drop(columns=equal), expected.drop(columns=equal)
    pd.testing.assert_frame_equal(found, expected, **options)


def _equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other) or one.dtype != other.dtype or one.dtype == object:
        return False
    if isinstance(one, pd.Categorical):
        same_kind = one.ordered == other.ordered and one.categories.identical(other.categories)
        return bool(same_kind and np.array_equal(one.codes, other.codes))
    return bool(one.equals(other))


@contextmanager
def sharing_frames(client) -> Iterator[None]:
    """Let all books of a client share their frames: each loads all records, whatever its period.

    A test that watches the requests, by another `fetch`, gets its own loads.
    """
    kept, load = {}, BookFrames._load

    def once(book, name):
        if book._client is not client or "fetch" in vars(client._connection):
            return load(book, name)
        if name not in kept:
            kept[name] = load(book, name)
        return kept[name].copy(deep=False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BookFrames, "_load", once)
        yield
