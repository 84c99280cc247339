#!/usr/bin/env python3
"""Checks the wheel that tools/wheel has put into dist/: its name, what it holds, and what its libraries ask for."""
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/checks"))

import exports  # noqa: E402

LIBRARIES = ("_C.abi3.so", "libfusewright.so.0", "libfusewright-cpu.so")
MAX_MB = {"_C.abi3.so": 0.2, "libfusewright.so.0": 9, "libfusewright-cpu.so": 50}


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = WHEEL
        cls.wheel = zipfile.ZipFile(cls.path)
        cls.folder = tempfile.TemporaryDirectory()
        cls.wheel.extractall(cls.folder.name)
        cls.root = Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.wheel.close()
        cls.folder.cleanup()

    def dist_info(self, name):
        return (self.root / f"fusewright-{self.version()}.dist-info" / name).read_text()

    def version(self):
        header = (ROOT / "runtime/include/fusewright/fusewright.h").read_text()
        return ".".join(re.search(rf"#define FW_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))

    def test_name(self):
        pattern = rf"fusewright-{re.escape(self.version())}-cp39-abi3-manylinux_2_34_(x86_64|aarch64)\.whl"
        self.assertRegex(self.path.name, f"^{pattern}$")
        tag = self.path.stem.split("-", 2)[2]
        self.assertIn(f"Tag: {tag}\n", self.dist_info("WHEEL") + "\n")
        self.assertIn("Root-Is-Purelib: false", self.dist_info("WHEEL"))

    def test_metadata(self):
        metadata = self.dist_info("METADATA")
        self.assertIn(f"\nVersion: {self.version()}\n", metadata)
        self.assertIn("\nRequires-Python: >=3.9\n", metadata)
        self.assertNotRegex(metadata, r"(?m)^Requires-Dist: torch(?!.*extra)")

    def test_holds_the_package_and_nothing_else(self):
        source = ROOT / "plugins/pytorch/src/fusewright"
        files = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
        held = {name.split("/", 1)[1] for name in self.wheel.namelist() if name.startswith("fusewright/")}
        self.assertEqual(held, files | set(LIBRARIES))
        others = [name for name in self.wheel.namelist() if not name.startswith(("fusewright/", f"fusewright-{self.version()}.dist-info/"))]
        self.assertEqual(others, [])

    def test_licences(self):
        names = " ".join(name for name in self.wheel.namelist() if ".dist-info/" in name)
        self.assertIn("LICENSE", names)
        self.assertIn("NOTICE", names)

    def test_exports_the_whole_c_api(self):
        header = (ROOT / "runtime/include/fusewright/fusewright.h").read_text()
        declared = set(re.findall(r"^FW_API [^(]*?(fw_\w+)\(", header, re.M))
        exported = {fields[-1].split("@")[0] for fields in exports.symbols(self.root / "fusewright/libfusewright.so.0", "--defined-only")}
        self.assertGreater(len(declared), 50)
        self.assertEqual(declared - exported, set())

    def test_symbols_are_old_enough(self):
        """The floor of the tag manylinux_2_34, and of libstdc++ that it goes with."""
        for name in LIBRARIES:
            self.assertEqual(list(exports.check_versions(self.root / "fusewright" / name)), [], name)

    def test_libraries_find_each_other_alone(self):
        """By $ORIGIN: a run path into somebody's build folder would be looked into on every machine."""
        for name in LIBRARIES:
            dynamic = subprocess.run(["readelf", "-d", str(self.root / "fusewright" / name)], capture_output=True, text=True, check=True).stdout
            paths = re.findall(r"(?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic)
            self.assertIn(paths, ([], ["$ORIGIN"]), name)
            needed = set(re.findall(r"\(NEEDED\).*\[(.*?)\]", dynamic))
            foreign = {library for library in needed if not re.match(r"(lib(c|m|dl|pthread|gcc_s|z|zstd)|ld-linux-.*|libfusewright)\.so", library)}
            self.assertEqual(foreign, set(), name)

    def test_sizes(self):
        sizes = {name: (self.root / "fusewright" / name).stat().st_size / 1e6 for name in LIBRARIES}
        print(", ".join(f"{name} {size:.2f} MB" for name, size in sizes.items()) + f"; wheel {self.path.stat().st_size / 1e6:.1f} MB")
        for name, size in sizes.items():
            self.assertLess(size, MAX_MB[name], name)


def only_wheel():
    wheels = sorted((ROOT / "dist").glob("fusewright-*.whl"))
    return wheels[0] if len(wheels) == 1 else None


if __name__ == "__main__":
    WHEEL = only_wheel()
    if WHEEL is None:
        print("skipped: there is no wheel in dist/; run tools/wheel")
        sys.exit(77)
    unittest.main()
