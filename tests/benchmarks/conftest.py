"""Keep pytest from importing the benchmarks: they are not tests, and some need packages that tests don't."""

collect_ignore_glob = ["_*.py", "analyses.py", "bounds.py", "loads.py"]
