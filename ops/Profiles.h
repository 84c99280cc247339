// The shipped profiles (profiles.def), read into lists.
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

/// All profiles, or those of one op, in the order of the table.
std::vector<Profile> shippedProfiles();
std::vector<Profile> shippedProfiles(std::string_view op);

} // namespace fw
