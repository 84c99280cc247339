#!/usr/bin/env python3
"""Checks who may include whom, and that arch numbers and size lists stay where they belong.

ROOMS is the whole truth about includes; ARCH_ALLOWED lists the files that may name an arch, each with
its reason. Prints one line per violation and exits with 1 when there is any.
"""
import argparse
import re
import sys
from pathlib import Path

STANDARD = ""  # <vector> and <stdint.h>: angle brackets without a folder; every room may use them

# Outside libraries by the first part of an include path.
LIBRARIES = {
    "mlir": "mlir", "mlir-c": "mlir", "llvm": "llvm", "llvm-c": "llvm", "nlohmann": "json",
    "CLI": "cli11", "nvtx3": "nvtx", "gtest": "gtest", "gmock": "gtest",
    "sys": STANDARD, "bits": STANDARD, "sanitizer": STANDARD,
}

# Tables of the dialect that need no MLIR.
DIALECT_TABLES = [f"compiler/dialect/{name}" for name in ("Dtypes.h", "dtypes.def", "int_dtypes.def", "ScheduleTable.h", "schedule.def", "facts.def")]

# Room -> what it may include beside itself and the standard library: rooms (a folder means everything
# below it, a file that file alone) and names of LIBRARIES. The longest matching room wins.
ROOMS = {
    "compiler/support": ["fusewright/status.def", "llvm"],
    "compiler/dialect": ["compiler/support", "mlir", "llvm"],
    "compiler/dialect/evaluator": ["compiler/support", "compiler/dialect", "templates/vocab", "mlir", "llvm"],
    # Text to syntax tree, checks and op hash are MLIR-free; only the lowering knows the dialect.
    "compiler/language": ["compiler/support", *DIALECT_TABLES, "llvm"],
    "compiler/language/Lowering": ["compiler/support", "compiler/dialect", "mlir", "llvm"],
    "compiler/target": ["compiler/support"],
    "compiler/passes": ["compiler/support", "compiler/dialect", "compiler/target", "mlir", "llvm"],
    "compiler/emit": ["compiler/support", "compiler/dialect", "compiler/target", "templates", "mlir", "llvm"],
    # The vocabulary's math.h is the one text of the element functions; the backend traces it.
    "compiler/cpu": ["compiler/support", "compiler/dialect", "templates/vocab", "mlir", "llvm"],
    # LLVM's support library (hashing, files, locks); launch.h is shared by host, NVRTC and emulator.
    "compiler/jit": ["compiler/support", "compiler/target", "templates/vocab", "llvm", "json"],
    # The driver that joins the rooms, Compiler.h.
    "compiler": ["compiler", "ops", "templates", "mlir", "llvm", "json"],
    "runtime/include": ["fusewright"],
    # A folder of the runtime needs a row of its own.
    "runtime": ["fusewright", "compiler/support"],
    "runtime/driver": ["compiler/support", "nvtx"],
    # The scalar program is a plain list that the host runs, or gives to a device to run.
    "runtime/launch": ["fusewright", "compiler/support", "compiler/jit/ScalarProgram.h", "templates/vocab", "llvm"],
    "runtime/plan": ["fusewright", "runtime/driver", "runtime/launch", "compiler/support", "compiler/jit/ScalarProgram.h",
                     "templates/vocab", "llvm"],
    "runtime/scaling": ["fusewright", "runtime/driver", "compiler/support"],
    # The compiler's own doors: compile, evaluate, the shipped ops.
    "runtime/api": ["fusewright", "runtime/driver", "runtime/launch", "runtime/plan", "runtime/scaling", "compiler/support",
                    "compiler/Compiler.h", "compiler/Reference.h", "ops/ShippedOps.h", *DIALECT_TABLES, "templates/vocab", "llvm"],
    "templates": ["templates/vocab"],
    # The table of embedded texts; everything else in the room is CUDA.
    "templates/Templates": ["compiler/support", "llvm"],
    "tests/emulator": ["templates", "compiler/support", "gtest"],
    "tests": ["compiler", "runtime", "fusewright", "templates", "ops", "tools", "mlir", "llvm", "json", "gtest", "cli11"],
    "tests/ranges": ["fusewright", "nvtx"],
    "tools": ["compiler", "runtime", "fusewright", "templates", "ops", "mlir", "llvm", "json", "cli11"],
    "examples": ["fusewright"],
    # Beside the C API, benchmarks time one room alone.
    "bench": ["fusewright", "compiler", "tests/cpu", "json"],
    "plugins": ["fusewright"],
}

# Rooms whose folders are rooms of their own: neither knows the other unless its row says so.
HOUSES = {"compiler", "runtime"}

# Rooms that must not read files or the environment themselves.
PURE_ROOMS = {"compiler/passes", "compiler/dialect", "compiler/target"}
IMPURE_INCLUDES = {"fstream", "filesystem", "unistd.h", "fcntl.h"}

# Files outside compiler/target that may name an arch. Tests, docs and scripts are not searched.
ARCH_ROOMS = ("compiler", "runtime", "templates", "ops", "plugins")
ARCH_ALLOWED = {
    "templates/vocab": "the vocabulary picks instructions by __CUDA_ARCH__ while NVRTC compiles it",
}
ARCH_NAME = re.compile(r"\b(?:sm|compute)_\d{2,}\w*|__CUDA_ARCH__\w*")

# A rule speaks of bytes and limits; lists of sizes live in passes/rules alone.
SIZE_ROOM, SIZE_ALLOWED, SIZE_LIMIT = "compiler/passes", "compiler/passes/rules", 32
SIZE_NAME = r"\b\w*(?:[rR]ows?|[cC]olumns?|[cC]ols)\b(?:\(\))?"
SIZE_COMPARED = [
    re.compile(SIZE_NAME + r"\s*(?:[<>]=?|[=!]=)\s*(\d[\d']*)"),
    re.compile(r"\b(\d[\d']*)[uUlL]*\s*(?:[<>]=?|[=!]=)\s*" + SIZE_NAME),
]

SOURCES = {".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".cuh", ".def", ".td", ".inc", ".fuse"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def room_of(path):
    """The room that a path relative to the root belongs to, or None."""
    matches = [room for room in ROOMS if path == room or path.startswith(room + "/") or
               (room.rsplit("/", 1)[-1][0].isupper() and path.startswith(room))]
    return max(matches, key=len, default=None)


def is_below(path, folder):
    return path == folder or path.startswith(folder + "/")


def may_include(room, included):
    """Whether a file of `room` may include the path `included`."""
    first = included.split("/")[0]
    if first in LIBRARIES:
        return LIBRARIES[first] == STANDARD or LIBRARIES[first] in ROOMS[room]
    if "/" not in included:
        return True
    own_room = room_of(included)
    if own_room == room or (own_room and is_below(own_room, room) and room not in HOUSES):
        return True
    # A generated table is included beside the table's room: compiler/dialect/FuseOps.h.inc.
    if any(is_below(included, allowed) for allowed in ROOMS[room]):
        return True
    # The lowering sits in the language room and may use its headers.
    return bool(own_room) and own_room not in HOUSES and room.startswith(own_room + "/")


def without_comments(text):
    return COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text)


def check_includes(path, text):
    room = room_of(path)
    if room is None:
        return
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match.group(1) or match.group(2)
        if not may_include(room, included):
            allowed = ", ".join(ROOMS[room]) or "the standard library alone"
            yield (f"{path}:{number}: error: expected {room} to include only {allowed}, got {included}; "
                   f"use a header of an allowed room, or change ROOMS in tools/check_layers.py with a reason")
        elif included in IMPURE_INCLUDES and any(is_below(path, pure) for pure in PURE_ROOMS):
            yield (f"{path}:{number}: error: expected {room} to be pure, got {included}; "
                   f"take the contents as a plain value")


def check_arch_numbers(path, text):
    if path.split("/")[0] not in ARCH_ROOMS or is_below(path, "compiler/target"):
        return
    if any(is_below(path, allowed) for allowed in ARCH_ALLOWED):
        return
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        match = ARCH_NAME.search(line)
        if match:
            yield (f"{path}:{number}: error: expected a question to compiler/target, got {match.group()}; "
                   f"use has(feature) or limit(name)")


def check_sizes(path, text):
    if not is_below(path, SIZE_ROOM) or is_below(path, SIZE_ALLOWED):
        return
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        for pattern in SIZE_COMPARED:
            match = pattern.search(line)
            if match and int(match.group(1).replace("'", "")) > SIZE_LIMIT:
                yield (f"{path}:{number}: error: expected a rule over row bytes and limits, got `{match.group().strip()}`; "
                       f"move the decision to {SIZE_ALLOWED}")


CHECKS = [check_includes, check_arch_numbers, check_sizes]


def source_files(root):
    """Every source below the root's rooms, in a fixed order."""
    tops = sorted({room.split("/")[0] for room in ROOMS} | set(ARCH_ROOMS))
    for top in tops:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                yield path


def check(root):
    for path in source_files(root):
        text = path.read_text(encoding="utf-8", errors="replace")
        for one_check in CHECKS:
            yield from one_check(path.relative_to(root).as_posix(), text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    violations = list(check(parser.parse_args().root))
    print("\n".join(violations + [f"{len(violations)} violations"]))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
