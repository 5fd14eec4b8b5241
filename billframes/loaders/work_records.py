"""Verbs on what gets billed: time entries, expenses and fixed fees."""

from __future__ import annotations

import datetime as dt

from msgspec import UNSET, UnsetType

from billframes.loaders.docs import shared_docs
from billframes.loaders.loader import Id
from billframes.loaders.single_records import RecordVerbs
from billframes.loading.query_args import identifier
from billframes.loading.record import Record
from billframes.periods import DateLike
from billframes.schema.records import (
    CreateExpense,
    CreateFixedFee,
    CreateTimeEntry,
    UpdateExpense,
    UpdateFixedFee,
    UpdateTimeEntry,
)

__all__ = ["ExpenseVerbs", "FixedFeeVerbs", "TimeEntryVerbs"]


class TimeEntryVerbs(RecordVerbs):
    """Single time entries: read, create, update and delete."""

    @shared_docs()
    def create(
        self,
        *,
        matter_id: Id,
        date: DateLike,
        description: str,
        hours: float,
        user_id: Id | UnsetType | None = UNSET,
        time: str | dt.time | UnsetType | None = UNSET,
        rate: float | UnsetType | None = UNSET,
        billing_type: str | UnsetType | None = UNSET,
        fixed_fee_id: Id | UnsetType | None = UNSET,
        activity_code: str | UnsetType | None = UNSET,
        task_code: str | UnsetType | None = UNSET,
        acting_user: Id | None = None,
    ) -> Record | None:
        """
        Create a time entry. What is left out is not sent; None is sent as null.

        Parameters
        ----------
        matter_id : str or UUID
            The matter.
        date : str or date
            The day it is billed under.
        description : str
            The narrative.
        hours : float
            Hours worked.
        user_id : str or UUID, optional
            The timekeeper; else the acting user, else the credential's user.
        time : str or time, optional
            Time of day.
        rate : float, optional
            Money an hour; the user's own rate where it is left out, as it normally is.
        billing_type : str, optional
            "nonBillable", "billable" or "fixedFee".
        fixed_fee_id : str or UUID, optional
            The fixed fee that covers the time.
        activity_code : str, optional
            LEDES activity code.
        task_code : str, optional
            LEDES task code.
        acting_user : str or UUID, optional
            On whose behalf, for this call; else the client's `acting_user`.

        Returns
        -------
        Record or None
            The record as it is now, where the server answers with it.

        Raises
        ------
        {create_raises}
        """
        client = self._client()
        acting = acting_user or client.acting_user
        headers = {client.acting_user_header: identifier(acting, "acting_user")} if acting else {}
        values = {
            "matter_id": matter_id,
            "date": date,
            "description": description,
            "hours": hours,
            "user_id": user_id,
            "time": time,
            "rate": rate,
            "billing_type": billing_type,
            "fixed_fee_id": fixed_fee_id,
            "activity_code": activity_code,
            "task_code": task_code,
        }
        return self._create(CreateTimeEntry, values, headers=headers)

    @shared_docs()
    def update(
        self,
        id: Id,  # noqa: A002
        *,
        user_id: Id | UnsetType | None = UNSET,
        matter_id: Id | UnsetType | None = UNSET,
        date: DateLike | UnsetType | None = UNSET,
        time: str | dt.time | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        hours: float | UnsetType | None = UNSET,
        rate: float | UnsetType | None = UNSET,
        billing_type: str | UnsetType | None = UNSET,
        fixed_fee_id: Id | UnsetType | None = UNSET,
        activity_code: str | UnsetType | None = UNSET,
        task_code: str | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Change a time entry. Only what is passed is sent; None is sent as null.

        Parameters
        ----------
        id : str or UUID
            Which one.
        user_id : str or UUID, optional
            The timekeeper.
        matter_id : str or UUID, optional
            The matter.
        date : str or date, optional
            The day it is billed under.
        time : str or time, optional
            Time of day.
        description : str, optional
            The narrative; None keeps it.
        hours : float, optional
            Hours worked; None keeps them.
        rate : float, optional
            Money an hour.
        billing_type : str, optional
            "nonBillable", "billable" or "fixedFee".
        fixed_fee_id : str or UUID, optional
            The fixed fee that covers the time; None keeps it, `bf.CLEAR` takes it away.
        activity_code : str, optional
            LEDES activity code.
        task_code : str, optional
            LEDES task code.

        Returns
        -------
        None
            The API answers with no body; a Record where a server does.

        Raises
        ------
        {update_raises}
        """
        values = {
            "user_id": user_id,
            "matter_id": matter_id,
            "date": date,
            "time": time,
            "description": description,
            "hours": hours,
            "rate": rate,
            "billing_type": billing_type,
            "fixed_fee_id": fixed_fee_id,
            "activity_code": activity_code,
            "task_code": task_code,
        }
        return self._update(id, UpdateTimeEntry, values)


class ExpenseVerbs(RecordVerbs):
    """Single expenses: read, create, update and delete."""

    @shared_docs()
    def create(
        self,
        *,
        matter_id: Id,
        date: DateLike,
        description: str,
        amount: float,
        user_id: Id | UnsetType | None = UNSET,
        expense_code: str | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Create an expense. What is left out is not sent; None is sent as null.

        Parameters
        ----------
        matter_id : str or UUID
            The matter.
        date : str or date
            The day it is billed under.
        description : str
            What it is for.
        amount : float
            Money.
        user_id : str or UUID, optional
            Who spent it; the firm where it is left out.
        expense_code : str, optional
            LEDES expense code.

        Returns
        -------
        None
            The API answers with no body; a Record where a server does.

        Raises
        ------
        {create_raises}
        """
        values = {
            "matter_id": matter_id,
            "date": date,
            "description": description,
            "amount": amount,
            "user_id": user_id,
            "expense_code": expense_code,
        }
        return self._create(CreateExpense, values)

    @shared_docs()
    def update(
        self,
        id: Id,  # noqa: A002
        *,
        matter_id: Id | UnsetType | None = UNSET,
        user_id: Id | UnsetType | None = UNSET,
        date: DateLike | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        amount: float | UnsetType | None = UNSET,
        expense_code: str | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Change an expense. Only what is passed is sent; None is sent as null.

        Parameters
        ----------
        id : str or UUID
            Which one.
        matter_id : str or UUID, optional
            The matter.
        user_id : str or UUID, optional
            Who spent it.
        date : str or date, optional
            The day it is billed under.
        description : str, optional
            What it is for; None keeps it.
        amount : float, optional
            Money; None keeps it.
        expense_code : str, optional
            LEDES expense code.

        Returns
        -------
        None
            The API answers with no body; a Record where a server does.

        Raises
        ------
        {update_raises}
        """
        values = {
            "matter_id": matter_id,
            "user_id": user_id,
            "date": date,
            "description": description,
            "amount": amount,
            "expense_code": expense_code,
        }
        return self._update(id, UpdateExpense, values)


class FixedFeeVerbs(RecordVerbs):
    """Single fixed fees: read, create, update and delete."""

    @shared_docs()
    def create(
        self,
        *,
        matter_id: Id,
        date: DateLike,
        description: str,
        amount: float,
        user_id: Id | UnsetType | None = UNSET,
        activity_code: str | UnsetType | None = UNSET,
        task_code: str | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Create a fixed fee. What is left out is not sent; None is sent as null.

        Parameters
        ----------
        matter_id : str or UUID
            The matter.
        date : str or date
            The day it is billed under.
        description : str
            What it is for.
        amount : float
            Money.
        user_id : str or UUID, optional
            The timekeeper; the firm where it is left out.
        activity_code : str, optional
            LEDES activity code.
        task_code : str, optional
            LEDES task code.

        Returns
        -------
        None
            The API answers with no body; a Record where a server does.

        Raises
        ------
        {create_raises}
        """
        values = {
            "matter_id": matter_id,
            "date": date,
            "description": description,
            "amount": amount,
            "user_id": user_id,
            "activity_code": activity_code,
            "task_code": task_code,
        }
        return self._create(CreateFixedFee, values)

    @shared_docs()
    def update(
        self,
        id: Id,  # noqa: A002
        *,
        date: DateLike | UnsetType | None = UNSET,
        matter_id: Id | UnsetType | None = UNSET,
        user_id: Id | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        amount: float | UnsetType | None = UNSET,
        activity_code: str | UnsetType | None = UNSET,
        task_code: str | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Change a fixed fee. Only what is passed is sent; None is sent as null.

        Parameters
        ----------
        id : str or UUID
            Which one.
        date : str or date, optional
            The day it is billed under.
        matter_id : str or UUID, optional
            The matter.
        user_id : str or UUID, optional
            The timekeeper.
        description : str, optional
            What it is for.
        amount : float, optional
            Money.
        activity_code : str, optional
            LEDES activity code.
        task_code : str, optional
            LEDES task code.

        Returns
        -------
        None
            The API answers with no body; a Record where a server does.

        Raises
        ------
        {update_raises}
        """
        values = {
            "date": date,
            "matter_id": matter_id,
            "user_id": user_id,
            "description": description,
            "amount": amount,
            "activity_code": activity_code,
            "task_code": task_code,
        }
        return self._update(id, UpdateFixedFee, values)
