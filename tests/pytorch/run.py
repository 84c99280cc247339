#!/usr/bin/env python3
"""Runs one file of tests by pytest with the Python of tools/install-torch, or skips where that is not installed."""
import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--package", type=Path, help="folder for PYTHONPATH (default: the package is installed)")
    parser.add_argument("--environment", type=Path, help="the virtual environment (default: that of tools/install-torch)")
    options = parser.parse_args()
    folder = options.environment
    if folder is None:
        found = subprocess.run([ROOT / "tools/install-torch", "--print"], capture_output=True, text=True)
        if found.returncode:
            print("skipped: torch is not installed; run tools/install-torch")
            return 77
        folder = Path(found.stdout.strip())
    environment = dict(os.environ)
    if options.package:
        environment["PYTHONPATH"] = str(options.package)
    else:
        environment.pop("PYTHONPATH", None)
    # Without a GPU torch says on stderr that it finds no CUDA runtime.
    command = [folder / "bin/python", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--durations=3", options.file]
    return subprocess.run(command, env=environment, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
