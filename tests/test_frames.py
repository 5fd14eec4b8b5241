"""Our comparison of frames finds the same differences as that of pandas."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.frames import assert_frame_equal

FRAME = pd.DataFrame(
    {
        "kind": pd.Categorical(["b", None, "a"], ["a", "b"]),
        "hours": [1.0, float("nan"), 3.0],
        "name": pd.array(["Ada", None, ""], dtype="str"),
        "date": pd.to_datetime(["2026-10-01", None, "2026-10-31"]).as_unit("us"),
        "mixed": pd.Series([1, "1", None], dtype="object"),
    }
)


def kind(*values, categories=("a", "b"), ordered=False):
    return FRAME.assign(kind=pd.Categorical(values, list(categories), ordered=ordered))


def test_a_copy_is_equal():
    assert_frame_equal(FRAME, FRAME.copy())
    assert_frame_equal(FRAME[["kind"]], FRAME[["kind"]].copy())


@pytest.mark.parametrize(
    "other",
    [
        kind("b", "a", "a"),
        kind("b", None, None),
        kind("b", None, "a", categories=("b", "a")),
        kind("b", None, "a", categories=("a", "b", "c")),
        kind("b", None, "a", ordered=True),
        FRAME.assign(kind=FRAME["kind"].astype("str")),
        FRAME.assign(hours=[1.0, float("nan"), 4.0]),
        FRAME.assign(hours=[1.0, 2.0, 3.0]),
        FRAME.assign(hours=FRAME["hours"].astype("float32")),
        FRAME.assign(name=pd.array(["Ada", None, "a"], dtype="str")),
        FRAME.assign(name=pd.array(["Ada", "", ""], dtype="str")),
        FRAME.assign(name=FRAME["name"].astype("object")),
        FRAME.assign(date=FRAME["date"].dt.as_unit("ns")),
        FRAME.assign(date=FRAME["date"].fillna(pd.Timestamp("2026-10-02"))),
        FRAME.assign(mixed=pd.Series([1, 1, None], dtype="object")),
        FRAME[["hours", "kind"]],
        FRAME.set_axis([2, 1, 0]),
        FRAME.head(2),
    ],
)
def test_differences_are_found(other):
    with pytest.raises(AssertionError, match="different"):
        assert_frame_equal(FRAME, other)
    for column in ("kind", "hours"):
        if not FRAME[[column]].equals(other[[column]]):
            with pytest.raises(AssertionError, match="different"):
                assert_frame_equal(FRAME[[column]], other[[column]])
