#!/usr/bin/env python3
"""`cache ls`, `info`, `explain` and `prune`."""
import fcntl
import os
import re
import subprocess
import time

from cli import Cli, main


class Cache(Cli):
    def fill(self, *ops):
        for op in ops or ("scale",):
            self.run_cli("precompile", "--arch", "cpu", "--ops", op, "--dtype", "in=f32" if op != "sgd" else "grad=f32")

    def entries(self, kind=None):
        return [entry for entry in self.json_of("cache", "ls")["entries"] if kind in (None, entry["kind"])]

    def make_old(self, entry, days):
        then = time.time() - days * 86400
        os.utime(entry["path"], (then, then))


class Listing(Cache):
    def test_list_and_info(self):
        self.fill()
        entries = self.entries()
        self.assertEqual(sorted(entry["kind"] for entry in entries), ["object", "program"])
        self.assertIn("scale for cpu", self.run_cli("cache", "ls").stdout)
        info = self.json_of("cache", "info")
        self.assertEqual(info["folder"], str(self.cache))
        self.assertEqual(info["kinds"]["object"]["entries"], 1)
        self.assertEqual(info["bytes"], sum(entry["bytes"] for entry in entries))
        self.assertIn(str(self.cache), self.run_cli("cache", "info").stdout)

    def test_looking_keeps_the_age(self):
        self.fill()
        for entry in self.entries():
            self.make_old(entry, 3)
        for command in (["ls"], ["explain", "scale"], ["prune", "--dry-run"]):
            self.run_cli("cache", *command)
        for entry in self.entries():
            self.assertLess(entry["used"], time.time() - 2 * 86400)

    def test_no_folder_is_7(self):
        file = self.write("file", "")
        for command in (["info"], ["ls"], ["prune"], ["explain", "scale"]):
            run = self.run_cli("cache", *command, code=7, FUSEWRIGHT_CACHE_DIR=str(self.folder / file))
            self.assertIn("FUSEWRIGHT_CACHE_DIR", run.stderr)


class Explain(Cache):
    ASKED = ("cache", "explain", "scale", "--dtype", "in=f32")

    def test_a_request_before_and_after_its_compile(self):
        cold = self.json_of(*self.ASKED)
        self.assertEqual((cold["hit"], cold["program_stored"], cold["nearest"]), (False, False, None))
        self.assertEqual([kernel["stored"] for kernel in cold["kernels"]], [False])
        self.fill()
        warm = self.json_of(*self.ASKED)
        self.assertEqual((warm["hit"], warm["key"], warm["facts"]), (True, cold["key"], cold["facts"]))
        self.assertEqual(warm["key"], self.entries("program")[0]["key"])
        self.assertEqual(warm["kernels"][0]["key"], self.entries("object")[0]["key"])
        text = self.run_cli(*self.ASKED).stdout
        for words in ("hit: nothing is compiled", "\nop scale\n", "\noperand x f32\n", "\ntarget cpu\n", "\nop_hash "):
            self.assertIn(words, text)

    def test_a_miss_is_compared_with_the_nearest_program(self):
        self.fill()
        self.run_cli("precompile", "--arch", "cpu", "--ops", "scale", "--dtype", "in=f64")
        asked = ("cache", "explain", "scale", "--dtype", "in=f32,out=bf16")
        missed = self.json_of(*asked)
        self.assertFalse(missed["hit"])
        self.assertEqual(missed["nearest"]["key"], self.json_of(*self.ASKED)["key"])
        self.assertEqual(missed["nearest"]["difference"],
                         {"only_first": ["operand y f32"], "only_second": ["operand y bf16"]})
        self.assertIn("2 lines differ (- nearest stored program ", self.run_cli(*asked).stdout)
        self.assertTrue(self.run_cli(*asked).stdout.endswith("\n- operand y f32\n+ operand y bf16\n"))

    def test_lost_kernels_and_lost_records(self):
        self.fill()
        os.unlink(self.entries("object")[0]["path"])
        self.assertIn("miss: the program is in the cache, but not all of its kernels", self.run_cli(*self.ASKED).stdout)
        self.fill()
        os.unlink(self.entries("program")[0]["path"])
        self.assertIn("its kernels are; they need no compile", self.run_cli(*self.ASKED).stdout)

    def test_gpus_need_no_nvrtc_for_a_hit(self):
        nvrtc = {"FUSEWRIGHT_NVRTC": os.environ["FW_FAKE_NVRTC_13000"]}
        self.run_cli("precompile", "--arch", "compute_90", "--ops", "scale", "--dtype", "in=f32", **nvrtc)
        asked = (*self.ASKED, "--arch", "compute_90")
        nowhere = {"FUSEWRIGHT_NVRTC": "/nowhere/libnvrtc.so"}
        self.assertTrue(self.json_of(*asked, **nowhere)["hit"])
        missed = self.json_of(*self.ASKED, "--arch", "sm_90", **nowhere)
        self.assertEqual((missed["hit"], missed["kernels"]), (False, []))
        self.assertEqual(missed["nearest"]["difference"],
                         {"only_first": ["target compute_90"], "only_second": ["target sm_90"]})

    def test_a_stored_program_by_its_key(self):
        self.fill()
        program, = self.entries("program")
        for digits in (8, 16, 64):
            self.assertEqual(self.json_of("cache", "explain", program["key"][:digits])["facts"],
                             self.json_of(*self.ASKED)["facts"])

    def test_a_kernel_by_its_key(self):
        self.fill()
        program, = self.entries("program")
        code, = self.entries("object")
        shown = self.json_of("cache", "explain", code["key"][:12])
        self.assertEqual((shown["kind"], shown["symbol"], shown["programs"]),
                         ("object", code["entry"], [program["key"]]))
        self.assertIn(f"program  {program['key']}\n", self.run_cli("cache", "explain", code["key"]).stdout)
        run = self.run_cli("cache", "explain", program["key"], code["key"], code=7)
        self.assertIn("expected the key of a program, got that of an object", run.stderr)

    def test_two_programs(self):
        self.fill("scale", "sgd")
        first, second = sorted(self.entries("program"), key=lambda entry: entry["entry"])
        both = self.json_of("cache", "explain", first["key"], second["key"])
        self.assertEqual((both["first"]["key"], both["second"]["key"]), (first["key"], second["key"]))
        self.assertIn("op scale", both["difference"]["only_first"])
        self.assertIn("op sgd", both["difference"]["only_second"])
        same = self.run_cli("cache", "explain", first["key"][:16], "scale", "--dtype", "in=f32").stdout
        self.assertIn("\n0 lines differ ", same)

    def test_keys_that_name_nothing_are_7(self):
        self.fill()
        run = self.run_cli("cache", "explain", "0123456789abcdef", code=7)
        self.assertEqual(run.stderr, "error: expected one entry whose key begins with '0123456789abcdef', got none; "
                                     "`fusewright cache ls` lists the keys\n")

    def test_wrong_usage_is_2(self):
        for names in ([], ["scale", "scale", "scale"], ["scalex"], ["scale", "--arch", "sm_1"]):
            self.run_cli("cache", "explain", *names, code=2)


class Prune(Cache):
    def test_all(self):
        self.fill()
        before = self.entries()
        dry = self.run_cli("cache", "prune", "--all", "--dry-run")
        self.assertEqual(self.entries(), before)
        self.assertRegex(dry.stderr, r"^would remove 2 entries of \d+ bytes from \S+; left: 0 entries of 0 bytes\n$")
        pruned = self.json_of("cache", "prune", "--all")
        self.assertEqual(pruned["removed"], {"entries": 2, "bytes": sum(entry["bytes"] for entry in before)})
        self.assertEqual(pruned["left"], {"entries": 0, "bytes": 0})
        self.assertEqual({entry["key"] for entry in pruned["chosen"]}, {entry["key"] for entry in before})
        self.assertEqual(self.entries(), [])
        self.assertRegex(self.run_cli("cache", "prune", "--all").stderr, "^removed 0 entries of 0 bytes")
        self.assertFalse(self.json_of(*Explain.ASKED)["hit"])

    def test_oldest_first_down_to_a_size(self):
        self.fill("scale", "sgd")
        old = [entry for entry in self.entries() if "scale" in entry["entry"]]
        for entry in old:
            self.make_old(entry, 2)
        young = sum(entry["bytes"] for entry in self.entries()) - sum(entry["bytes"] for entry in old)
        pruned = self.json_of("cache", "prune", "--size", str(young))
        self.assertEqual({entry["key"] for entry in pruned["chosen"]}, {entry["key"] for entry in old})
        self.assertEqual(pruned["left"], {"entries": 2, "bytes": young})
        self.assertEqual(self.json_of("cache", "prune", "--size", "1M")["removed"]["entries"], 0)

    def test_older_than(self):
        self.fill()
        program, = self.entries("program")
        self.make_old(program, 31)
        self.assertEqual(self.json_of("cache", "prune", "--older-than", "32")["removed"]["entries"], 0)
        pruned = self.json_of("cache", "prune", "--older-than", "30")
        self.assertEqual([entry["key"] for entry in pruned["chosen"]], [program["key"]])

    def test_without_flags_the_setting_is_the_size(self):
        self.fill()
        self.assertEqual(self.json_of("cache", "prune")["removed"]["entries"], 0)
        self.assertEqual(self.json_of("cache", "prune", FUSEWRIGHT_CACHE_SIZE="1K")["left"]["entries"], 0)

    def test_the_lock_of_a_live_compile_is_left_alone(self):
        self.fill()
        lock = self.cache / "objects" / ("0" * 64 + ".lock")
        lock.touch()
        os.utime(lock, (0, 0))
        with open(lock, "r+") as owner:
            fcntl.flock(owner, fcntl.LOCK_EX)
            self.run_cli("cache", "prune", "--all")
            self.assertTrue(lock.exists())
        self.run_cli("cache", "prune", "--all")
        self.assertFalse(lock.exists())

    def test_what_a_killed_process_left_goes_too(self):
        self.fill()
        ended = subprocess.Popen(["true"])
        ended.wait()
        host = re.sub(r"[^A-Za-z0-9]", "_", os.uname().nodename[:64])
        lock = self.cache / "objects" / ("0" * 64 + ".lock")
        staged = self.cache / f".staging-{os.geteuid()}" / f"{host}-{ended.pid}-{7:016x}"
        for path in (lock, staged):
            path.touch()
        self.run_cli("cache", "prune", "--all")
        self.assertFalse(lock.exists())
        self.assertFalse(staged.exists())

    def test_a_table_of_what_went(self):
        self.fill()
        run = self.run_cli("cache", "prune", "--all")
        self.assertRegex(run.stdout, r"^kind +entry +bytes +used \(UTC\) +key\n")
        self.assertEqual(len(re.findall("(?m)^(?:program|object) ", run.stdout)), 2)

    def test_wrong_usage_is_2(self):
        for flags in (["--size", "2X"], ["--older-than", "-1"], ["--older-than", "soon"], ["--all", "--size", "1K"]):
            run = self.run_cli("cache", "prune", *flags, code=2)
            self.assertEqual(run.stdout, "")

    def test_what_cannot_be_removed_is_7(self):
        self.fill()
        code, = self.entries("object")
        os.unlink(code["path"])
        os.makedirs(code["path"])
        self.assertEqual(self.json_of("cache", "prune", "--all")["removed"]["entries"], 1)
        if os.geteuid() == 0:
            self.skipTest("root may remove any file; the folder that is no file was left alone")
        self.fill()
        os.chmod(self.cache / "index", 0o500)
        self.addCleanup(os.chmod, self.cache / "index", 0o700)
        self.assertIn("expected to remove every entry chosen", self.run_cli("cache", "prune", "--all", code=7).stderr)


if __name__ == "__main__":
    main()
