"""Verbs on clients, matters, users and practice areas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from billframes.loaders.docs import shared_docs
from billframes.loaders.loader import Id
from billframes.loaders.single_records import DeleteVerb, RecordVerbs, Verbs
from billframes.loading.merge import Merge
from billframes.loading.record import Record
from billframes.periods import DateLike
from billframes.schema.records import (
    CreateClient,
    CreateMatter,
    CreatePracticeArea,
    UpdateClient,
    UpdateMatter,
    UpdatePracticeArea,
    UpdateUser,
)

__all__ = ["ClientVerbs", "MatterVerbs", "PracticeAreaVerbs", "UserVerbs"]


class ClientVerbs(RecordVerbs):
    """Single clients: read, create, update and delete."""

    @shared_docs()
    def create(
        self,
        *,
        name: str,
        reference: str | UnsetType | None = UNSET,
        contact: Mapping[str, Any] | Record | UnsetType = UNSET,
        notes: str | UnsetType | None = UNSET,
        custom_fields: Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Create a client. What is left out is not sent; None is sent as null.

        Parameters
        ----------
        name : str
            Company name or individual name.
        reference : str, optional
            Reference number.
        contact : mapping or Record, optional
            Contact by field: company_name, first_name, last_name, email, street, city … A company name, or a first
            and last name, is needed.
        notes : str, optional
            Internal notes.
        custom_fields : mapping, optional
            New values by the field's name, column name or id; None clears a field, unlisted ones stay.

        Returns
        -------
        Record
            The record as it is now.

        Raises
        ------
        {create_raises}
        """
        values = {
            "name": name,
            "reference": reference,
            "contact": contact,
            "notes": notes,
            "custom_fields": custom_fields,
        }
        return self._create(CreateClient, values)

    @shared_docs()
    def update(
        self,
        id: Id,  # noqa: A002
        *,
        name: str | UnsetType | None = UNSET,
        reference: str | UnsetType | None = UNSET,
        notes: str | UnsetType | None = UNSET,
        contact: Mapping[str, Any] | Record | Merge | UnsetType = UNSET,
        custom_fields: Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Change a client. Only what is passed is sent; None is sent as null.

        Parameters
        ----------
        id : str or UUID
            Which one.
        name : str, optional
            Company name or individual name.
        reference : str, optional
            Reference number.
        notes : str, optional
            Internal notes.
        contact : mapping, Record or Merge, optional
            Contact by field: company_name, first_name, last_name, email, street, city … Fields left out are not sent;
            whether the server keeps them, the API's description does not show: `bf.merge(phone="…")` keeps them on
            every server.
        custom_fields : mapping, optional
            New values by the field's name, column name or id; None clears a field, unlisted ones stay.

        Returns
        -------
        Record
            The record as it is now.

        Raises
        ------
        {update_raises}
        """
        values = {
            "name": name,
            "reference": reference,
            "notes": notes,
            "contact": contact,
            "custom_fields": custom_fields,
        }
        return self._update(id, UpdateClient, values)


class MatterVerbs(RecordVerbs):
    """Single matters: read, create, update and delete."""

    @shared_docs()
    def create(
        self,
        *,
        name: str,
        client_id: Id,
        responsible_id: Id,
        reference: str | UnsetType | None = UNSET,
        matter_type: str | UnsetType | None = UNSET,
        originator_id: Id | UnsetType | None = UNSET,
        opened: DateLike | UnsetType | None = UNSET,
        archived: bool | UnsetType | None = UNSET,
        conflict_information: Mapping[str, Any] | Record | UnsetType | None = UNSET,
        billing_instructions: str | UnsetType | None = UNSET,
        notes: str | UnsetType | None = UNSET,
        referral_sources: str | UnsetType | None = UNSET,
        practice_area_id: Id | UnsetType | None = UNSET,
        rate_group_id: Id | UnsetType | None = UNSET,
        custom_fields: Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Create a matter. What is left out is not sent; None is sent as null.

        Parameters
        ----------
        name : str
            The matter's name.
        client_id : str or UUID
            The client.
        responsible_id : str or UUID
            The responsible attorney.
        reference : str, optional
            Reference number.
        matter_type : str, optional
            "hourly" (the default), "fixedFee", "contingency", "probono" or "internal".
        originator_id : str or UUID, optional
            The originating attorney.
        opened : str or date, optional
            When it was opened.
        archived : bool, optional
            Whether it is archived.
        conflict_information : mapping or Record, optional
            By field: adverse, related_adverse, related_client, opposing.
        billing_instructions : str, optional
            How the client wants to be billed.
        notes : str, optional
            Internal notes.
        referral_sources : str, optional
            Where the matter came from.
        practice_area_id : str or UUID, optional
            The practice area.
        rate_group_id : str or UUID, optional
            The rate group.
        custom_fields : mapping, optional
            New values by the field's name, column name or id; None clears a field, unlisted ones stay.

        Returns
        -------
        Record
            The record as it is now.

        Raises
        ------
        {create_raises}
        """
        values = {
            "name": name,
            "client_id": client_id,
            "responsible_id": responsible_id,
            "reference": reference,
            "matter_type": matter_type,
            "originator_id": originator_id,
            "opened": opened,
            "archived": archived,
            "conflict_information": conflict_information,
            "billing_instructions": billing_instructions,
            "notes": notes,
            "referral_sources": referral_sources,
            "practice_area_id": practice_area_id,
            "rate_group_id": rate_group_id,
            "custom_fields": custom_fields,
        }
        return self._create(CreateMatter, values)

    @shared_docs()
    def update(
        self,
        id: Id,  # noqa: A002
        *,
        name: str | UnsetType | None = UNSET,
        reference: str | UnsetType | None = UNSET,
        client_id: Id | UnsetType | None = UNSET,
        responsible_id: Id | UnsetType | None = UNSET,
        opened: DateLike | UnsetType | None = UNSET,
        archived: bool | UnsetType | None = UNSET,
        conflict_information: Mapping[str, Any] | Record | Merge | UnsetType | None = UNSET,
        billing_instructions: str | UnsetType | None = UNSET,
        notes: str | UnsetType | None = UNSET,
        referral_sources: str | UnsetType | None = UNSET,
        practice_area_id: Id | UnsetType | None = UNSET,
        custom_fields: Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Change a matter. Only what is passed is sent; None is sent as null.

        Parameters
        ----------
        id : str or UUID
            Which one.
        name : str, optional
            The matter's name.
        reference : str, optional
            Reference number.
        client_id : str or UUID, optional
            The client.
        responsible_id : str or UUID, optional
            The responsible attorney.
        opened : str or date, optional
            When it was opened.
        archived : bool, optional
            True archives, False brings back.
        conflict_information : mapping, Record or Merge, optional
            By field: adverse, related_adverse, related_client, opposing. Fields left out are not sent; whether the
            server keeps them, the API's description does not show: `bf.merge(opposing="…")` keeps them on every server.
        billing_instructions : str, optional
            How the client wants to be billed.
        notes : str, optional
            Internal notes.
        referral_sources : str, optional
            Where the matter came from.
        practice_area_id : str or UUID, optional
            The practice area; `bf.CLEAR` takes it away.
        custom_fields : mapping, optional
            New values by the field's name, column name or id; None clears a field, unlisted ones stay.

        Returns
        -------
        Record
            The record as it is now.

        Raises
        ------
        {update_raises}
        """
        values = {
            "name": name,
            "reference": reference,
            "client_id": client_id,
            "responsible_id": responsible_id,
            "opened": opened,
            "archived": archived,
            "conflict_information": conflict_information,
            "billing_instructions": billing_instructions,
            "notes": notes,
            "referral_sources": referral_sources,
            "practice_area_id": practice_area_id,
            "custom_fields": custom_fields,
        }
        return self._update(id, UpdateMatter, values)

    def archive(self, id: Id) -> Record | None:  # noqa: A002
        """
        Archive a matter: the way to retire one that cannot be deleted.

        Parameters
        ----------
        id : str or UUID
            Which one.

        Returns
        -------
        Record
            The matter as it is now.
        """
        return self.update(id, archived=True)

    def unarchive(self, id: Id) -> Record | None:  # noqa: A002
        """
        Bring an archived matter back.

        Parameters
        ----------
        id : str or UUID
            Which one.

        Returns
        -------
        Record
            The matter as it is now.
        """
        return self.update(id, archived=False)


class UserVerbs(Verbs):
    """Single users: custom fields can be set."""

    @shared_docs()
    def update(
        self,
        id: Id,  # noqa: A002
        *,
        custom_fields: Mapping[str, Any] | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Change a user. Only what is passed is sent; None is sent as null.

        Parameters
        ----------
        id : str or UUID
            Which one.
        custom_fields : mapping, optional
            New values by the field's name, column name or id; None clears a field, unlisted ones stay.

        Returns
        -------
        Record
            The user as the server answers, with custom fields.

        Raises
        ------
        {update_raises}
        """
        values = {
            "custom_fields": custom_fields,
        }
        return self._update(id, UpdateUser, values)


class PracticeAreaVerbs(DeleteVerb):
    """Single practice areas: create, update and delete, at the path of their list."""

    @shared_docs()
    def create(self, *, label: str, default: bool | UnsetType = UNSET) -> Record | None:
        """
        Create a practice area. What is left out is not sent.

        The API's description does not show this operation's path; `/v2/practice-areas` is assumed.

        Parameters
        ----------
        label : str
            What it is called.
        default : bool, optional
            Whether it is the default practice area.

        Returns
        -------
        Record or None
            The record as it is now, where the server answers with it.

        Raises
        ------
        {create_raises}
        """
        return self._create(CreatePracticeArea, {"label": label, "default": default})

    @shared_docs()
    def update(
        self,
        id: Id,  # noqa: A002
        *,
        label: str | UnsetType | None = UNSET,
        default: bool | UnsetType | None = UNSET,
    ) -> Record | None:
        """
        Change a practice area. Only what is passed is sent; None is sent as null.

        The API's description does not show this operation's path; `/v2/practice-areas/{id}` is assumed.

        Parameters
        ----------
        id : str or UUID
            Which one.
        label : str, optional
            What it is called; None keeps it.
        default : bool, optional
            Whether it is the default practice area; None keeps it.

        Returns
        -------
        Record or None
            The record as it is now, where the server answers with it.

        Raises
        ------
        {update_raises}
        """
        return self._update(id, UpdatePracticeArea, {"label": label, "default": default})
