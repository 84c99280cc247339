#!/usr/bin/env python3
"""Checks a shared library of ours by its symbol table: it exports only fw_*, asks for no newer glibc
or libstdc++ than the oldest supported systems have, and is no larger, stripped, than promised."""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (7, 0, 0)}
VERSION = re.compile(r"@+(GLIBC|GLIBCXX|CXXABI|GCC)_([\d.]+)$")


def symbols(library, kind):
    run = subprocess.run(["nm", "-D", kind, str(library)], capture_output=True, text=True, check=True)
    return [line.split() for line in run.stdout.splitlines() if line.strip()]


def check_exports(library):
    """Type A is the version node itself."""
    for fields in symbols(library, "--defined-only"):
        name, kind = fields[-1], fields[-2]
        if kind != "A" and not name.startswith("fw_"):
            yield f"expected exports that start with fw_, got {name}; keep it out of the version script"


def check_versions(library):
    for fields in symbols(library, "--undefined-only"):
        match = VERSION.search(fields[-1])
        if not match:
            continue
        family, text = match.groups()
        if tuple(map(int, text.split("."))) > NEWEST[family]:
            limit = ".".join(map(str, NEWEST[family]))
            yield f"expected no symbol above {family}_{limit}, got {fields[-1]}; provide it hidden, or avoid it"


def stripped_bytes(library):
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "stripped.so"
        shutil.copyfile(library, copy)
        subprocess.run(["strip", "--strip-unneeded", str(copy)], check=True)
        return copy.stat().st_size


def check_size(library, max_mb):
    size = stripped_bytes(library)
    print(f"{library.name}: {size / 1e6:.2f} MB stripped, {max_mb} MB allowed")
    if size > max_mb * 1e6:
        yield f"expected at most {max_mb} MB stripped, got {size / 1e6:.2f} MB; look for what the link newly pulls in"


def check(library, max_mb):
    yield from check_exports(library)
    yield from check_versions(library)
    if max_mb:
        yield from check_size(library, max_mb)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=Path)
    parser.add_argument("--max-mb", type=float, default=0, help="0: any size")
    options = parser.parse_args()
    if not shutil.which("nm"):
        print("skipped: nm is not installed; run tools/install-deps")
        return 77
    errors = list(check(options.library, options.max_mb))
    for error in errors:
        print(f"{options.library.name}: error: {error}")
    print(f"{len(errors)} violations")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
