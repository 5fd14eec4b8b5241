"""Send changes side by side, without overwriting changes that somebody else makes meanwhile.

The records of the first changes of a run are read one by one, each just before it is written. From then on, changes are
sent in waves, each after a list of the records that were changed since the list before. The next list is requested
before the last writes of a wave, so that the next wave is ready, and saved in the journal, when they are done. So the
time between reading and writing stays about as long as two to four responses. If a list is not proved right, the
records of its wave are read one by one, and after three such lists, all records are. Records to delete are always read
one by one, because a deletion can't be undone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from msgspec.structs import replace

from billframes._shared.forks import Process, check_own
from billframes.bulk.journal import Journal
from billframes.bulk.journal_entry import Entry
from billframes.bulk.modified_since import ChangedRecords, ChangeList
from billframes.bulk.writer import BILLED, CHANGED_SINCE_PLANNED, Writer
from billframes.errors import AuthenticationError, BillframesError, TransportError
from billframes.loading.progress import Progress

# Seconds for which outcomes are collected, to be written to the disk at once.
_COLLECT_SECONDS, _COLLECT_SECONDS_IN_WAVES = 0.004, 0.02
# After this many failures in a row, the server counts as down.
_MOST_FAILURES = 50
# The number of updates at the start of a run whose records are read one by one. The first list must contain them.
READ_SINGLY_FIRST = 20
# Writes in a wave: as many as take this many seconds, but at least and at most this many per connection.
_LEAST_WRITES, _MOST_WRITES, _WAVE_SECONDS = 2, 16, 0.1
# The changes of the last minute are requested again after so many seconds.
_RECHECK_SECONDS = 10.0
# After this many lists in a row that are not proved right, no more are requested.
_MOST_UNRELIABLE = 3


class Sender:
    """Sends the planned changes of a journal. Without `changed`, each record is read before it is written."""

    def __init__(
        self,
        pool: ThreadPoolExecutor,
        journal: Journal,
        writer: Writer,
        changed: ChangedRecords | None,
        at_once: int,
        progress: Progress,
    ) -> None:
        self._process = Process.current()
        self._pool, self._journal, self._writer = pool, journal, writer
        self._changed, self._at_once, self._progress = changed, at_once, progress
        self._running: dict[Future[Entry], Entry] = {}
        # Ended requests: writes and lists.
        self._ended_requests: SimpleQueue[Future[Any]] = SimpleQueue()
        self._next_list: Future[ChangeList | None] | None = None
        # The wave to send when its list is received; it is already marked as sent in the journal.
        self._wave: list[Entry] = []
        # Changes by others until this time, by the server's clock, are known and saved.
        self._read_at: str | None = None
        self._recheck: Future[ChangeList | None] | None = None
        self._rechecked_at = 0.0
        self._unreliable = 0
        self._just_written: list[str] = []
        self._left_to_read_singly = READ_SINGLY_FIRST
        self._failed_in_a_row: list[Entry] = []
        self._server_is_down = False
        self._total = journal.count()
        self._finished = self._total - journal.count("planned")
        self._started_at, self._finished_before = 0.0, self._finished
        self.last_sent = 0.0

    def send(self, actions: Sequence[str]) -> None:
        """Send the planned changes. Each is saved in the journal before it is sent and after its response."""
        self._rechecked_at = time.monotonic()
        self._started_at = self._started_at or self._rechecked_at
        try:
            while True:
                self._submit_more(actions)
                if not self._running and self._next_list is None:
                    return
                self._wait_for_requests()
                self._recheck_last_minute()
        except BaseException:
            if self._process.is_current:
                self._stop()
            raise

    def _submit_more(self, actions: Sequence[str]) -> None:
        if self._next_list is not None:
            if self._next_list.done():
                changes, self._next_list = self._next_list.result(), None
                self._send_wave(changes, actions)
        elif self._changed is not None and self._left_to_read_singly <= 0 and "update" in actions:
            self._submit_with_list((), None, actions)
        elif len(self._running) <= self._at_once:
            # Twice as many as run at the same time, so that no connection waits for the journal.
            planned = self._journal.first_in_state("planned", actions, 2 * self._at_once - len(self._running))
            self._left_to_read_singly -= sum(entry.action == "update" for entry in planned)
            self._submit_with_list(self._journal.mark_sent(planned), None, actions)

    def _submit_with_list(self, entries: Sequence[Entry], unchanged_at: float | None, actions: Sequence[str]) -> None:
        """Submit changes, with the next list before the last of them, and save the wave that follows the list."""
        before = max(0, len(entries) - _LEAST_WRITES * self._at_once)
        self._submit(entries[:before], unchanged_at)
        if self._changed is not None and self._left_to_read_singly <= 0:
            self._request_list(self._changed, actions)
        self._submit(entries[before:], unchanged_at)
        if self._next_list is not None:
            self._wave = self._journal.mark_sent(
                self._journal.first_in_state("planned", actions, self._wave_size), self._read_at
            )

    def _request_list(self, changed: ChangedRecords, actions: Sequence[str]) -> None:
        if "update" not in actions or not self._journal.first_in_state("planned", actions, 1):
            return
        written, self._just_written = self._just_written, []
        self._next_list = self._pool.submit(changed.next_list, written, self._most_pages)
        self._next_list.add_done_callback(self._ended_requests.put)

    @property
    def _most_pages(self) -> int:
        """The largest number of requests for one list: fewer than to read the rest one by one."""
        return max(_LEAST_WRITES, (self._total - self._finished) // 4)

    def _send_wave(self, changes: ChangeList | None, actions: Sequence[str]) -> None:
        """Send the changes of the wave whose records are unchanged by the list, and request the next list."""
        if changes is None:
            self._unreliable += 1
        elif self._changed is not None:
            self._unreliable = 0
            self._hold_back_changed(changes)
            self._read_at = self._changed.since.isoformat()
        if self._unreliable >= _MOST_UNRELIABLE:
            self._changed = None
        wave, self._wave = self._wave, []
        self._submit_with_list(wave, changes.requested_at if changes else None, actions)

    @property
    def _wave_size(self) -> int:
        """The number of changes in a wave, by the speed of the writes so far."""
        rate = (self._finished - self._finished_before) / max(time.monotonic() - self._started_at, _WAVE_SECONDS)
        return round(min(max(_LEAST_WRITES * self._at_once, rate * _WAVE_SECONDS), _MOST_WRITES * self._at_once))

    def _submit(self, entries: Sequence[Entry], unchanged_at: float | None = None) -> None:
        for entry in entries:
            sent = self._pool.submit(self._writer.write, entry, unchanged_at)
            self._running[sent] = entry
            sent.add_done_callback(self._ended_requests.put)
            self.last_sent = time.monotonic()

    def _hold_back_changed(self, changes: ChangeList) -> None:
        """Save the outcome of planned updates whose records somebody changed, and don't send them."""
        rows = {row.id: row for row in changes.records}
        held_back = []
        for entry in (*self._wave, *self._journal.planned_updates(list(rows))):
            row = rows.get(str(entry.id).casefold())
            # If a change was sent before or has no date, its record is read before it is written.
            if row is None or entry.action != "update" or entry.tries or entry.modified_at is None:
                continue
            if row.modified_at.isoformat() != entry.modified_at:
                held_back.append(entry.with_outcome(*(BILLED if row.billed else CHANGED_SINCE_PLANNED)))
        self._journal.save(held_back)
        self._finished += len(held_back)
        numbers = {entry.number for entry in held_back}
        self._wave = [entry for entry in self._wave if entry.number not in numbers]

    def _recheck_last_minute(self) -> None:
        """Request the changes of the last minute again every ten seconds, because a change can become visible late."""
        if self._recheck is not None and self._recheck.done():
            changes, self._recheck = self._recheck.result(), None
            self._rechecked_at = time.monotonic()
            if changes is not None:
                self._hold_back_changed(changes)
        due = time.monotonic() - self._rechecked_at > _RECHECK_SECONDS
        if due and self._recheck is None and self._next_list is not None and self._changed is not None:
            self._recheck = self._pool.submit(self._changed.last_minute, self._most_pages)
            self._recheck.add_done_callback(self._ended_requests.put)

    def _wait_for_requests(self) -> None:
        ended = [self._ended_requests.get()]
        # Outcomes are collected for a moment and saved together, unless the list for the next wave is received.
        if self._next_list is None:
            time.sleep(_COLLECT_SECONDS)
        else:
            wait([self._next_list], _COLLECT_SECONDS_IN_WAVES)
        with suppress(Empty):
            while True:
                ended.append(self._ended_requests.get_nowait())
        done = {each: self._running.pop(each) for each in ended if each in self._running}
        self._save_outcomes(done)
        self._finished += len(done)
        self._progress(min(self._finished, self._total), self._total)
        # The progress may be the caller's function, which may fork.
        check_own(self._process, "began to send these changes")

    def _save_outcomes(self, done: dict[Future[Entry], Entry]) -> None:
        """Save outcomes in the journal; raise if the other changes can't be sent."""
        outcomes: list[Entry] = []
        fatal: BaseException | None = None
        for each, entry in done.items():
            error = None if each.cancelled() else each.exception()
            fatal = fatal or error
            unsent = each.cancelled() or isinstance(error, AuthenticationError)
            outcomes += [replace(entry, state="planned")] if unsent else [] if error else [each.result()]
        self._journal.save(outcomes)
        if fatal is not None:
            raise fatal
        for entry in outcomes:
            self._failed_in_a_row = [*self._failed_in_a_row, entry] if entry.state == "failed" else []
        self._just_written += [str(each.id) for each in outcomes if each.state == "done" and each.action == "update"]
        if len(self._failed_in_a_row) >= _MOST_FAILURES:
            self._server_is_down = True
            raise TransportError(
                f"{self._writer.resource.name}: the last {len(self._failed_in_a_row)} changes could not be sent "
                f"({self._failed_in_a_row[-1].reason}). Finish them with bf.bulk.resume({str(self._journal.path)!r})."
            )

    def _stop(self) -> None:
        for each in (*self._running, self._next_list, self._recheck):
            if each is not None:
                each.cancel()
        wait(self._running)
        self._journal.save([replace(entry, state="planned") for entry in self._wave])
        with suppress(BillframesError):
            self._save_outcomes(self._running)
        if self._server_is_down:
            # All failed changes are planned again, also those before a success, as when a quota runs out.
            failed = list(self._journal.entries("failed"))
            self._journal.save([replace(entry, state="planned") for entry in failed])
