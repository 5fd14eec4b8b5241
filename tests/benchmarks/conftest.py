"""The benchmarks themselves are not tests; some import peers that only benchmarks need."""

collect_ignore_glob = ["_*.py", "analyses.py", "bounds.py", "loads.py"]
