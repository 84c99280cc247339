#!/usr/bin/env python3
"""Checks what every text file of the tree must keep: no tab, no trailing space, a final newline, no
path of somebody's machine, no more than 600 lines. Prints one line per violation."""
import argparse
import re
import subprocess
import sys
from pathlib import Path

MAX_LINES = 600
SKIPPED_SUFFIXES = {".gz", ".png", ".svg", ".pdf", ".cubin", ".bin", ".patch"}
# Files whose bytes are not ours to change, by folder or file, with the reason.
FOREIGN = {
    "LICENSE": "the licence's own text",
    "examples/digits/data": "data as its source gives it",
    "bench/results": "written by programs",
    "tests/fuzz/corpus": "inputs that are wrong on purpose",
    "tests/emit/golden": "written by the printer",
    "docs/reference": "written by tools/reference_docs.py",
    "tests/language/mistakes": "messages as the compiler prints them, inputs that are wrong on purpose",
}
MACHINE_PATH = re.compile(r"(?<![\w.$}~])/(?:home|root|work|Users)/[A-Za-z.]")


def listed_by_git(root):
    command = ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
    run = subprocess.run(command, capture_output=True, text=True)
    return [name for name in run.stdout.split("\0") if name] if run.returncode == 0 else None


def project_files(root):
    """The files of the tree, sorted: what git tracks or would track, else all but build folders."""
    names = listed_by_git(root)
    if names is None:
        names = [path.relative_to(root).as_posix() for path in root.rglob("*")
                 if not re.match(r"build|\.git/", path.relative_to(root).as_posix())]
    return [path for path in (root / name for name in sorted(names)) if path.is_file() and not path.is_symlink()]


def is_foreign(name):
    return any(name == foreign or name.startswith(foreign + "/") for foreign in FOREIGN)


def check_text(name, text):
    """Yields `file:line: error: ...` for one file's text."""
    lines = text.split("\n")
    if text and lines[-1]:
        yield f"{name}:{len(lines)}: error: expected a newline at the end, got none; add it"
    if len(lines) - 1 > MAX_LINES:
        yield f"{name}:{MAX_LINES + 1}: error: expected at most {MAX_LINES} lines, got {len(lines) - 1}; split the file by topic"
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            yield f"{name}:{number}: error: expected spaces, got a tab; replace it"
        if line != line.rstrip():
            yield f"{name}:{number}: error: expected no trailing space, got some; remove it"
        path = MACHINE_PATH.search(line)
        if path:
            yield f"{name}:{number}: error: expected no path of a machine, got {path.group()}...; make it relative"


def check(root):
    for path in project_files(root):
        name = path.relative_to(root).as_posix()
        if path.suffix in SKIPPED_SUFFIXES or is_foreign(name):
            continue
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            yield f"{name}:1: error: expected UTF-8 text, got {error.reason}; re-encode it, or list it in tools/check_files.py"
            continue
        yield from check_text(name, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    violations = list(check(parser.parse_args().root))
    print("\n".join(violations + [f"{len(violations)} violations"]))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
