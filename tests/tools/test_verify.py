#!/usr/bin/env python3
"""`verify`, and the way of a user's own op."""
from cli import Cli, main, RMSPROP


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
    def test_a_warning_is_told_once(self):
        mine = self.write("mine.fuse", "op mine over elements { option idle = false; param p; grad g\n  p = p - g\n}\n")
        for command in (["verify", mine], ["precompile", "--arch", "cpu", "--ops", mine], ["show", mine],
                        ["bench", mine, "--device", "cpu", "--tensors", "9", "--rounds", "1"]):
            self.assertEqual(self.run_cli(*command).stderr.count("warning: expected a use of option 'idle'"), 1, command)

    def test_many_operands_are_named_by_their_roles(self):
        mine = self.write("mine.fuse", "op mine over elements { param p; grad g; state " +
                          ", ".join(f"s{i} = 0" for i in range(9)) + "\n" +
                          "".join(f"  s{i} = g + 0.5*s{i}\n" for i in range(9)) + "  p = p - s0\n}\n")
        program = self.json_of("verify", mine)["verified"][0]
        self.assertIn("--dtype param=f32,grad=f32,state=f32 --arch", program["replay"])

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


if __name__ == "__main__":
    main()
