#!/usr/bin/env python3
"""Checks C++ sources with clang-format 22; --fix rewrites them. Exits with 77 (skipped) without it."""
import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import check_files

NAMES = ("clang-format-22", "/usr/lib/llvm-22/bin/clang-format")
# TableGen and .def tables are aligned for the reader and not formatted.
SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".cuh"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="rewrite the files")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    tool = next(filter(None, map(shutil.which, NAMES)), None)
    if not tool:
        print("skipped: clang-format 22 is not installed; run tools/install-deps")
        return 77
    files = [str(path) for path in check_files.project_files(options.root) if path.suffix in SUFFIXES]
    if not files:
        print("0 files")
        return 0
    mode = ["-i"] if options.fix else ["--dry-run", "--Werror", "--ferror-limit=1"]
    run = subprocess.run([tool, *mode, *files], cwd=options.root, capture_output=True, text=True)
    print(run.stderr, end="")
    if run.returncode:
        print("error: expected sources as clang-format 22 writes them, got other layout; run tools/check_format.py --fix")
    else:
        print(f"{len(files)} files")
    return min(run.returncode, 1)


if __name__ == "__main__":
    sys.exit(main())
