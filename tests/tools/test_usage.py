#!/usr/bin/env python3
"""The command line as a whole: help, wrong usage, lost output, the manual page."""
import re
import subprocess
from pathlib import Path

from cli import Cli, main, program, SHIPPED


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

    def test_exit_codes_and_settings_are_told_once(self):
        self.assertEqual(self.run_cli("--help").stdout.count("Exit codes:"), 1)
        for command in (["ops"], ["emit"], ["cache"], ["cache", "ls"], ["doctor"]):
            text = self.run_cli(*command, "--help").stdout
            self.assertNotIn("Exit codes:", text)
            self.assertNotIn("FUSEWRIGHT_CACHE_WAIT", text)

    def test_version(self):
        self.assertRegex(self.run_cli("--version").stdout, r"^fusewright \d+\.\d+\.\d+\n$")

    def test_wrong_usage_is_2_and_keeps_stdout_clean(self):
        for arguments in ([], ["bake"], ["emit", "adamw"], ["show"], ["precompile"], ["cache", "burn"],
                          ["ops", "--jsn"], ["verify", "adamw", "--seed", "x"]):
            run = self.run_cli(*arguments, code=2)
            self.assertEqual(run.stdout, "")
            self.assertNotEqual(run.stderr, "")

    def test_an_unknown_command_is_named_with_those_there_are(self):
        listed = self.run_cli("--help").stdout.split("Subcommands:\n")[1]
        commands = ", ".join(re.findall(r"(?m)^  ([a-z]+) ", listed.split("\n\n")[0]))
        self.assertRegex(commands, "^ops, show, emit, precompile, verify, .*cache, doctor$")
        of_cache = "ls, info, explain, prune"
        for arguments, words in (
                (["bogus"], f"error: expected a command of fusewright, got 'bogus'; use one of {commands}\n"),
                ([], f"error: expected a command of fusewright, got none; use one of {commands}\n"),
                (["cache", "burn"], f"error: expected a command of cache, got 'burn'; use one of {of_cache}\n"),
                (["cache"], f"error: expected a command of cache, got none; use one of {of_cache}\n")):
            self.assertEqual(self.run_cli(*arguments, code=2).stderr, words)

    def test_arguments_say_what_was_expected(self):
        for arguments, words in (
                (["show"], "fusewright show: expected OP, got none; 'fusewright show --help' tells what it takes"),
                (["emit", "adamw"], "fusewright emit: expected --stage, got none; "),
                (["cache", "explain"], "fusewright cache explain: expected REQUEST, got none; "),
                (["precompile", "--arch"], "expected a value after --arch, got none; "),
                (["ops", "--jsn"], "fusewright ops: expected one of its flags, got '--jsn'; "),
                (["show", "adamw", "lion"], "fusewright show: expected no further argument, got 'lion'; "),
                (["bench", "--rounds", "0"], "--rounds: expected a whole number from 1 to 10000, got '0'; "),
                (["precompile", "--arch", "cpu,,sm_80", "--ops", "scale"],
                 "--arch: expected items separated by ',', got 'cpu,,sm_80' with an empty one; "),
                (["emit", "adamw", "--stage", "cuda", "--dtype", ""], "--dtype: expected items separated by ',', got '' with ")):
            error = self.run_cli(*arguments, code=2).stderr
            self.assertTrue(error.startswith("error: " + words), error)

    def test_long_names_are_cut_in_messages(self):
        error = self.run_cli("show", "a" * 5000, code=2).stderr
        self.assertLess(len(error), 2500)
        self.assertIn(" characters) ... ", error)

    def test_numbers_neither_wrap_nor_saturate(self):
        for arguments in (["verify", "scale", "--seed"], ["precompile", "--arch", "cpu", "--jobs"]):
            for number in ("-1", "99999999999999999999999", "1.5", "1e3", ""):
                run = self.run_cli(*arguments, number, code=2)
                self.assertIn(f"{arguments[-1]}: expected a whole number from 0 to ", run.stderr)

    def test_output_that_is_lost_is_an_error(self):
        for arguments in (["ops"], ["--version"], ["--help"], ["cache", "info", "--json"],
                          ["emit", "adamw", "--stage", "phases"]):
            for redirect in (">/dev/full", ">&-"):
                run = subprocess.run(["sh", "-c", f'exec "$0" "$@" {redirect}', program(), *arguments],
                                     capture_output=True, text=True, env=self.environment())
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertIn("error: expected stdout to take the output, got a write error; ", run.stderr)

    def test_a_closed_stdout_is_given_to_no_file_of_the_cache(self):
        subprocess.run(["sh", "-c", 'exec "$0" "$@" >&- 2>&-', program(), "precompile", "--arch", "cpu", "--ops", "scale"],
                       env=self.environment())
        self.assertNotIn("unreadable", self.run_cli("cache", "ls").stdout)
        self.assertIn("cached", self.run_cli("precompile", "--arch", "cpu", "--ops", "scale").stdout)

    def test_wrong_setting_is_2(self):
        run = self.run_cli("ops", code=2, FUSEWRIGHT_STRICT="maybe")
        self.assertEqual(run.stderr, "error: expected 0 or 1 in FUSEWRIGHT_STRICT, got 'maybe'; "
                                     "unset it for the default '0'\n")
        run = self.run_cli("ops", code=2, FUSEWRIGHT_STRICT="maybe", FUSEWRIGHT_LOG="loud")
        self.assertEqual(run.stderr.count("error: "), 2)

    def test_wrong_flag_values(self):
        for arguments, words in (
                (["emit", "adamw", "--stage", "sass"],
                 "error: expected a stage, got 'sass'; use one of semantic, phases, cuda, ptx, llvm"),
                (["emit", "adamw", "--stage", "semantic", "--dtype", "grad"],
                 "error: --dtype: expected KEY=VALUE, got 'grad'"),
                (["emit", "adamw", "--stage", "phases", "--schedule", "vec=x"],
                 "error: --schedule: expected vec=N, got 'x'"),
                (["emit", "adamx", "--stage", "cuda"],
                 "error: expected a shipped op, a file or file:name, got 'adamx'; did you mean 'adamw'; shipped ops are " +
                 ", ".join(SHIPPED)),
                (["emit", "adamw", "--stage", "cuda", "--arch", "sm_1"], "got 'sm_1'"),
                (["emit", "adamw", "--stage", "cuda", "--dtype", "grad=f32,grad=bf16"],
                 "error: --dtype: expected one value for 'grad', got 'f32' and 'bf16'; name it once"),
                (["emit", "adamw", "--stage", "cuda", "--option", "amsgrad=true", "--option", "amsgrad=false"],
                 "error: --option: expected one value for 'amsgrad', got 'true' and 'false'; name it once"),
                (["emit", "adamw", "--stage", "semantic", "--option", "amsgrad=perhaps"], "perhaps"),
                (["emit", "adamw", "--stage", "semantic", "--feature", "magic"], "magic"),
                (["emit", "adamw", "--stage", "semantic", "--dtype", "grad=f33"], "f33")):
            self.assertIn(words, self.run_cli(*arguments, code=2).stderr)


class ManPage(Cli):
    def test_names_every_command_and_flag(self):
        page = (Path(__file__).resolve().parents[2] / "tools/cli/fusewright.1").read_text().replace("\\-", "-")
        for command in ("ops", "show", "emit", "precompile", "verify", "doctor", "cache"):
            self.assertIn(f"fusewright {command}", page)
        for command in (["emit"], ["precompile"], ["verify"], ["cache", "explain"], ["cache", "prune"]):
            for flag in re.findall(r"--[a-z]+", self.run_cli(*command, "--help").stdout):
                self.assertIn(flag, page + "--help", flag)


if __name__ == "__main__":
    main()
