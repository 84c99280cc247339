// The shipped profiles (profiles.def, evaluated.def), read into lists.
#pragma once

#include "compiler/language/OperandDtypes.h"

#include <string>
#include <string_view>
#include <vector>

namespace fw {

/// One shipped combination for an op: a request but for its arch.
struct Profile {
  std::string op;
  language::DtypeBindings dtypes; ///< operands that features add (p.copy) among the keys
  language::OptionValues options;
  std::vector<std::string> features;
};

/// What every backend compiles, in the order of the table (profiles.def).
std::vector<Profile> shippedProfiles();
/// What is evaluated and runs on the CPU alone (evaluated.def).
std::vector<Profile> evaluatedProfiles();
/// Those of one op, of either table.
std::vector<Profile> shippedProfiles(std::string_view op);

/// The names of the shipped ops that every backend compiles, sorted.
std::vector<std::string> compiledOpNames();

} // namespace fw
