"""Check the rows of a load against its request: they must fit the filters, and should have the requested details.

A server that ignores an unknown filter returns all records, which is an error.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.names import snake_case
from billframes._shared.notes import Rule, note
from billframes.errors import DecodeError, DetailsMissingWarning, RatesHiddenWarning, UnknownValueWarning
from billframes.loading.query_args import ListRequest
from billframes.schema.columns import Column, decode_dictionary
from billframes.schema.decode import earlier, parse_instant
from billframes.schema.resources import Filter
from billframes.schema.sources import ColumnSource

_MISSING_DETAILS = Rule(
    name="missing_details",
    seen="{subject}: details are missing on every row: {details}.",
    causes="Some servers have other names for them, or ignore all of `select` because of one unknown name.",
    remedy="client.check() shows which names this server accepts; give them in `select`=.",
    page="Ask whoever manages the billing system.",
    unit="details",
    category=DetailsMissingWarning,
)
_UNKNOWN = Rule(
    name="undescribed_values",
    seen="{subject}: column `{column}` has values that are not in the API's description: {values}.",
    remedy="They are kept as extra categories.",
    page="Ask whoever manages the billing system what they mean.",
    unit="values",
    category=UnknownValueWarning,
)
_NO_RATES = Rule(
    name="hidden_rates",
    seen="{subject}: rate and amount are missing on {found} billable entries: {cause}. They are missing, not zero.",
    page="Ask whoever manages the billing system for the right to read rates.",
    unit="entries",
    category=RatesHiddenWarning,
)


def check_filters(table: pa.Table, request: ListRequest) -> None:
    """Raise `DecodeError` if a row does not fit the filters of the request."""
    resource, period = request.resource, request.period
    if resource.date_column and (period.start or period.end):
        dates = table.column(resource.date_column)
        if period.start:
            _require_all(table, pc.greater_equal(dates, pa.scalar(period.start)), request, "startDate")
        if period.end:
            _require_all(table, pc.less_equal(dates, pa.scalar(period.end)), request, "endDate")
    since = next((text for query in request.queries[:1] for name, text in query if name == "modifiedSince"), None)
    if since and "modifiedSince" not in request.own_parameters and "modified_at" in table.column_names:
        # Some servers show instants without decimals.
        mark = pa.scalar(earlier(parse_instant(since), dt.timedelta(seconds=1)), pa.timestamp("us", "UTC"))
        _require_all(
            table, pc.fill_null(pc.greater_equal(table.column("modified_at"), mark), True), request, "modifiedSince"
        )
    for name, values in request.expected_values.items():
        column = decode_dictionary(table.column(snake_case(name)))
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            fits = pc.is_in(pc.utf8_lower(column), pa.array([value.lower() for value in values], column.type))
        else:
            fits = pc.is_in(column, pa.array(list(values), column.type))
        _require_all(table, fits, request, name)


def _require_all(table: pa.Table, fits: pa.ChunkedArray, request: ListRequest, name: str) -> None:
    wrong = table.filter(pc.invert(pc.fill_null(fits, False)))
    if wrong.num_rows:
        resource = request.resource
        example = wrong.column(resource.id_column)[0].as_py()
        raise DecodeError(
            f"{resource.name}: {wrong.num_rows} of {table.num_rows} rows do not fit the filter {name}, such as record "
            f"{example}. The server ignores the filter. Load without it, and filter the frame."
        )


def apply_local_filters(table: pa.Table, request: ListRequest) -> pa.Table:
    """Return the rows that fit the filters that are not in the API's description, which a server may ignore."""
    for name, values in request.local_filters.items():
        column = decode_dictionary(table.column(snake_case(name)))
        declared = next(each for each in request.resource.filters if each.field == name)
        if declared.present_if:
            _check_present(table, column, request, declared)
        wanted = pa.array([value.lower() for value in values], column.type)
        table = table.filter(pc.is_in(pc.utf8_lower(column), wanted))
    return table


def _check_present(table: pa.Table, column: pa.ChunkedArray, request: ListRequest, declared: Filter) -> None:
    flag = str(declared.present_if)
    unknown = pc.and_(pc.is_null(column), table.column(snake_case(flag)))
    if pc.any(unknown).as_py():
        record = table.filter(unknown).column(request.resource.id_column)[0].as_py()
        raise DecodeError(
            f"{request.resource.name}: record {record} is {flag} but has no {declared.field}, so rows can't be "
            f"filtered by {declared.argument}=. Leave the filter out."
        )


def check_details(table: pa.Table, request: ListRequest, sources: Sequence[ColumnSource]) -> None:
    """
    Warn once of requested details that are missing on every row.

    A reference counts as missing only if some row has its id. Without ids, perhaps no matter has a practice area.
    Details that have no id, such as contacts, may be empty in the whole firm. By default, all details are
    requested; then these are named only if no detail came at all.
    """
    resource = request.resource
    requested = {name: [each for each in sources if each.column.select == name] for name in resource.select}
    # Most servers always send these details, and others only if an alternate name is selected.
    for each in resource.alternates:
        requested[each.reference] = [source for source in sources if source.parent == each.reference]
    missing = [name for name, columns in requested.items() if _is_missing(name, table, columns)]
    came = [
        name for name, columns in requested.items() if any(_has_values(table.column(each)) for each in _names(columns))
    ]
    if came and not request.select_given:
        missing = [name for name in missing if _ids(name, table)]
    if missing:
        note(_MISSING_DETAILS, len(missing), resource.name, about=resource.name, details=", ".join(missing))


def _is_missing(select: str, table: pa.Table, sources: Sequence[ColumnSource]) -> bool:
    columns = _names(sources)
    if not columns or not table.num_rows or any(_has_values(table.column(name)) for name in columns):
        return False
    ids = _ids(select, table)
    return not ids or any(_has_values(table.column(name)) for name in ids)


def _names(sources: Sequence[ColumnSource]) -> list[str]:
    return [source.column.name for source in sources]


def _ids(select: str, table: pa.Table) -> list[str]:
    """Return the columns with the ids of a detail; none if it is not a record."""
    return [name for name in (f"{snake_case(select)}_id", f"{snake_case(select)}_ids") if name in table.column_names]


def _has_values(column: pa.ChunkedArray) -> bool:
    if pa.types.is_list(column.type):
        return bool(pc.any(pc.greater(pc.list_value_length(column), 0)).as_py())
    return bool(column.null_count < len(column))


def note_unknown(array: pa.DictionaryArray, column: Column, resource: str) -> None:
    """Note values in an enum's column that are not in its declaration."""
    unknown = array.dictionary.to_pylist()[len(column.values) :]
    words = {"column": column.name, "values": ", ".join(map(repr, unknown))}
    note(_UNKNOWN, len(unknown), resource, about=f"{resource}.{column.name}", **words)


def check_rates(table: pa.Table, resource: str) -> None:
    """Note that billable time is without rates: all of it, or a part, as if pages came for another credential."""
    if not {"rate", "amount", "billing_type"} <= set(table.column_names):
        return
    billable = pc.equal(decode_dictionary(table.column("billing_type")), "billable")
    rows = table.select(["rate", "amount"]).filter(billable)
    hidden = pc.sum(pc.and_(pc.is_null(rows.column("rate")), pc.is_null(rows.column("amount")))).as_py() or 0
    if not hidden:
        return
    if hidden == rows.num_rows:
        found, cause = f"all {hidden}", "the credential may lack the scope read.rates, or work has no rates"
    else:
        found = f"{hidden:,} of {rows.num_rows:,}"
        cause = "these entries may have no rate, or the server may have hidden it on some pages; load again to compare"
    note(_NO_RATES, hidden, resource, found=found, cause=cause)
