#!/usr/bin/env python3
"""Proves that each checker fails on a planted violation and passes on clean text."""
import argparse
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(Path(__file__).resolve().parent)]

import check_files  # noqa: E402
import check_layers  # noqa: E402
import docs  # noqa: E402
import exports  # noqa: E402
import handed_cases  # noqa: E402
import headers  # noqa: E402


class Tree(unittest.TestCase):
    """A temporary tree that a test plants files in."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Layers(Tree):
    def violations(self, name, text):
        self.plant(name, text)
        return list(check_layers.check(self.root))

    def assert_one(self, violations, *words):
        self.assertEqual(len(violations), 1, violations)
        for word in words:
            self.assertIn(word, violations[0])

    def test_jit_may_not_include_mlir(self):
        self.assert_one(self.violations("compiler/jit/Cache.cpp", '\n#include "mlir/IR/Builders.h"\n'),
                        "compiler/jit/Cache.cpp:2:", "mlir/IR/Builders.h")

    def test_jit_may_not_include_the_dialect(self):
        self.assert_one(self.violations("compiler/jit/Cache.h", '#include "compiler/dialect/Fuse.h"\n'), "compiler/dialect/Fuse.h")

    def test_parser_may_not_include_the_dialect_but_lowering_may(self):
        line = '#include "compiler/dialect/Fuse.h"\n'
        self.assertEqual(self.violations("compiler/language/Lowering.cpp", line + '#include "compiler/language/Ast.h"\n'), [])
        self.assert_one(self.violations("compiler/language/Parser.cpp", line), "compiler/language/Parser.cpp:1")

    def test_runtime_sees_the_compiler_in_api_alone(self):
        line = '#include "compiler/Compiler.h"\n'
        self.assertEqual(self.violations("runtime/api/Program.cpp", line), [])
        self.assert_one(self.violations("runtime/launch/Launch.cpp", line), "runtime/launch/Launch.cpp:1")

    def test_runtime_api_may_not_reach_behind_the_compiler(self):
        self.assert_one(self.violations("runtime/api/Op.cpp", '#include "compiler/passes/Pipeline.h"\n'), "Pipeline.h")

    def test_runtime_is_layered(self):
        layers = ["driver", "launch", "plan", "api"]
        for above, name in enumerate(layers):
            for below, other in enumerate(layers):
                found = self.violations(f"runtime/{name}/Planted.cpp", f'#include "runtime/{other}/Planted.h"\n')
                allowed = below <= above and (name, other) != ("launch", "driver")
                self.assertEqual(len(found), 0 if allowed else 1, f"{name} <- {other}: {found}")
            (self.root / f"runtime/{name}/Planted.cpp").unlink()

    def test_a_new_folder_of_the_runtime_needs_a_row(self):
        self.assert_one(self.violations("runtime/fresh/A.cpp", '#include "runtime/driver/Driver.h"\n'), "runtime/fresh/A.cpp:1")
        (self.root / "runtime/fresh/A.cpp").unlink()
        self.assert_one(self.violations("runtime/plan/B.cpp", '#include "runtime/fresh/A.h"\n'), "runtime/plan/B.cpp:1")

    def test_rooms_of_the_compiler_may_not_reach_up(self):
        self.assert_one(self.violations("compiler/jit/Cache.cpp", '#include "compiler/Builder.h"\n'), "compiler/Builder.h")

    def test_example_uses_the_public_header_alone(self):
        self.assertEqual(self.violations("examples/a/a.c", '#include <stdio.h>\n#include "fusewright/fusewright.h"\n'), [])
        self.assert_one(self.violations("examples/a/b.c", '#include "runtime/api/Context.h"\n'), "examples/a/b.c:1")

    def test_passes_read_no_files(self):
        self.assert_one(self.violations("compiler/passes/Fma.cpp", "#include <fstream>\n"), "plain value")

    def test_arch_number_outside_target(self):
        self.assert_one(self.violations("compiler/emit/Printer.cpp", 'auto a = "sm_90";\n'), "sm_90")
        self.assertEqual(len(self.violations("templates/elements/chunk.cuh", "#if __CUDA_ARCH__ >= 800\n")), 2)

    def test_arch_number_in_target_vocabulary_or_comment_passes(self):
        self.assertEqual(self.violations("compiler/target/archs.def", 'FW_ARCH(.name = "sm_90")\n'), [])
        self.assertEqual(self.violations("templates/vocab/load.h", "#if __CUDA_ARCH__ >= 800\n"), [])
        self.assertEqual(self.violations("compiler/emit/A.cpp", "// sm_90 was measured\n/* sm_80\n*/\n"), [])

    def test_width_list_outside_rules(self):
        for text in ("if (columns <= 4096) {}", "if (op.rowCount() == 3 && numRows() > 1024) {}", "if (8'192 >= columns) {}"):
            with self.subTest(text):
                self.assert_one(self.violations("compiler/passes/Schedule.cpp", text + "\n"), "Schedule.cpp:1", "rules")

    def test_small_bounds_and_rules_pass(self):
        self.assertEqual(self.violations("compiler/passes/Schedule.cpp", "if (rows > 32) {}\nif (bytes > 4096) {}\n"), [])
        self.assertEqual(self.violations("compiler/passes/rules/Row.cpp", "if (columns > 4096) {}\n"), [])


class Files(Tree):
    def test_each_planted_fault_is_named(self):
        home = "/".join(["", "home", "me", "x"])
        faults = {
            "a\tb\n": "tab", "a \n": "trailing space", "a": "newline at the end",
            f"see {home}\n": "path of a machine", "x\n" * 601: "at most 600 lines",
        }
        for text, word in faults.items():
            with self.subTest(word):
                violations = list(check_files.check_text("f.cpp", text))
                self.assertEqual(len(violations), 1, violations)
                self.assertIn(word, violations[0])

    def test_clean_text_passes(self):
        self.assertEqual(list(check_files.check_text("f.cpp", "x\n" * 600 + "")), [])

    def test_tree_without_git_is_searched(self):
        self.plant("src/a.cpp", "bad \n")
        self.plant("build/b.cpp", "bad \n")
        self.assertEqual([v.split(":")[0] for v in check_files.check(self.root)], ["src/a.cpp"])


class Format(Tree):
    def run_check(self, *arguments):
        command = [sys.executable, str(ROOT / "tools" / "check_format.py"), *arguments, str(self.root)]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode == 77:
            self.skipTest(run.stdout.strip())
        return run

    def test_planted_layout_fails_names_the_fix_and_is_fixed(self):
        shutil.copy(ROOT / ".clang-format", self.root)
        self.plant("a.cpp", "int  main( ){return 0 ;}\n")
        bad = self.run_check()
        self.assertEqual(bad.returncode, 1)
        self.assertIn("tools/check_format.py --fix", bad.stdout)
        self.assertIn("a.cpp:1", bad.stdout)
        self.assertEqual(self.run_check("--fix").returncode, 0)
        self.assertEqual(self.run_check().returncode, 0)


@unittest.skipUnless(shutil.which("cc") and shutil.which("c++"), "no cc and c++ on the path")
class Headers(Tree):
    COMPILERS = {"cc": ["cc"], "cxx": ["c++"]}

    def bad(self, text):
        self.plant("fusewright/a.h", text)
        return {name.split()[-1] for name, messages in headers.check(self.root, self.COMPILERS) if messages}

    def test_clean_header_passes(self):
        self.assertEqual(self.bad("#ifndef A_H\n#define A_H\n#include <stdint.h>\nuint32_t fw_a(void);\n#endif\n"), set())

    def test_missing_include_fails_everywhere(self):
        self.assertEqual(self.bad("#pragma once\nuint32_t fw_a(void);\n"), {"c99", "c17", "c++11", "c++20"})

    def test_c_plus_plus_in_the_header_fails_as_c(self):
        self.assertEqual(self.bad("#pragma once\nstruct fw_a { int x = 1; };\n"), {"c99", "c17"})

    def test_missing_guard_fails(self):
        self.assertIn("c99", self.bad("struct fw_a { int x; };\n"))


@unittest.skipUnless(shutil.which("cc") and shutil.which("nm"), "no cc and nm on the path")
class Exports(Tree):
    def library(self, text):
        source = self.plant("a.c", text)
        library = self.root / "a.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        return library

    def test_only_fw_symbols_pass(self):
        self.assertEqual(list(exports.check(self.library("int fw_a(void) { return 1; }\n"), 8)), [])

    def test_foreign_export_fails(self):
        errors = list(exports.check(self.library("int llvm_a(void) { return 1; }\n"), 0))
        self.assertEqual(len(errors), 1)
        self.assertIn("llvm_a", errors[0])

    def test_new_glibc_symbol_fails(self):
        text = "unsigned arc4random(void); unsigned fw_a(void) { return arc4random(); }\n"
        errors = list(exports.check(self.library(text), 0))
        self.assertTrue(any("arc4random" in error and "GLIBC_2.34" in error for error in errors), errors)

    def test_large_library_fails(self):
        errors = list(exports.check(self.library("char fw_a[3000000] = {1};\n"), 2))
        self.assertEqual(len(errors), 1)
        self.assertIn("at most 2 MB", errors[0])


@unittest.skipUnless(shutil.which("cc"), "no cc on the path")
class Docs(Tree):
    def bad(self, text, fusewright="true"):
        """Places in a README of `text` that do not work, with a verifier that says `fusewright`."""
        source = self.plant("a.c", "int fw_one(void) { return 1; }\n")
        library = self.root / "liba.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        self.plant("README.md", text)
        options = argparse.Namespace(root=self.root, fusewright=fusewright, cc="cc", library=str(library))
        return [place for place, message in docs.check(options, self.root) if message]

    def test_op_that_does_not_verify(self):
        text = "# A\n\n```fuse\nop x over elements {}\n```\n"
        self.assertEqual(self.bad(text), [])
        self.assertEqual(self.bad(text, fusewright="false"), ["README.md:4"])

    def test_program_that_does_not_compile_or_fails(self):
        program = "```c\nint fw_one(void);\nint main(void) {{ return {}; }}\n```\n"
        self.assertEqual(self.bad(program.format("fw_one() - 1")), [])
        self.assertEqual(self.bad(program.format("fw_one()")), ["README.md:2"])
        self.assertEqual(self.bad(program.format("fw_two()")), ["README.md:2"])

    def test_link_to_nowhere(self):
        self.assertEqual(self.bad("[a](a.c) [b](https://example.org) [c](#here) [d](none.md)\n"),
                         ["README.md: link to none.md"])


class HandedCases(Tree):
    def test_every_way_to_name_a_case(self):
        self.plant("a/One.cpp", "TEST(cases, case_A01_counts) {}\nTEST(case_A03, Keeps) {}\n// case_A05\n")
        self.plant("two.py", "class A:\n    def test_case_A07(self):\n")
        self.assertEqual(handed_cases.tested_ids(self.root), {"A01", "A03", "A07"})
        table = self.plant("cases.txt", "# step ids\n1  A01 A03\n2  A09  # later\n")
        self.assertEqual(handed_cases.wanted_ids(table), ["A01", "A03", "A09"])


if __name__ == "__main__":
    unittest.main()
