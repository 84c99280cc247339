#!/usr/bin/env python3
"""Runs the code blocks of the documentation: ```fuse is verified, ```fuse semantic is lowered to the
semantic level, ```c is compiled as C99 and run, and every relative link leads to a file.

usage: docs.py ROOT --fusewright CLI --cc "clang" --library libfusewright.so
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FENCE = re.compile(r"^```([\w ]*)[^\n]*\n(.*?)^```$", re.M | re.S)
CODE = re.compile(r"```.*?```|`[^`]*`", re.S)  # brackets in code are no links
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")


def documents(root):
    return [root / "README.md", *sorted((root / "docs").rglob("*.md")),
            *sorted((root / "examples").rglob("*.md"))]


def blocks(text, language):
    """Yields (line of the block's first line, block)."""
    for match in FENCE.finditer(text):
        if match.group(1).strip() == language:
            yield text.count("\n", 0, match.start()) + 2, match.group(2)


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    return "" if result.returncode == 0 else f"exit status {result.returncode}\n{result.stdout}{result.stderr}"


def verify_op(text, options, folder):
    source = folder / "block.fuse"
    source.write_text(text)
    return run([options.fusewright, "verify", str(source)])


def lower_op(text, options, folder):
    """No backend compiles these yet."""
    source = folder / "block.fuse"
    source.write_text(text)
    name = re.findall(r"^op (\w+)", text, re.M)[-1]
    return run([options.fusewright, "emit", f"{source}:{name}", "--stage", "semantic"])


def run_c(text, options, folder):
    source, program = folder / "block.c", folder / "block"
    source.write_text(text)
    library = Path(options.library).resolve()
    message = run([*options.cc.split(), "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{options.root}/runtime/include",
                   "-o", str(program), str(source), str(library), f"-Wl,-rpath,{library.parent}", "-lm"])
    return message or run([str(program)], cwd=folder)


LANGUAGES = {"fuse": verify_op, "fuse semantic": lower_op, "c": run_c}


def check(options, folder):
    """Yields (place, message); an empty message is a success."""
    for path in documents(options.root):
        name, text = path.relative_to(options.root).as_posix(), path.read_text(encoding="utf-8")
        for target in LINK.findall(CODE.sub("", text)):
            found = (path.parent / target).exists()
            yield f"{name}: link to {target}", "" if found else "no such file"
        for language, try_block in LANGUAGES.items():
            for line, block in blocks(text, language):
                yield f"{name}:{line}", try_block(block, options, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--fusewright", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--library", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FUSEWRIGHT_CACHE_DIR"] = folder
        results = list(check(options, Path(folder)))
    bad = [(place, message) for place, message in results if message]
    for place, message in bad:
        print(f"{place}: error: expected it to work, got {message}")
    print(f"{len(results) - len(bad)} of {len(results)} blocks and links are right")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
