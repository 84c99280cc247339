#!/usr/bin/env python3
"""Writes FW_BUILD_ID, the hash of all that decides which code the compiler makes.

Usage: build_id.py OUTPUT DEPFILE ROOT TOOLS FOLDER...
TOOLS is a text naming the versions the build was configured with. Op files are not in FOLDER: the op hash
stands in the key beside this id, so an edit of one op does not drop the others.
"""
import hashlib
import sys
from pathlib import Path

SUFFIXES = {".cpp", ".h", ".def", ".td", ".cuh", ".py"}


def main():
    output, depfile, root, tools, *folders = sys.argv[1:]
    root = Path(root)
    inputs, watched = [], []
    for folder in folders:
        watched.append(root / folder)
        for path in sorted((root / folder).rglob("*")):
            if path.is_dir() and path.name != "__pycache__":
                watched.append(path)  # a new file changes its folder's time
            elif path.suffix in SUFFIXES:
                inputs.append(path)
    digest = hashlib.sha256(tools.encode())
    for path in inputs:
        data = path.read_bytes()
        digest.update(f"{path.relative_to(root)} {len(data)}\n".encode())
        digest.update(data)
    text = f'#define FW_BUILD_ID "{digest.hexdigest()}"\n'
    if not Path(output).exists() or Path(output).read_text() != text:
        Path(output).write_text(text)  # untouched when nothing changed, so nothing is rebuilt
    names = " ".join(str(path).replace(" ", "\\ ") for path in inputs + watched)
    Path(depfile).write_text(f"{output}: {names}\n")


main()
