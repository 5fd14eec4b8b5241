"""The parts of a restated month in SQL, written from their definition: a second opinion on `Mirror.restated`."""

from __future__ import annotations

import duckdb
import pandas as pd

from billframes.mirror import Mirror

CAUSES = ("entered_late", "deleted", "redated", "retyped", "hours_changed", "repriced", "moved", "invoice_changed")
KEYS = {
    None: "''",
    "client": "client_id",
    "matter": "matter_id",
    "user": "user_id",
    "practice_area": "practice_area_id",
    "matter_type": "matter_type",
}

# One row per time entry, fixed fee, and invoice whose fees are spread over no entry, with what it earned.
_VERSION = """
CREATE OR REPLACE TABLE items_{v} AS
WITH invoice AS (
    SELECT i.invoice_id, i.client_id, i.invoice_date, i.amount
        - coalesce((SELECT sum(amount) FROM expenses_{v} x WHERE x.invoice_id = i.invoice_id), 0)
        - coalesce((SELECT sum(amount) FROM fixed_fees_{v} f WHERE f.invoice_id = i.invoice_id), 0) AS net,
        coalesce((SELECT sum(amount) FROM time_entries_{v} t
                  WHERE t.invoice_id = i.invoice_id AND billing_type = 'billable'), 0) AS value
    FROM invoices_{v} i WHERE invoice_state = 'final'
)
SELECT 'time' AS kind, time_entry_id AS id, t.date, user_id, t.client_id, t.matter_id, m.practice_area_id,
    m.matter_type, billing_type AS type, hours, rate, coalesce(t.amount, 0.0) AS amount,
    invoice.invoice_date,
    CASE WHEN billing_type = 'billable' AND value <> 0 THEN t.amount * net / value ELSE 0.0 END AS fee, 0.0 AS fixed
FROM time_entries_{v} t LEFT JOIN invoice USING (invoice_id) LEFT JOIN matters_{v} m ON m.matter_id = t.matter_id
UNION ALL BY NAME
SELECT 'fee' AS kind, fixed_fee_id AS id, f.date, user_id, f.client_id, f.matter_id, m.practice_area_id, m.matter_type,
    invoice.invoice_date, 0.0 AS hours, 0.0 AS amount, 0.0 AS fee, f.amount AS fixed
FROM fixed_fees_{v} f LEFT JOIN invoice USING (invoice_id) LEFT JOIN matters_{v} m ON m.matter_id = f.matter_id
UNION ALL BY NAME
SELECT 'invoice' AS kind, invoice_id AS id, client_id, 'Unknown' AS matter_type, invoice_date, 0.0 AS hours,
    0.0 AS amount, net AS fee, 0.0 AS fixed
FROM invoice WHERE value = 0
"""
# Each step takes one more field from the new version.
_STEPS = """
CREATE OR REPLACE TABLE steps AS
WITH pairs AS (
    SELECT a, b, CASE WHEN a.type = b.type OR b.kind <> 'time' THEN a.amount
        WHEN b.type = 'billable' THEN round(a.hours * b.rate, 2) ELSE 0.0 END AS typed
    FROM items_then a JOIN items_now b ON a.kind = b.kind AND a.id = b.id WHERE a.kind <> 'invoice'
), priced AS (
    SELECT a, b, typed, CASE WHEN b.kind <> 'time' OR a.hours = b.hours THEN typed
        WHEN b.type = 'billable' THEN round(b.hours * coalesce(a.rate, b.rate), 2) ELSE 0.0 END AS timed
    FROM pairs
)
"""
# Of each step: where the keys, date, type, hours, fixed fees and invoice are from, and the amount.
_ORIGINS = ("aaaaaa", "abaaaa", "abbaaa", "abbbaa", "abbbba", "bbbbba", "bbbbbb")
_AMOUNTS = ("a.amount", "a.amount", "typed", "timed", "b.amount", "b.amount", "b.amount")
_STEP = """
SELECT {step} AS step, {key} AS key, {key}.matter_type, {date}.date, {type}.type, {hours}.hours, {fixed}.fixed,
    {invoice}.invoice_date, {amount} AS amount, a.kind,
    CASE WHEN '{invoice}' = 'b' THEN b.fee WHEN a.amount <> 0 THEN a.fee * {amount} / a.amount ELSE 0.0 END AS fee
FROM priced
"""
_MONTH = "BETWEEN '{first}' AND '{last}'"
_HOURLY = "matter_type NOT IN ('contingency', 'probono', 'internal')"
FIGURES = {
    "client_hours": "date {m} AND type IN ('billable', 'fixedFee') AND matter_type <> 'internal' THEN hours",
    "cohort_amount": "date {m} AND type = 'billable' THEN amount",
    "worked_amount": "invoice_date {m} AND type = 'billable' AND " + _HOURLY + " THEN amount",
    "billed_amount": "invoice_date {m} AND " + _HOURLY + " THEN fee",
    "fixed_fee_amount": "invoice_date {m} THEN fixed",
    "fees_amount": "invoice_date {m} THEN fee + fixed",
}
_LISTS = ("time_entries", "expenses", "fixed_fees", "invoices", "matters")


def versions_in_sql(then: Mirror, now: Mirror) -> duckdb.DuckDBPyConnection:
    """Load two versions, and calculate what each record counted in the steps between them."""
    sql = duckdb.connect()
    for name, version in (("then", then), ("now", now)):
        for each in _LISTS:
            frame = getattr(version, each)()
            texts = frame.select_dtypes("category").columns
            sql.register("frame", frame.astype(dict.fromkeys(texts, "str")).drop(columns=_lists_in(frame)))
            sql.execute(f"CREATE TABLE {each}_{name} AS SELECT * FROM frame")
        sql.execute(_VERSION.format(v=name))
    fields = ("key", "date", "type", "hours", "fixed", "invoice")
    steps = [
        _STEP.format(step=step, amount=amount, **dict(zip(fields, origins, strict=True)))
        for step, (origins, amount) in enumerate(zip(_ORIGINS, _AMOUNTS, strict=True))
    ]
    sql.execute(_STEPS + " UNION ALL ".join(steps))
    return sql


def restated_in_sql(
    sql: duckdb.DuckDBPyConnection, key: str | None, first: str, last: str
) -> dict[tuple[str, str, str], float]:
    """Return each part by figure, key and cause, and what the figure was and is; those of 0 are left out."""
    found: dict[tuple[str, str, str], float] = {}
    month, column = _MONTH.format(first=first, last=last), KEYS[key]
    for figure, text in FIGURES.items():
        value = f"sum(CASE WHEN {text.format(m=month)} ELSE 0.0 END)"
        own, of_step = f"coalesce({column}, '')", "''" if key is None else f"coalesce(key.{column}, '')"
        only = "{} WHERE kind <> 'invoice' AND (kind, id) NOT IN (SELECT (kind, id) FROM {})"
        queries = {
            "then": [(1, "items_then", own)],
            "now": [(1, "items_now", own)],
            "entered_late": [(1, only.format("items_now", "items_then"), own)],
            "deleted": [(-1, only.format("items_then", "items_now"), own)],
            **{
                cause: [(1, f"steps WHERE step = {step + 1}", of_step), (-1, f"steps WHERE step = {step}", of_step)]
                for step, cause in enumerate(CAUSES[2:])
            },
        }
        rest = [(1, "items_now WHERE kind = 'invoice'", own), (-1, "items_then WHERE kind = 'invoice'", own)]
        queries["invoice_changed"] += rest
        for cause, parts in queries.items():
            for sign, rows, group in parts:
                for id_, amount in sql.execute(f"SELECT {group}, {value} FROM {rows} GROUP BY 1").fetchall():
                    at = figure, id_, cause
                    found[at] = found.get(at, 0.0) + sign * (amount or 0.0)
    return {at: amount for at, amount in found.items() if abs(amount) > 0.004}


def _lists_in(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame if name.startswith(("originator_", "cf_"))]
