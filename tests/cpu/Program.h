// Phase-level text of a program with one kernel.
#pragma once

#include <string>
#include <vector>

namespace fw::cpu::test {

/// An operand row of the program's table.
struct Operand {
  std::string name, role, dtype;
};

/// The text of a program with one kernel @kernel. `slots` are f32/f64 hypers; `body` is the content
/// of fuse.each, in which %slot names are in scope.
inline std::string program(const std::vector<Operand> &operands,
                           const std::vector<std::string> &slots, const std::string &body,
                           const std::string &real = "f32") {
  std::string table, hypers, results, reads;
  for (const Operand &operand : operands)
    table += (table.empty() ? "" : ", ") + ("#fuse.operand<name = \"" + operand.name) +
             "\", role = " + operand.role + ", dtype = \"" + operand.dtype +
             "\", scope = <element>>";
  for (const std::string &slot : slots) {
    hypers += (hypers.empty() ? "" : ", ") + ("#fuse.hyper<name = \"" + slot + "\">");
    results += "%" + slot + " = fuse.scalar \"" + slot + "\" : f64\n  fuse.result \"" + slot +
               "\", %" + slot + " : f64 to " + real + "\n";
    reads += "%" + slot + " = fuse.slot \"" + slot + "\" : " + real + "\n";
  }
  return "module {\nfuse.program @test operands [" + table + "] scalars [" + hypers +
         "] {\nfuse.scalars {\n" + results + "}\nfuse.kernel @kernel elements " + real + " {\n" +
         reads + "fuse.each {\n" + body + "\n}\n}\n}\n}\n";
}

} // namespace fw::cpu::test
