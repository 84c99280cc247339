#!/usr/bin/env python3
"""`ops` and `show`, and what is said of op files."""
import os
import subprocess
from pathlib import Path

from cli import Cli, main, program, RMSPROP, SHIPPED


class Ops(Cli):
    def test_table_has_a_line_per_op(self):
        lines = self.run_cli("ops").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["op", *SHIPPED])
        self.assertIn("Adam with decoupled weight decay", self.run_cli("ops").stdout)

    def test_json(self):
        ops = self.json_of("ops")["ops"]
        self.assertEqual([op["op"] for op in ops], SHIPPED)
        for op in ops:
            self.assertRegex(op["hash"], r"^[0-9a-f]{64}$")
            self.assertGreater(op["profiles"], 0)

    def test_show_prints_equations_and_metadata(self):
        text = self.run_cli("show", "adamw").stdout
        for words in ("op adamw over elements {", "u = (m/c1) / (sqrt(s/c2) + eps)", "option decay = decoupled | l2",
                      "feature copy", "in [0, 1)", "grad=bf16"):
            self.assertIn(words, text)

    def test_show_json(self):
        shown = self.json_of("show", "adamw")
        self.assertEqual([operand["name"] for operand in shown["operands"]], ["p", "g", "m", "v"])
        scalars = {scalar["name"]: scalar for scalar in shown["scalars"]}
        self.assertIsNone(scalars["t"]["default"])
        self.assertEqual(scalars["beta1"], {"name": "beta1", "kind": "real", "default": 0.9, "range": "in [0, 1)"})
        self.assertTrue(shown["text"].endswith("}"))
        self.assertIn({"dtypes": {"grad": "bf16"}, "options": {}, "features": []}, shown["profiles"])

    def test_show_of_files(self):
        two = self.write("two.fuse", "op a over elements { in x; out y\n  y = 2*x\n}\n"
                                     "op b over elements { in x; out y\n  y = 3*x\n}\n")
        self.assertEqual(self.json_of("show", two + ":b")["text"],
                         "op b over elements { in x; out y\n  y = 3*x\n}")
        run = self.run_cli("show", two, code=2)
        self.assertIn("a", run.stderr)
        self.assertIn("b", run.stderr)


class OpFiles(Cli):
    def test_what_cannot_be_read_is_told(self):
        run = self.run_cli("show", "/proc/self/mem", code=2)
        self.assertEqual(run.stderr, "error: expected a readable op file, got '/proc/self/mem': Input/output error; "
                                     "name a text file that this user may read\n")
        (self.folder / "ops.d").mkdir()
        self.assertIn("got the folder 'ops.d'; shipped ops are ", self.run_cli("show", "ops.d", code=2).stderr)

    def test_a_missing_file_is_told_as_one(self):
        for name, path in (("mine.fuse", "mine.fuse"), ("mine.fuse:a", "mine.fuse"), ("ops/mine", "ops/mine")):
            self.assertEqual(self.run_cli("show", name, code=2).stderr,
                             f"error: expected a file, got none at '{path}'; name an op file that is there; "
                             "shipped ops have names without a path\n")

    def test_a_slip_in_a_name_is_recognised(self):
        for slip, meant in (("adamW", "adamw"), ("scal", "scale"), ("adamv", "adamw")):
            self.assertIn(f"got '{slip}'; did you mean '{meant}'; shipped ops are ",
                          self.run_cli("show", slip, code=2).stderr)
        self.assertNotIn("did you mean", self.run_cli("show", "muon_with_everything", code=2).stderr)

    def test_a_huge_file_is_not_read_to_its_end(self):
        with open(self.folder / "huge.fuse", "wb") as file:
            file.truncate(1 << 40)
        for endless in ("huge.fuse", "/dev/zero"):
            run = self.run_cli("show", endless, code=3)
            self.assertIn("expected at most 65536 bytes of op text, got more; split the file", run.stderr)

    def test_a_pipe_without_a_writer_is_refused(self):
        os.mkfifo(self.folder / "pipe")
        self.assertIn("got 'pipe': a pipe to which nobody writes; ", self.run_cli("show", "pipe", code=2).stderr)

    def test_bytes_that_are_no_utf8_are_replaced_in_json(self):
        text = b"# caf\xe9\nop x over elements {\n  param p; grad g  # \xff\n  p = p - g\n}\n"
        for name in (b"latin.fuse", b"latin\xe9.fuse"):
            (Path(os.fsdecode(os.fsencode(self.folder) + b"/" + name))).write_bytes(text)
            shown = self.json_of("show", os.fsdecode(name))
            self.assertEqual(shown["file"], name.decode(errors="replace"))
            self.assertIn("# \ufffd", shown["text"])
        folder = os.fsdecode(os.fsencode(self.folder) + b"/\xff")
        for command in (["cache", "info"], ["precompile", "--arch", "cpu", "--ops", "scale"]):
            self.json_of(*command, FUSEWRIGHT_CACHE_DIR=folder)

    def test_a_description_is_shown_whole(self):
        words = "word " * 60 + "end."
        mine = self.write("mine.fuse", f"# {words}\nop x over elements {{ in x; out y\n  y = 2*x\n}}\n")
        self.assertEqual(self.json_of("show", mine)["summary"], words)

    def test_many_ops_are_listed_in_part(self):
        mine = self.write("mine.fuse", "".join(f"op o{i} over elements {{ in x; out y; y = x }}\n" for i in range(1000)))
        self.assertIn("o38, o39 or one of 960 more\n", self.run_cli("show", mine, code=2).stderr)

    def test_a_pipe_is_a_file_too(self):
        run = subprocess.run([program(), "show", "/dev/stdin"], input=RMSPROP, capture_output=True, text=True,
                             env=self.environment())
        self.assertEqual(run.returncode, 0, run.stderr)


class OpErrors(Cli):
    def test_place_line_and_caret(self):
        bad = self.write("bad.fuse", "op bad over elements {\n  in x;  out y\n  y = x + nope\n}\n")
        for command in (["show", bad], ["verify", bad], ["emit", bad, "--stage", "semantic"],
                        ["precompile", "--arch", "cpu", "--ops", bad]):
            run = self.run_cli(*command, code=3)
            self.assertEqual(run.stdout, "")
            self.assertRegex(run.stderr, r"bad\.fuse:3:11: error: expected .*, got .*nope")
            self.assertIn("  y = x + nope\n", run.stderr)
            self.assertIn("^", run.stderr)

    def test_a_missing_brace_is_told_alone(self):
        bad = self.write("bad.fuse", "op bad over elements {\n  in x;  out y\n  y = x")
        error = self.run_cli("show", bad, code=3).stderr
        self.assertTrue(error.startswith("bad.fuse:3:8: error: expected '}', got the end of the file; "
                                         "close the '{' of line 1\n"), error)
        self.assertEqual(error.count("error: "), 1)

    def test_all_errors_of_a_file(self):
        bad = self.write("bad.fuse", "op bad over elements {\n  in x;  out y\n  a = foo(x)\n  y = bar(x)\n}\n")
        run = self.run_cli("show", bad, code=3)
        self.assertIn("bad.fuse:3:", run.stderr)
        self.assertIn("bad.fuse:4:", run.stderr)


if __name__ == "__main__":
    main()
