#!/usr/bin/env python3
"""The command line: each command, its exit codes, its JSON and the words of its errors.

usage: test_cli.py FUSEWRIGHT [unittest arguments]
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

CLI = None

# Ten lines that are not shipped.
RMSPROP = """# RMSProp with momentum. Tieleman & Hinton 2012, lecture 6.5.
op rmsprop over elements {
  param p;  grad g;  state v = 0, b = 0
  hyper lr = 1e-3 >= 0, alpha = 0.99 in [0, 1), momentum = 0.5 in [0, 1), eps = 1e-8 > 0
  v = alpha*v + (1 - alpha)*g^2          # E1
  b = momentum*b + g/(sqrt(v) + eps)     # E2
  p = p - lr*b                           # E3
}
"""
# Every op is the only one of its file.
SHIPPED = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "ops").rglob("*.fuse"))


class Cli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cache = self.folder / "cache"

    def environment(self, **settings):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FUSEWRIGHT_")}
        for name in ("FUSEWRIGHT_NVRTC", "FUSEWRIGHT_CPU_LIBRARY"):
            if name in os.environ:
                kept[name] = os.environ[name]
        return {**kept, "FUSEWRIGHT_CACHE_DIR": str(self.cache), **settings}

    def run_cli(self, *arguments, code=0, **settings):
        run = subprocess.run([CLI, *arguments], capture_output=True, text=True, env=self.environment(**settings),
                             cwd=self.folder)
        self.assertEqual(run.returncode, code, f"{arguments}\n{run.stdout}{run.stderr}")
        return run

    def json_of(self, *arguments, code=0, **settings):
        return json.loads(self.run_cli(*arguments, "--json", code=code, **settings).stdout)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def need_nvrtc(self):
        parts = json.loads(subprocess.run([CLI, "doctor", "--json"], capture_output=True, text=True,
                                          env=self.environment()).stdout)["parts"]
        if not parts[0]["ok"]:
            self.skipTest("NVRTC is not here: " + parts[0]["problem"])
        return parts[0]["facts"]["archs"]


class Usage(Cli):
    def test_help_names_commands_settings_and_exit_codes(self):
        text = self.run_cli("--help").stdout
        for word in ("ops", "show", "emit", "precompile", "verify", "cache", "doctor", "FUSEWRIGHT_CACHE_DIR",
                     "FUSEWRIGHT_NUM_THREADS", "3  an op file has an error"):
            self.assertIn(word, text)

    def test_help_of_every_command(self):
        for command in ("ops", "show", "emit", "precompile", "verify", "doctor"):
            self.assertIn(command, self.run_cli(command, "--help").stdout)
        self.assertIn("--schedule", self.run_cli("emit", "--help").stdout)

    def test_version(self):
        self.assertRegex(self.run_cli("--version").stdout, r"^fusewright \d+\.\d+\.\d+\n$")

    def test_wrong_usage_is_2_and_keeps_stdout_clean(self):
        for arguments in ([], ["bake"], ["emit", "adamw"], ["show"], ["precompile"], ["cache", "burn"],
                          ["ops", "--jsn"], ["verify", "adamw", "--seed", "x"]):
            run = self.run_cli(*arguments, code=2)
            self.assertEqual(run.stdout, "")
            self.assertNotEqual(run.stderr, "")

    def test_an_unknown_command_is_named_with_those_there_are(self):
        commands = "ops, show, emit, precompile, verify, cache, doctor"
        for arguments, words in (
                (["bogus"], f"error: expected a command of fusewright, got 'bogus'; use one of {commands}\n"),
                ([], f"error: expected a command of fusewright, got none; use one of {commands}\n"),
                (["cache", "prune"], "error: expected a command of cache, got 'prune'; use one of ls, info\n"),
                (["cache"], "error: expected a command of cache, got none; use one of ls, info\n")):
            self.assertEqual(self.run_cli(*arguments, code=2).stderr, words)

    def test_numbers_neither_wrap_nor_saturate(self):
        for arguments in (["verify", "scale", "--seed"], ["precompile", "--arch", "cpu", "--jobs"]):
            for number in ("-1", "99999999999999999999999", "1.5", "1e3", ""):
                run = self.run_cli(*arguments, number, code=2)
                self.assertIn(f"{arguments[-1]}: expected a whole number from 0 to ", run.stderr)

    def test_output_that_is_lost_is_an_error(self):
        for arguments in (["ops"], ["--version"], ["--help"], ["cache", "info", "--json"],
                          ["emit", "adamw", "--stage", "phases"]):
            for redirect in (">/dev/full", ">&-"):
                run = subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirect}', CLI, *arguments],
                                     capture_output=True, text=True, env=self.environment())
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertIn("error: expected stdout to take the output, got a write error; ", run.stderr)

    def test_a_closed_stdout_is_given_to_no_file_of_the_cache(self):
        subprocess.run(["sh", "-c", 'exec "$0" "$@" >&- 2>&-', CLI, "precompile", "--arch", "cpu", "--ops", "scale"],
                       env=self.environment())
        self.assertNotIn("unreadable", self.run_cli("cache", "ls").stdout)
        self.assertIn("cached", self.run_cli("precompile", "--arch", "cpu", "--ops", "scale").stdout)

    def test_wrong_setting_is_2(self):
        run = self.run_cli("ops", code=2, FUSEWRIGHT_STRICT="maybe")
        self.assertIn("FUSEWRIGHT_STRICT", run.stderr)
        self.assertIn("maybe", run.stderr)

    def test_wrong_flag_values(self):
        for arguments, words in (
                (["emit", "adamw", "--stage", "sass"],
                 "error: expected a stage, got 'sass'; use one of semantic, phases, cuda, ptx, llvm"),
                (["emit", "adamw", "--stage", "semantic", "--dtype", "grad"],
                 "error: --dtype: expected KEY=VALUE, got 'grad'"),
                (["emit", "adamw", "--stage", "phases", "--schedule", "vec=x"],
                 "error: --schedule: expected vec=N, got 'x'"),
                (["emit", "adamx", "--stage", "cuda"],
                 "error: expected a shipped op, a file or file:name, got 'adamx'; shipped ops are " + ", ".join(SHIPPED)),
                (["emit", "adamw", "--stage", "cuda", "--arch", "sm_1"], "got 'sm_1'"),
                (["emit", "adamw", "--stage", "cuda", "--dtype", "grad=f32,grad=bf16"],
                 "error: --dtype: expected one value for 'grad', got 'f32' and 'bf16'; name it once"),
                (["emit", "adamw", "--stage", "cuda", "--option", "amsgrad=true", "--option", "amsgrad=false"],
                 "error: --option: expected one value for 'amsgrad', got 'true' and 'false'; name it once"),
                (["emit", "adamw", "--stage", "semantic", "--option", "amsgrad=perhaps"], "perhaps"),
                (["emit", "adamw", "--stage", "semantic", "--feature", "magic"], "magic"),
                (["emit", "adamw", "--stage", "semantic", "--dtype", "grad=f33"], "f33")):
            self.assertIn(words, self.run_cli(*arguments, code=2).stderr)


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

    def test_a_huge_file_is_not_read_to_its_end(self):
        with open(self.folder / "huge.fuse", "wb") as file:
            file.truncate(1 << 40)
        for endless in ("huge.fuse", "/dev/zero"):
            run = self.run_cli("show", endless, code=3)
            self.assertIn("expected at most 65536 bytes of op text, got more; split the file", run.stderr)

    def test_a_pipe_is_a_file_too(self):
        run = subprocess.run([CLI, "show", "/dev/stdin"], input=RMSPROP, capture_output=True, text=True,
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

    def test_all_errors_of_a_file(self):
        bad = self.write("bad.fuse", "op bad over elements {\n  in x;  out y\n  a = foo(x)\n  y = bar(x)\n}\n")
        run = self.run_cli("show", bad, code=3)
        self.assertIn("bad.fuse:3:", run.stderr)
        self.assertIn("bad.fuse:4:", run.stderr)


class Emit(Cli):
    def test_stages_of_the_cpu(self):
        self.assertIn("fuse.op @adamw", self.run_cli("emit", "adamw", "--stage", "semantic").stdout)
        self.assertIn("fuse.each", self.run_cli("emit", "adamw", "--stage", "phases").stdout)
        self.assertIn("define", self.run_cli("emit", "adamw", "--stage", "llvm").stdout)

    def test_cuda_text_needs_no_nvrtc(self):
        text = self.run_cli("emit", "adamw", "--stage", "cuda", "--arch", "sm_90", "--dtype", "grad=bf16",
                            FUSEWRIGHT_NVRTC="/nowhere/libnvrtc.so").stdout
        self.assertIn("__global__", text)
        self.assertIn("E4", text)

    def test_decisions_can_be_set(self):
        text = self.run_cli("emit", "adamw", "--stage", "phases", "--arch", "sm_90", "--schedule", "threads=256").stdout
        self.assertIn("threads = 256", text)

    def test_stage_and_target_must_fit(self):
        self.assertIn("`fusewright doctor` lists them", self.run_cli("emit", "adamw", "--stage", "cuda", code=2).stderr)
        self.assertIn("leave the arch out", self.run_cli("emit", "adamw", "--stage", "llvm", "--arch", "sm_90", code=2).stderr)

    def test_strict_mode_compiles_no_ptx(self):
        run = self.run_cli("emit", "scale", "--stage", "ptx", "--arch", "sm_90", code=6, FUSEWRIGHT_STRICT="1")
        self.assertIn("ask for the stage cuda, or leave strict mode", run.stderr)
        self.run_cli("emit", "scale", "--stage", "cuda", "--arch", "sm_90", FUSEWRIGHT_STRICT="1")

    def test_ptx(self):
        self.need_nvrtc()
        self.assertIn(".entry", self.run_cli("emit", "scale", "--stage", "ptx", "--arch", "sm_90").stdout)


class Dump(Cli):
    def stages(self, folder):
        """{symbol and key: its stages}"""
        files = {}
        for path in folder.iterdir():
            stem, _, stage = path.name.partition(".")
            files.setdefault(stem, set()).add(stage)
        return files

    def test_every_stage_of_every_program(self):
        self.need_nvrtc()
        folder = self.folder / "dump"
        for option in ("false", "true"):
            self.run_cli("precompile", "--arch", "cpu,sm_90", "--ops", "adamw", "--option", f"amsgrad={option}",
                         FUSEWRIGHT_DUMP=str(folder))
        self.run_cli("precompile", "--arch", "cpu", "--ops", "adamw", "--option", "decay=l2",
                     FUSEWRIGHT_DUMP=str(folder))
        common = {"request", "semantic.mlir", "contracted.mlir", "phases.mlir"}
        stages = list(self.stages(folder).values())
        self.assertEqual(stages.count(common | {"ll"}), 3)
        self.assertEqual(stages.count(common | {"schedule.mlir", "cu", "ptx"}), 2)
        self.assertEqual(len(stages), 5)

    def test_a_folder_that_cannot_be_written_is_one_warning(self):
        file = self.write("file", "")
        run = self.run_cli("precompile", "--arch", "cpu", "--ops", "scale,sgd", FUSEWRIGHT_DUMP=str(self.folder / file))
        self.assertEqual(run.stderr.count("FUSEWRIGHT_DUMP"), 1, run.stderr)

    def test_many_operands_have_short_names(self):
        names = [f"operand_number_{i}" for i in range(120)]
        wide = self.write("wide.fuse", f"op wide over elements {{\n  in {', '.join(names)};  out y\n"
                                       f"  y = {' + '.join(names)}\n}}\n")
        folder = self.folder / "dump"
        self.run_cli("precompile", "--arch", "cpu", "--ops", wide, "--dtype", "in=f32", FUSEWRIGHT_DUMP=str(folder))
        (stem, _), = self.stages(folder).items()
        self.assertLessEqual(len(stem), 200)


class Precompile(Cli):
    KEYS = {"op", "arch", "dtypes", "registers", "spill_bytes", "cubin_bytes", "ms", "status"}

    def test_rows_and_second_run(self):
        self.need_nvrtc()
        arguments = ("precompile", "--arch", "sm_80,sm_90", "--ops", "sgd,scale", "--jobs", "2")
        kernels = self.json_of(*arguments)["kernels"]
        self.assertEqual({kernel["arch"] for kernel in kernels}, {"sm_80", "sm_90"})
        for kernel in kernels:
            self.assertLessEqual(self.KEYS, set(kernel))
            self.assertEqual((kernel["status"], kernel["spill_bytes"]), ("compiled", 0))
            self.assertGreater(kernel["registers"], 0)
            self.assertGreater(kernel["cubin_bytes"], 0)
        again = self.json_of(*arguments)["kernels"]
        self.assertEqual({kernel["status"] for kernel in again}, {"cached"})
        self.assertEqual([kernel["registers"] for kernel in again], [kernel["registers"] for kernel in kernels])

    def test_table(self):
        self.need_nvrtc()
        run = self.run_cli("precompile", "--arch", "sm_90", "--ops", "lion", "--dtype", "grad=bf16")
        header, row, scalars = run.stdout.splitlines()
        self.assertEqual(header.split("  ")[0], "kernel")
        self.assertRegex(row, r"^fw_lion\S* +sm_90 .* 0 +\d+ +[\d.]+ +compiled$")
        self.assertRegex(scalars, r"^fw_scalars +sm_90 .* 0 +\d+ +[\d.]+ +compiled$")
        self.assertIn("2 programs for 1 arch: 2 compiled, 0 cached, 0 failed", run.stderr)

    def test_missing_nvrtc_is_5_with_the_remedy(self):
        run = self.run_cli("precompile", "--arch", "sm_90", "--ops", "scale", "--dtype", "in=f32", code=5,
                           FUSEWRIGHT_NVRTC="/nowhere/libnvrtc.so")
        self.assertIn("/nowhere/libnvrtc.so", run.stderr)
        self.assertIn("FUSEWRIGHT_NVRTC", run.stderr)

    def test_strict_miss_is_6(self):
        run = self.run_cli("precompile", "--arch", "cpu", "--ops", "scale", "--dtype", "in=f32", code=6,
                           FUSEWRIGHT_STRICT="1")
        self.assertIn("strict mode", run.stderr)

    def test_what_is_not_stored_is_7(self):
        file = self.write("file", "")
        for words, settings in (
                ("there is no cache folder that can be used", {"FUSEWRIGHT_CACHE_DIR": str(self.folder / file)}),
                ("FUSEWRIGHT_CACHE_SIZE=0 keeps nothing on disk", {"FUSEWRIGHT_CACHE_SIZE": "0"}),
                ("holds at most 4000 bytes, so that entries made now were removed again",
                 {"FUSEWRIGHT_CACHE_SIZE": "4000"})):
            run = self.run_cli("precompile", "--arch", "cpu", "--ops", "scale", code=7, **settings)
            self.assertIn(" not stored\n", run.stdout)
            self.assertRegex(run.stderr, "error: expected every program in the cache, got [1-9] that are not stored: .*"
                             + words)

    def test_a_record_whose_kernels_are_gone_is_a_miss(self):
        arguments = ("precompile", "--arch", "cpu", "--ops", "scale", "--dtype", "in=f32")
        self.run_cli(*arguments)
        for path in (self.cache / "objects").iterdir():
            path.unlink()
        self.assertEqual(self.json_of(*arguments)["kernels"][0]["status"], "compiled")
        self.assertEqual(self.json_of(*arguments)["kernels"][0]["status"], "cached")

    def test_names_are_united(self):
        rows = self.json_of("precompile", "--arch", "cpu,cpu", "--ops", "scale,scale", "--dtype", "in=f32,in=f32")
        self.assertEqual(len(rows["kernels"]), 1)
        every = self.json_of("precompile", "--arch", "cpu", "--ops", "all")["kernels"]
        self.assertEqual(len(self.json_of("precompile", "--arch", "cpu", "--ops", "scale,all")["kernels"]), len(every))

    def test_all_and_an_arch_are_united(self):
        archs = self.need_nvrtc()
        rows = self.json_of("precompile", "--arch", f"{archs[-1]},all,cpu", "--ops", "scale", "--dtype", "in=f32")
        self.assertEqual([(row["op"], row["arch"]) for row in rows["kernels"]],
                         [("scale", arch) for arch in (archs[-1], *archs[:-1], "cpu")] +
                         [("scalars", arch) for arch in (archs[-1], *archs[:-1])])

    def test_an_unknown_arch_is_one_error(self):
        for arch in ("", "sm_1", "cpu,sm_1"):
            run = self.run_cli("precompile", "--arch", arch, "--ops", "scale,sgd", code=2)
            self.assertEqual((run.stdout, run.stderr.count("error: ")), ("", 1))

    def test_a_missing_cpu_library_is_told_once(self):
        run = self.run_cli("precompile", "--arch", "cpu", "--ops", "scale", code=5,
                           FUSEWRIGHT_CPU_LIBRARY="/nowhere/libfusewright-cpu.so")
        self.assertEqual(run.stderr.count("set FUSEWRIGHT_CPU_LIBRARY to its path"), 1)
        self.assertRegex(run.stderr, "scale for cpu and [0-9]+ more: error: ")

    def test_cpu_objects(self):
        kernels = self.json_of("precompile", "--arch", "cpu", "--ops", "sgd")["kernels"]
        self.assertEqual({kernel["status"] for kernel in kernels}, {"compiled"})
        self.assertEqual({kernel["registers"] for kernel in kernels}, {-1})

    def test_interrupt_leaves_a_sound_cache(self):
        self.need_nvrtc()
        for number in (signal.SIGINT, signal.SIGKILL):
            process = subprocess.Popen([CLI, "precompile", "--arch", "sm_90", "--ops", "adamw,adam"],
                                       env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.7)
            process.send_signal(number)
            process.wait()
        run = self.run_cli("precompile", "--arch", "sm_90", "--ops", "adamw,adam")
        self.assertIn(", 0 failed", run.stderr)
        self.assertNotIn("damaged", run.stderr)
        self.assertNotIn("unreadable", self.run_cli("cache", "ls").stdout)


class UserOp(Cli):
    """A ten-line optimizer in a file: from text to verified and precompiled kernels, without a rebuild."""

    def test_verify(self):
        run = self.run_cli("verify", self.write("rmsprop.fuse", RMSPROP))
        self.assertIn("verified", run.stderr)
        self.assertGreater(run.stdout.count(" ok"), 5)
        self.assertNotIn("FAILED", run.stdout)

    def test_precompile_for_all_archs(self):
        archs = self.need_nvrtc()
        kernels = self.json_of("precompile", "--arch", "all", "--ops", self.write("rmsprop.fuse", RMSPROP))["kernels"]
        self.assertEqual(sorted({kernel["arch"] for kernel in kernels}), sorted(archs))
        self.assertEqual({(kernel["status"], kernel["spill_bytes"]) for kernel in kernels}, {("compiled", 0)})

    def test_a_shipped_name_shadows_nothing(self):
        mine = self.write("mine.fuse", "op scale over elements { in x; out y\n  y = 2*x\n}\n")
        self.assertNotEqual(self.json_of("show", mine)["hash"], self.json_of("show", "scale")["hash"])
        self.assertIn("hyper", self.json_of("show", "scale")["text"])

    def test_a_bool_hyper(self):
        mine = self.write("mine.fuse", "op mine over elements { in x; out y; hyper on : bool = true, off : bool\n"
                                       "  y = if on and not off then 2*x else x\n}\n")
        rows = [row.split() for row in self.run_cli("show", mine).stdout.splitlines()]
        self.assertIn(["on", "bool", "true"], rows)
        self.assertIn(["off", "bool", "-"], rows)
        self.assertEqual([(s["kind"], s["default"]) for s in self.json_of("show", mine)["scalars"]],
                         [("bool", True), ("bool", None)])
        self.assertIn("verified", self.run_cli("verify", mine).stderr)


class Verify(Cli):
    def test_a_shipped_op(self):
        verified = self.json_of("verify", "sgd")
        self.assertEqual(verified["backend"], "cpu")
        for program in verified["verified"]:
            self.assertTrue(program["ok"], program)
            self.assertGreater(program["elements"], 10000)
            for output in program["outputs"]:
                self.assertLessEqual(output["ratio"], 1)
                self.assertLessEqual({"case", "case_seed", "tensor", "element"}, set(output))

    def test_a_list_is_long_enough_for_several_threads(self):
        # Threads share what moves more than 256 KiB; an element of this op moves 2 bytes.
        program, = self.json_of("verify", "cast", "--dtype", "x=e4m3fn,y=e4m3fn")["verified"]
        self.assertGreater(program["elements"] * 2, 256 * 1024)

    def test_the_lists_follow_the_schedule(self):
        def elements(*schedule):
            return self.json_of("verify", "scale", "--dtype", "in=f32", *schedule)["verified"][0]["elements"]
        rule, larger = elements(), elements("--schedule", "chunk=65536")
        self.assertGreater(larger, rule)
        self.assertIn("expected an arch, which has a schedule, got 'cpu'",
                      self.run_cli("verify", "scale", "--arch", "cpu", code=2).stderr)
        run = self.run_cli("verify", "scale", "--schedule", "vec=3", code=2)
        self.assertIn("error: expected vec to be a power of two up to 4 (16 bytes of the widest stream), got 3; "
                      "choose a smaller vector, or narrower dtypes", run.stderr)

    def test_every_program_says_how_it_is_replayed(self):
        mine = self.write("mine.fuse", "op mine over elements { in x, w = 1 optional; out y; "
                                       "option twice = false\n"
                                       "  if twice { y = 2*x*w } else { y = x*w }\n}\n")
        program, = self.json_of("verify", mine, "--dtype", "x=bf16", "--option", "twice=true", "--absent", "w",
                                "--schedule", "threads=128", "--seed", "9")["verified"]
        self.assertEqual(program["replay"],
                         "fusewright verify mine.fuse --dtype x=bf16 --option twice=true --absent w "
                         "--schedule threads=128 --arch sm_90 --seed 9")
        again, = self.json_of(*program["replay"].split()[1:])["verified"]
        self.assertEqual(again, program)
        for program in self.json_of("verify", "scale")["verified"]:
            self.assertEqual(len(self.json_of(*program["replay"].split()[1:])["verified"]), 1)

    def test_the_seed_chooses_the_data(self):
        def errors(seed):
            return [output["max_error"] for program in
                    self.json_of("verify", "scale", "--dtype", "in=bf16", "--seed", seed)["verified"]
                    for output in program["outputs"]]
        self.assertEqual(errors("7"), errors("7"))
        self.assertNotEqual(errors("7"), errors("8"))

    def test_flags_name_one_program(self):
        self.assertEqual(len(self.json_of("verify", "adamw", "--dtype", "grad=f16", "--option", "amsgrad=true",
                                          "--feature", "copy")["verified"]), 1)


class Cache(Cli):
    def test_list_and_info(self):
        self.run_cli("precompile", "--arch", "cpu", "--ops", "scale", "--dtype", "in=f32")
        entries = self.json_of("cache", "ls")["entries"]
        self.assertEqual(sorted(entry["kind"] for entry in entries), ["object", "program"])
        self.assertIn("scale for cpu", self.run_cli("cache", "ls").stdout)
        info = self.json_of("cache", "info")
        self.assertEqual(info["folder"], str(self.cache))
        self.assertEqual(info["kinds"]["object"]["entries"], 1)
        self.assertEqual(info["bytes"], sum(entry["bytes"] for entry in entries))
        self.assertIn(str(self.cache), self.run_cli("cache", "info").stdout)

    def test_no_folder_is_7(self):
        file = self.write("file", "")
        run = self.run_cli("cache", "info", code=7, FUSEWRIGHT_CACHE_DIR=str(self.folder / file))
        self.assertIn("FUSEWRIGHT_CACHE_DIR", run.stderr)
        self.run_cli("cache", "ls", code=7, FUSEWRIGHT_CACHE_DIR=str(self.folder / file))


class Doctor(Cli):
    def test_healthy_or_with_a_remedy(self):
        for part in json.loads(subprocess.run([CLI, "doctor", "--json"], capture_output=True, text=True,
                                              env=self.environment()).stdout)["parts"]:
            if not part["ok"]:
                self.assertNotEqual(part["remedy"], "")

    def test_missing_toolchain(self):
        run = self.run_cli("doctor", code=5, FUSEWRIGHT_NVRTC="/nowhere/libnvrtc.so")
        self.assertRegex(run.stdout, r"NVRTC .*: does not work\n  problem: .*\n  remedy: .*FUSEWRIGHT_NVRTC")
        self.assertIn("FUSEWRIGHT_NVRTC: /nowhere/libnvrtc.so", run.stdout)

    def test_cpu_and_cache_are_described(self):
        text = subprocess.run([CLI, "doctor"], capture_output=True, text=True, env=self.environment()).stdout
        self.assertIn("CPU backend: ok", text)
        self.assertIn("features: ", text)
        self.assertIn(f"folder: {self.cache}", text)

    def test_works_without_a_home(self):
        settings = self.environment()
        for name in ("HOME", "XDG_CACHE_HOME", "FUSEWRIGHT_CACHE_DIR"):
            settings.pop(name, None)
        run = subprocess.run([CLI, "doctor"], capture_output=True, text=True, env=settings)
        self.assertIn("CPU backend: ok", run.stdout)


class ManPage(Cli):
    def test_names_every_command_and_flag(self):
        page = (Path(__file__).resolve().parents[2] / "tools/cli/fusewright.1").read_text().replace("\\-", "-")
        for command in ("ops", "show", "emit", "precompile", "verify", "doctor", "cache"):
            self.assertIn(f"fusewright {command}", page)
        for command in ("emit", "precompile", "verify"):
            for flag in re.findall(r"--[a-z]+", self.run_cli(command, "--help").stdout):
                self.assertIn(flag, page + "--help", flag)


if __name__ == "__main__":
    CLI = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
