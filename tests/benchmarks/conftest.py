"""Keep pytest from importing the benchmarks: they are not tests, and some need packages that tests do not."""

collect_ignore_glob = ["*.py"]
