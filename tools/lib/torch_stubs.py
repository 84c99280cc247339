#!/usr/bin/env python3
"""Makes a CUDA build of torch importable where no CUDA library is installed.

torch's libraries name about 15 CUDA libraries that the loader must find; on a machine without a GPU
nothing calls them. For each one that torch does not bring, a library with the same name, the same
version nodes and the wanted functions is put into torch's own folder. Every function returns 100,
which is cudaErrorNoDevice. libcuda.so.1 gets no stub: torch and Fusewright ask it whether there is a
driver. Never run this where torch is to use a GPU.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# NVIDIA's libraries, but for the driver's.
STUBBED = re.compile(r"lib(cu|nv|nccl)(?!da\.so)")
# Functions of CUDA libraries that are wanted without a version, so of no library by name.
UNVERSIONED = re.compile(r"(cu[A-Z]|cu(da|blas|dnn|fft|rand|solver|sparse|file|pti)|_*cuda|nccl|nvrtc|nvtx|nvJit|nvshmem|nvml)")
NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
VERSION_FILE = re.compile(r"Version: \d+\s+File: (\S+)")
VERSION_NODE = re.compile(r"Name: (\S+)\s+Flags: ")


def readelf(option, library):
    return subprocess.run(["readelf", "-W", option, str(library)], capture_output=True, text=True, check=True).stdout


class Wanted:
    """What the libraries of a folder want of libraries that are not there."""

    def __init__(self, folder):
        self.users = defaultdict(set)      # missing library -> who needs it
        self.nodes = defaultdict(set)      # missing library -> its version nodes
        self.functions = defaultdict(set)  # version node; "": none -> functions
        defined = set()
        for library in sorted(path for path in folder.glob("*.so*") if path.is_file()):
            self._read_needs(library, folder)
            defined |= self._read_symbols(library)
        self.functions[""] = {name for name in self.functions[""] - defined if UNVERSIONED.match(name)}

    def _read_needs(self, library, folder):
        missing = [name for name in NEEDED.findall(readelf("-d", library))
                   if STUBBED.match(name) and not (folder / name).exists()]
        for name in missing:
            self.users[name].add(library.name)
        file = ""
        for line in readelf("-V", library).splitlines():
            if match := VERSION_FILE.search(line):
                file = match[1]
            elif (match := VERSION_NODE.search(line)) and file in missing:
                self.nodes[file].add(match[1])

    def _read_symbols(self, library):
        """Notes the undefined functions; returns the names that the library defines."""
        defined = set()
        for fields in map(str.split, readelf("--dyn-syms", library).splitlines()):
            if len(fields) < 8 or fields[4] not in ("GLOBAL", "WEAK"):
                continue
            name, _, node = fields[7].partition("@")
            if fields[6] != "UND":
                defined.add(name)
            elif fields[4] == "GLOBAL":
                self.functions[node.lstrip("@")].add(name)
        return defined


def version_script(nodes):
    return "".join(f"{node} {{ global: {' '.join(name + ';' for name in sorted(names))} }};\n" for node, names in nodes.items())


def write_stub(name, wanted, folder):
    """Returns the number of functions. Functions without a version go into every stub."""
    nodes = {node: wanted.functions[node] for node in sorted(wanted.nodes[name])}
    functions = set().union(wanted.functions[""], *nodes.values())
    with tempfile.TemporaryDirectory() as temporary:
        source, script = Path(temporary, "stub.c"), Path(temporary, "stub.map")
        source.write_text("".join(f"int {function}(void) {{ return 100; }}\n" for function in sorted(functions)))
        script.write_text(version_script(nodes))
        command = ["cc", "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{name}", "-o", folder / name, source]
        subprocess.run(command + ([f"-Wl,--version-script={script}"] if nodes else []), check=True)
    return len(functions)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder torch/lib of the installed package")
    folder = parser.parse_args().folder
    if not (folder / "libtorch_cpu.so").exists():
        print(f"error: expected the folder torch/lib, got {folder}; it has no libtorch_cpu.so", file=sys.stderr)
        return 2
    wanted = Wanted(folder)
    for name in sorted(wanted.users):
        count = write_stub(name, wanted, folder)
        print(f"  {name:28} {count:4} functions, for {', '.join(sorted(wanted.users[name]))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
