"""A program that loads, is interrupted by a test, and loads again with the same client."""

from __future__ import annotations

import sys
import time

import billframes as bf


def main(url: str, how: str) -> None:
    client = bf.Client(url, "t0ken", page_size=10, concurrency=4, timeout=60, retries=20)
    try:
        if how == "one":
            client.expenses.get("e1")
        elif how == "balances":
            client.client_balances([f"c{i}" for i in range(20)])
        else:
            client.time_entries(select="")
    except KeyboardInterrupt:
        print("stopped", flush=True)
    # The test makes the server respond correctly meanwhile.
    sys.stdin.readline()
    begun = time.monotonic()
    print(len(client.time_entries(select="")), time.monotonic() - begun < 15, flush=True)
    # The test makes the server silent meanwhile.
    sys.stdin.readline()
    try:
        client.clients(select="")
    except KeyboardInterrupt:
        # The program ends while requests are under way, and does not wait for them.
        print("ending", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
