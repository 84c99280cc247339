"""tools/lib/torch_stubs.py, on a library that is made up: it opens where the libraries that it names are gone."""
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent.parent / "tools/lib/torch_stubs.py"


def compile_library(folder, name, text, *options):
    source = folder / "source.c"
    source.write_text(text)
    subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", folder / name, source, f"-L{folder}", *options], check=True)


@pytest.fixture
def folder(tmp_path):
    """libtorch_cpu.so wants a function with a version of one library, one without of another, and one of the driver's."""
    versions = tmp_path / "versions"
    versions.write_text("libcudart.so.13 { global: cudaMade; };")
    compile_library(tmp_path, "libcudart.so.13", "int cudaMade(void) { return 0; }", f"-Wl,--version-script={versions}")
    compile_library(tmp_path, "libnccl.so.2", "int ncclMade(void) { return 0; }")
    compile_library(tmp_path, "libmine.so.1", "int mine(void) { return 7; }")
    compile_library(
        tmp_path, "libtorch_cpu.so",
        "int cudaMade(void); int ncclMade(void); int mine(void); int all(void) { return cudaMade() + 1000 * ncclMade() + 1000000 * mine(); }",
        "-l:libcudart.so.13", "-l:libnccl.so.2", "-l:libmine.so.1", "-Wl,-rpath,$ORIGIN")
    for gone in ("libcudart.so.13", "libnccl.so.2"):
        (tmp_path / gone).unlink()
    return tmp_path


def test_stubs(folder):
    run = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in run.stdout.splitlines()] == ["libcudart.so.13", "libnccl.so.2"]
    # In a process without torch, which may have libraries of these names.
    code = f"import ctypes; print(ctypes.CDLL({str(folder / 'libtorch_cpu.so')!r}).all())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "7100100\n"


def test_nothing_is_stubbed_twice(folder):
    subprocess.run([sys.executable, TOOL, folder], check=True, capture_output=True)
    assert subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=True).stdout == ""


def test_another_folder(tmp_path):
    run = subprocess.run([sys.executable, TOOL, tmp_path], capture_output=True, text=True)
    assert run.returncode == 2 and "libtorch_cpu.so" in run.stderr
