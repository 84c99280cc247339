#!/usr/bin/env python3
"""Runs a libFuzzer target from committed inputs. What it finds goes to a folder of the build, so that
a run leaves the source tree as it was. FW_FUZZ_SECONDS is how long it looks (10).

usage: run.py FUZZER FOUND SEEDS...
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fuzzer")
    parser.add_argument("found", type=Path, help="folder for inputs that reach new code, and for a failing one")
    parser.add_argument("seeds", nargs="+")
    options = parser.parse_args()
    options.found.mkdir(parents=True, exist_ok=True)
    seconds = os.environ.get("FW_FUZZ_SECONDS", "10")
    run = subprocess.run([options.fuzzer, f"-max_total_time={seconds}", "-max_len=4096", "-seed=1", "-timeout=10",
                          "-print_final_stats=1", f"-artifact_prefix={options.found}/", options.found, *options.seeds])
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
