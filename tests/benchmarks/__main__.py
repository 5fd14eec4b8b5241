"""Run all benchmarks: `python -m tests.benchmarks`."""

from __future__ import annotations

from tests.benchmarks import analyses, book, bounds, bulk, ebilling, loads, mirror

if __name__ == "__main__":
    loads.main()
    book.main()
    analyses.main()
    bounds.main()
    ebilling.main()
    mirror.main()
    bulk.main()
