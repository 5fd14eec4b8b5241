"""On Dask every analysis is pandas' own, however the rows are parted, and no row comes back before it is asked for."""

from __future__ import annotations

import warnings

import pandas as pd
import pytest

import billframes as bf
from billframes.analysis import utilization
from billframes.errors import MissingColumnError, ParameterError
from tests.analysis.calls import CALLS, ON_CLUSTERS, rich
from tests.analysis.conftest import Firm, parted

pytestmark = [
    pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning"),
    pytest.mark.filterwarnings("ignore::billframes.errors.RatesHiddenWarning"),
]


@pytest.fixture
def computed(monkeypatch):
    """Everything Dask computes, in order."""
    from dask.base import DaskMethodsMixin

    answers = []
    compute = DaskMethodsMixin.compute

    def spy(task, **options):
        answers.append(compute(task, **options))
        return answers[-1]

    monkeypatch.setattr(DaskMethodsMixin, "compute", spy)
    return answers


def in_thread():
    """Keep small tests off whatever cluster other tests have started."""
    import dask

    return dask.config.set(scheduler="synchronous")


def heard(ask):
    """An answer and the warnings with it: their words, and the file they point at."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = ask()
    return answer, [(each.category, str(each.message), each.filename) for each in caught]


@pytest.mark.cluster
@pytest.mark.slow
def test_two_processes_answer_as_pandas_does_and_send_no_row_unasked(dask, pandas_firm, computed):
    import dask.dataframe as dd

    frames, whole = rich(Firm(dask)), rich(pandas_firm)
    for name in ON_CLUSTERS:
        computed.clear()
        result, said = heard(lambda name=name: CALLS[name](frames))
        wanted, due = heard(lambda name=name: CALLS[name](whole))
        assert isinstance(result, dd.DataFrame)
        assert said == due
        ((rows, _),) = computed
        assert rows.empty
        answer = result.compute()
        pd.testing.assert_frame_equal(answer, wanted, check_dtype=False, rtol=1e-9, atol=1e-9, obj=name)
        assert list(result.dtypes) == list(answer.dtypes)


@pytest.mark.parametrize("stops", [(9, 9), (0, 2), (1, 2, 3, 4)])
@pytest.mark.parametrize("name", ["contribution by client", "missing time", "duplicates"])
def test_figures_do_not_depend_on_where_rows_are_parted(name, stops, pandas_firm):
    frames = rich(Firm(lambda table: parted(table, *stops)))
    with in_thread():
        result = CALLS[name](frames).compute()
    pd.testing.assert_frame_equal(result, CALLS[name](rich(pandas_firm)), check_dtype=False)


def test_only_the_columns_and_days_asked_for_leave_their_partitions(pandas_firm, monkeypatch):
    from billframes.analysis import _dask

    seen = []
    whole = _dask._whole

    def spy(parts, names):
        seen.append(pd.concat(parts))
        return whole(parts, names)

    monkeypatch.setattr(_dask, "_whole", spy)
    frames = rich(pandas_firm)
    with in_thread():
        utilization(parted_of(frames["time_entries"]), matters=parted_of(frames["matters"]), start="2026-10")
    entries = next(each for each in seen if "hours" in each)
    assert sorted(entries) == ["billing_type", "date", "hours", "matter_id", "user_id", "user_name"]
    assert entries["date"].between("2026-10-01", "2026-10-31").all()


def parted_of(frame):
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=3)


def test_of_users_named_by_address_only_ids_and_addresses_are_read_at_once(pandas_firm, computed):
    frames = {name: parted_of(frame) for name, frame in rich(pandas_firm).items()}
    settings = bf.FirmSettings(user_hours={"ada@firm.example": 4.0})
    people = {name: frames[name] for name in ("matters", "users")}
    with in_thread():
        result = utilization(frames["time_entries"], **people, start="2026-10", settings=settings)
        addresses, (rows, _) = computed
        hours = result.compute().set_index("user_id")["capacity_hours"]
    assert list(addresses) == ["user_id", "email"]
    assert rows.empty
    assert hours["u1"] == hours["u2"] / 2


def test_what_is_wrong_with_a_call_is_said_before_anything_is_read(pandas_firm, computed):
    entries, matters = (rich(pandas_firm)[name] for name in ("time_entries", "matters"))
    with pytest.raises(MissingColumnError, match="time_entries has no column 'hours'"):
        utilization(parted_of(entries.drop(columns="hours")), matters=parted_of(matters), start="2026-10")
    with pytest.raises(ParameterError, match=r"by='offce' is neither"):
        utilization(parted_of(entries), matters=parted_of(matters), start="2026-10", by="offce")
    with pytest.raises(ParameterError, match=r"time_entries is dask \(lazy\), matters is pandas"):
        utilization(parted_of(entries), matters=matters, start="2026-10")
    assert not computed


def test_what_is_wrong_with_rows_is_said_by_the_call(pandas_firm):
    balances = rich(pandas_firm)["client_balances"].assign(balance=None)
    with in_thread(), pytest.raises(ParameterError, match="neither set of figures complete for 3 clients"):
        bf.normalize_balances(parted_of(balances))


def test_originators_that_dask_made_text_of_are_refused(pandas_firm, computed):
    frames = rich(pandas_firm)
    lists = frames["matters"]["originator_ids"].astype(object)
    frames["matters"] = frames["matters"].assign(
        originator_ids=[list(each) if isinstance(each, list) else None for each in lists]
    )
    with pytest.raises(ParameterError, match=r"matters has originator_ids as text, .*dataframe\.convert-string"):
        CALLS["origination"]({name: parted_of(frame) for name, frame in frames.items()})
    assert not computed


def test_an_analysis_that_takes_more_of_rows_than_of_none_is_refused(pandas_firm):
    from billframes.analysis import _dask, _frames

    @_dask.on_dask()
    def hours_of(time_entries: IntoFrameT) -> IntoFrameT:  # noqa: F821
        frame = _frames.take(_frames.open_frames(time_entries=time_entries)["time_entries"], "time_entries", ("date",))
        if len(frame):
            _frames.take(_frames.open_frames(time_entries=time_entries)["time_entries"], "time_entries", ("hours",))
        return frame.to_native()

    with in_thread(), pytest.raises(RuntimeError, match="hours_of took columns of time_entries"):
        hours_of(parted_of(rich(pandas_firm)["time_entries"]))


def test_results_are_drawn_like_those_of_any_engine(pandas_firm):
    invoices = rich(pandas_firm)["invoices"]
    with in_thread():
        ax = bf.plots.aging(bf.aging(parted_of(invoices), as_of="2026-11-15"))
    drawn = [each.get_text() for each in ax.texts]
    assert drawn == [each.get_text() for each in bf.plots.aging(bf.aging(invoices, as_of="2026-11-15")).texts]
