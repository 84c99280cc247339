#!/usr/bin/env python3
"""Compiles each public header alone, as C and as C++, with every pedantic warning an error."""
import argparse
import subprocess
import sys
from pathlib import Path

STRICT = ["-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
LANGUAGES = [("cc", "c", "c99"), ("cc", "c", "c17"), ("cxx", "c++", "c++11"), ("cxx", "c++", "c++20")]


def compile_alone(compiler, language, standard, header, include):
    """The compiler's messages, empty for a header that compiles alone."""
    source = f'#include "{header}"\n#include "{header}"\n'
    command = [*compiler, "-x", language, f"-std={standard}", *STRICT, f"-I{include}", "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True)
    return run.stderr if run.returncode else ""


def check(include, compilers):
    """Yields (what was tried, messages) for each header and language."""
    for path in sorted(include.rglob("*.h")):
        header = path.relative_to(include).as_posix()
        for key, language, standard in LANGUAGES:
            yield f"{header} as {standard}", compile_alone(compilers[key], language, standard, header, include)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("include", type=Path)
    parser.add_argument("--cc", default="cc", help="C compiler and its words, split at spaces")
    parser.add_argument("--cxx", default="c++")
    options = parser.parse_args()
    results = list(check(options.include, {"cc": options.cc.split(), "cxx": options.cxx.split()}))
    bad = [(name, messages) for name, messages in results if messages]
    for name, messages in bad:
        print(f"error: expected {name} to compile alone, got:\n{messages}")
    if not results:
        print(f"error: expected public headers in {options.include}, got none")
    print(f"{len(results) - len(bad)} of {len(results)} compiled")
    return 1 if bad or not results else 0


if __name__ == "__main__":
    sys.exit(main())
