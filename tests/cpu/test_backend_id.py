#!/usr/bin/env python3
"""The CPU library's version, part of every object's key, names the sources that make its code.

Usage: test_backend_id.py PRINT_VERSION LIBRARY BUILD_ID_PY ROOT
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDERS = ["compiler/cpu", "compiler/dialect", "templates/vocab"]


def build_id(script, root, tools, scratch):
    subprocess.run([sys.executable, script, scratch / "id.inc", scratch / "id.d", root, tools, *FOLDERS], check=True)
    return re.fullmatch(r'#define FW_BUILD_ID "([0-9a-f]{64})"\n', (scratch / "id.inc").read_text()).group(1)


def main():
    print_version, library, script, root = sys.argv[1:]
    text = subprocess.run([print_version, library], check=True, capture_output=True, text=True).stdout.strip()
    llvm, own = re.fullmatch(r"fw-cpu 2 (llvm \S+) ([0-9a-f]{64})", text).groups()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name in FOLDERS:
            shutil.copytree(Path(root) / name, scratch / name)
        known = build_id(script, scratch, llvm, scratch)
        assert own == known, f"expected the id of the sources, {known}, got {own}: build first"
        for edited in ["compiler/cpu/LowerKernels.cpp", "compiler/dialect/FuseOps.td", "templates/vocab/math.h"]:
            before = (scratch / edited).read_bytes()
            (scratch / edited).write_bytes(before + b"\n")
            assert build_id(script, scratch, llvm, scratch) != known, f"an edit of {edited} leaves the id as it was"
            (scratch / edited).write_bytes(before)
    print(text)


main()
