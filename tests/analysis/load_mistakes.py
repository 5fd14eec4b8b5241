"""Mistakes in the answers of a server and in reports of the books, and the sentences by which they are told.

They are cases of `test_rules`: each has a call that gives the note, a part of its sentence, and a call that does not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import httpx
import pandas as pd

import billframes as bf
from billframes import FirmSettings
from billframes.analysis import fees_collected, tie_out
from billframes.ledger.payments import payments
from tests.analysis.calls import Frames
from tests.conftest import FakeServer, entry, paged
from tests.guidelines import sample
from tests.ledger.made_up import AGING
from tests.ledger.test_payments import ENTRIES, GIVEN, paid, sold
from tests.ledger.test_reading import SAMPLES
from tests.ledger.test_tie_out import DAY, LEDGER, OURS, report

__all__ = ["LOAD_MISTAKES"]

Call = Callable[[Any], Any]

_NOTHING = paged([])
_LISTS = ("time-entries", "expenses", "fixed-fees", "invoices", "matters", "users", "clients")
_MATTER = {"matterId": "m1", "name": "Sale", "archived": False, "clientId": "c1", "client": {"name": "Acme"}}
_MATTER |= {"responsibleId": "u1", "originatorIds": [], "matterType": "hourly"}
_FALLING = {"balance": 100, "overdue": 60, "overdue30": 30, "overdue60": 20, "overdue90": 10}


def served(load: Callable[[bf.Client], Any], **answers: Any) -> Call:
    """Return a load from a server with these answers; it has no records in its other lists."""

    def loading(_firm: Any) -> Any:
        server = FakeServer()
        server.answers |= {f"/v2/{name}": _NOTHING for name in _LISTS}
        server.answers |= {f"/v2/{name.replace('_', '-')}": answer for name, answer in answers.items()}
        transport = httpx.MockTransport(lambda request: _dated(server(request)))
        with bf.Client("https://billing.test", "t0ken", transport=transport, retries=0) as client:
            return load(client)

    return loading


def _dated(response: httpx.Response) -> httpx.Response:
    response.headers["date"] = "Sat, 31 Oct 2026 20:00:30 GMT"
    return response


def entries(**changes: Any) -> Call:
    """Return a load of a time entry with other values."""
    return served(lambda client: client.time_entries(select=""), time_entries=paged([entry(**changes)]))


def clients(*names: str, **values: str) -> Call:
    """Return a load of a client with custom fields, of which `names` are defined."""
    fields = [{"id": id_, "name": id_, "valueType": "text", "value": value} for id_, value in values.items()]
    defined = [
        {"id": f"f{nth}", "entity": "client", "name": name, "valueType": "text"} for nth, name in enumerate(names)
    ]
    return served(
        lambda client: client.clients(select="customFields"),
        custom_fields={"data": defined},
        clients=paged([{"clientId": "c1", "name": "Acme", "customFields": fields}]),
    )


def balances(**changes: Any) -> Call:
    """Return the balances of a client by days overdue, with other figures."""
    answers = {"clients/c1/balances": {"data": _FALLING | changes}}
    return served(lambda client: client.client_balances(["c1"], normalize=True), **answers)


def book(analyse: Callable[[Any], Any], **answers: Any) -> Call:
    """Return a call of a book of October of a firm with one time entry."""
    given = {"time_entries": paged([entry(rate=300)]), "matters": paged([_MATTER]), **answers}
    return served(lambda client: analyse(bf.book("2026-10", client=client)), **given)


def ahead(day: str) -> Call:
    """Return the fees of a book of November, loaded on 31 October, with an entry of this day."""
    rows = paged([entry(), entry(2, date=day)])
    return served(
        lambda client: bf.book("2026-10-01", "2026-11-30", client=client).utilization(None),
        time_entries=rows,
        matters=paged([_MATTER]),
    )


def tied(ledger: Any = LEDGER, ours: pd.DataFrame = OURS, **options: Any) -> Call:
    return lambda _firm: tie_out(ours, ledger=ledger, as_of=DAY, **options)


def paying(ledger: Any = "qbo_sales_by_customer_detail_cash.csv", **changes: Any) -> Call:
    return lambda _firm: paid(ledger, **changes)


def _collected(start: str) -> Call:
    return lambda _firm: fees_collected(paid(_SOLD), **{**GIVEN, "settings": None}, by=None, start=start)


def _put_together(reports: int, firm: str = "") -> Call:
    """Return the cash of several reports with the same payment of the whole of an invoice, of this firm or another."""
    options = {**GIVEN, "settings": None, "by": None, "start": "2026-10"}

    def call(_firm: Frames) -> Any:
        found = pd.concat([paid(_WHOLE)] * reports)
        return fees_collected(found.assign(invoice_id=firm + found["invoice_id"]), **options)

    return call


def _of_strangers() -> pd.DataFrame:
    renamed = LEDGER.replace({"customer": {"Marlow & Finch": "M&F (2019) LLP"}})
    renamed.attrs = LEDGER.attrs
    return renamed


def _row(number: str, customer: str, *more: Any, **options: Any) -> pd.DataFrame:
    day = pd.Timestamp("2026-10-05").date()
    return report([day, "Invoice", number, customer, day, 160_000, 160_000, *more], **options)


def _above(rate: float) -> Call:
    """Return payments of invoices that are above their time by a rate."""
    ours = OURS.iloc[:6].assign(invoice_state="final")
    time = pd.DataFrame({"billing_type": "billable", "hours": 1.0, "amount": ours["amount"] / (1 + rate)})
    frames: Frames = {"time_entries": time.assign(invoice_id=ours["invoice_id"]), "expenses": ENTRIES.head(0)}
    ledger = bf.read_ledger(SAMPLES / "qbo_transaction_list_by_date_payments.csv")
    return lambda _firm: payments(ledger, **{**GIVEN, **frames, "invoices": ours, "settings": None})


def _sold_in(currency: str) -> pd.DataFrame:
    headings = ("Transaction date", "Transaction type", "Num", "Amount", "Currency")
    return sold(("Invoice", "1002", 12_000, currency), headings=headings)


def judged(**narratives: str) -> Call:
    """Return a check of the sample's work by the client's guidelines."""
    rows = sample.ENTRIES.assign(**narratives)
    check = functools.partial(bf.Guidelines.read(sample.TERN).check, as_of=sample.AS_OF)
    return lambda _firm: check(sample.frames(rows))


def checked(invoice: str) -> Call:
    """Return a check of one of two invoices by the client's guidelines: no entry of "2" is on the client's matters."""
    given = sample.frames(sample.ENTRIES.head(1))
    columns = {"invoice_state": "draft", "invoice_date": pd.Timestamp("2026-03-20"), "matter_id": None, "amount": 1.0}
    rows = pd.DataFrame({"invoice_id": ["i1", "i2"], "invoice_number": ["1", "2"], "client_id": ["c1", "c2"]})
    given |= {"invoices": rows.assign(**columns), "time_entries": given["time_entries"].assign(invoice_id="i1")}
    return lambda _firm: bf.Guidelines.read(sample.TERN).check(given, invoice, as_of=sample.AS_OF)


_EUR = {"headings": (*AGING, "Currency")}
_US = FirmSettings(currency="USD")
_SOLD, _WHOLE = sold(("Invoice", "1002", 12_000)), sold(("Invoice", "1002", 240_000))
_DENIED = httpx.Response(403, json={"title": "Forbidden"})

LOAD_MISTAKES: dict[str, tuple[Call, str, Call]] = {
    "missing_details": (
        served(lambda client: client.time_entries(select="user"), time_entries=paged([entry()])),
        "details are missing on every row: user",
        served(
            lambda client: client.time_entries(select="user"),
            time_entries=paged([entry(user={"name": "Ada", "firstName": "Ada", "lastName": "Lee"})]),
        ),
    ),
    "undescribed_values": (
        entries(billingType="flat"),
        "column billing_type has values that are not in the API's description: 'flat'",
        entries(),
    ),
    "cut_characters": (
        entries(description="Call \ud83d"),
        "record t0001 has half of a character in a text",
        entries(description="Call \U0001f600"),
    ),
    "same_column": (
        clients("Court", "COURT"),
        "another client field has the column cf_court, so the values of 'COURT' are in cf_court_f1",
        clients("Court", "Judge"),
    ),
    "undefined_fields": (
        clients("Court", f9="Leeds"),
        "values of custom fields without a definition, which therefore have no column: f9",
        clients("Court", f0="Leeds"),
    ),
    "rising_buckets": (balances(overdue60=40), "the figures of 1 client rise from one number of days", balances()),
    "denied": (
        book(lambda each: each.utilization(None), users=_DENIED),
        "The book has no users, because the server does not let this credential read them (403)",
        book(lambda each: each.utilization(None)),
    ),
    "later_records": (
        ahead("2026-11-20"),
        "1 time entry of the period is dated after 2026-10-31, the day of the load",
        ahead("2026-10-20"),
    ),
    "no_ledger_day": (
        tied(_row("1009", "Quillon Foods", period="All Dates")),
        "does not say as of which day it is",
        tied(_row("1009", "Quillon Foods")),
    ),
    "absent_from_ledger": (
        tied(_row("1009", "Quillon Foods")),
        "of our open invoices are not in The report. It may be filtered by customer",
        tied(),
    ),
    "other_currency": (
        tied(_row("1009", "Quillon Foods", "EUR", **_EUR), OURS.iloc[[8]], settings=_US),
        "1 row is in EUR",
        tied(_row("1009", "Quillon Foods", "USD", **_EUR), OURS.iloc[[8]], settings=_US),
    ),
    "unknown_customers": (tied(_of_strangers()), "1 customer matches no client, 40.00 in all", tied()),
    "above_items": (_above(0.13), "6 invoices are", _above(0.0)),
    "paid_elsewhere": (
        paying(invoices=OURS[OURS["invoice_number"] != "1002"]),
        "1 payment names an invoice that was not passed, or is another client's, 1,000.00 in all",
        paying(_SOLD),
    ),
    "loose_credits": (paying(), "1 credit or write-off is on no invoice, 25.00 in all", paying(_SOLD)),
    "paid_in_other_currency": (
        paying(_sold_in("EUR"), settings=_US),
        "1 payment is in EUR, 120.00 in all, and added up as if it were in USD",
        paying(_sold_in("USD"), settings=_US),
    ),
    "short_payments": (_collected("2026"), "The payments are those of 1 October 2026 to 31", _collected("2026-10")),
    "doubled_payments": (
        _put_together(2),
        "1 payment is there twice, 2,400.00 in all, and 1 invoice is paid with more than its amount",
        _put_together(1),
    ),
    "unknown_paid": (
        _put_together(1, firm="other-"),
        "1 payment names an invoice that is not among those passed, 2,400.00 in all",
        _put_together(1),
    ),
    "no_guidelines": (checked("2"), "Nothing was checked of invoice 2 (c2): no guideline file is for", checked("1")),
    "not_judged": (
        judged(),
        "3 of 27 narratives were not judged",
        judged(description="Draft letter to opposing counsel regarding the schedule of the hearing"),
    ),
}
