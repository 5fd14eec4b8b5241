"""What is kept of frames: facts made once, which no write of a user changes, safe in threads and forked children."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import sys
import threading
import time
import warnings

import pandas as pd
import pytest

import billframes as bf
from billframes import analysis
from billframes.analysis.data.call import Reader
from billframes.analysis.data.data import Data
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.facts.work import work
from tests.benchmarks import _firm
from tests.frames import assert_frame_equal

CALLS = ("realization", "contribution", "wip", "aging")


@pytest.fixture(scope="module")
def frames(october_book):
    names = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users")
    return {name: getattr(october_book, name) for name in names}


@pytest.fixture
def book(client, october_book, frames):
    found = bf.book("2026-10", client=client)
    found._frames = {**frames}
    return found


def of_book(frames):
    data = Data.of_book()
    data.add(**frames)
    return data


def call(book, name):
    return getattr(book, name)(by="user")


def test_a_fact_is_made_once_for_a_book(book):
    call(book, "realization")
    facts = {key: id(rows) for key, (rows, _) in book._data._kept.facts.items()}
    for name in CALLS:
        call(book, name)
    assert facts.items() <= {key: id(rows) for key, (rows, _) in book._data._kept.facts.items()}.items()
    made = [build.__name__ for build, own, *_ in book._data._kept.facts if not own]
    assert made.count("work") == 1


@pytest.mark.slow
def test_all_facts_of_a_book_take_at_most_300_bytes_an_entry(book):
    for name in CALLS:
        for by in (None, "user", "client", "matter", "month"):
            getattr(book, name)(by=by)
    assert book._data.nbytes < 300 * len(book.time_entries)


def test_threads_that_ask_at_once_get_one_fact(frames):
    data, found, start = of_book(frames), [], threading.Barrier(8)

    def ask():
        start.wait()
        found.append(Reader(data).fact(work).to_native())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len({id(each) for each in found}) == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_book_works_in_a_forked_child_after_its_parent_used_it(book):
    expected = {name: call(book, name) for name in CALLS}
    # Another thread builds a fact while the process forks: the child must not wait for its lock.
    busy, done = threading.Event(), threading.Event()

    def hold():
        with book._data._kept.lock.own:
            busy.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    busy.wait()
    begun = time.monotonic()
    child = os.fork()
    if not child:
        try:
            for name in CALLS:
                pd.testing.assert_frame_equal(call(book, name), expected[name])
            book.wip(by="practice_area")
            os._exit(0)
        except BaseException:  # noqa: BLE001
            os._exit(1)
    try:
        status = (0, 0)
        while status[0] == 0 and time.monotonic() - begun < 60:
            status = os.waitpid(child, os.WNOHANG)
            time.sleep(0.01)
    finally:
        done.set()
        thread.join()
        if status[0] == 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert status == (child, 0)


def test_a_write_into_a_frame_of_a_book_changes_nothing(book):
    before = call(book, "realization")
    frame = book.time_entries
    frame["amount"] = 0.0
    frame.loc[:, "hours"] = 1.0
    assert_frame_equal(call(book, "realization"), before)
    assert book.time_entries["amount"].sum() > 0


def test_a_write_into_frames_that_were_passed_reaches_neither_columns_nor_facts(frames):
    own = {name: each.copy() for name, each in frames.items()}
    data = of_book(own)
    early = Reader(data).select("time_entries", ("hours",)).to_native()["hours"].to_pylist()
    own["time_entries"]["hours"] *= 2
    own["time_entries"].loc[:, "amount"] = 0.0
    late = Reader(data).select("time_entries", ("amount",)).to_native()["amount"].to_pylist()
    assert early == frames["time_entries"]["hours"].tolist()
    assert pd.Series(late).sum() == pytest.approx(frames["time_entries"]["amount"].sum())


def test_a_frame_assigned_to_a_book_replaces_what_was_made_of_the_old_one(book):
    whole = book.wip()["total"].iloc[0]
    book.time_entries = book.time_entries.iloc[:0]
    assert book.wip()["total"].iloc[0] < whole


def test_a_copied_book_has_its_own_data(book):
    call(book, "wip")
    other = copy.copy(book)
    assert other._data is not book._data
    other.expenses = other.expenses.iloc[:0]
    assert len(book.expenses) > 0
    assert_frame_equal(other.aging(by="client"), book.aging(by="client"))
    assert not call(other, "aging").equals(call(book, "aging"))


def test_pickled_data_have_the_frames_and_not_the_facts(frames):
    data = of_book(frames)
    Reader(data).fact(work)
    again = pickle.loads(pickle.dumps(data))
    assert not again._kept.facts
    assert list(again.natives) == list(data.natives)
    assert_frame_equal(again.natives["expenses"], frames["expenses"])


def test_settings_with_other_taxes_make_other_facts_of_the_same_frames(frames):
    data = of_book(frames)
    taxed = data.view(frames, bf.FirmSettings(taxes=[{"name": "VAT", "rate": 0.2, "on": ["time"]}]))
    assert Reader(data).fact(work) is not Reader(taxed).fact(work)
    other = data.view(frames, bf.FirmSettings(targets={"u1": {"hours": 1800, "period": "year"}}))
    assert Reader(data).fact(work).to_native() is Reader(other).fact(work).to_native()


@pytest.mark.parametrize("name", ["utilization", "realization", "wip", "aging", "write_downs"])
def test_no_record_is_looked_at_by_itself(name: str) -> None:
    few, many = (_python_calls(name, _firm.make(entries)[1]) for entries in (1_000, 20_000))
    assert many < few * 1.5


def _python_calls(name: str, firm: _firm.Firm) -> int:
    """Count the Python functions that an analysis of pandas frames calls; each value of an iterator is a call."""
    frames = {each: getattr(firm, each) for each in analyses()[name].takes if hasattr(firm, each)}
    days = {"as_of": _firm.AS_OF} if name in ("wip", "aging") else {"start": _firm.START, "end": _firm.END}
    counted = 0

    def count(_frame: object, event: str, _value: object) -> None:
        nonlocal counted
        counted += event == "call"

    with warnings.catch_warnings():
        # The random firm gives warnings, such as entries of internal matters on invoices.
        warnings.simplefilter("ignore")
        sys.setprofile(count)
        try:
            getattr(analysis, name)(**frames, **days)
        finally:
            sys.setprofile(None)
    return counted
