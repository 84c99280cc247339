// The op files of this folder, embedded into the library.
#pragma once

#include "compiler/language/OpFile.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fw {

/// An op file: its path below ops/ and its text.
struct ShippedFile {
  std::string_view name;
  std::string_view text;
};

/// All op files, sorted by name.
std::span<const ShippedFile> shippedFiles();

/// The names of all shipped ops, sorted. Reads no more of the files than the headers of their ops.
std::vector<std::string> shippedOpNames();

/// The shipped op called `name`, from parsing the one file that has it.
Result<language::OpHandle> findShippedOp(std::string_view name);

/// The shipped ops as ops of a text may call them.
const language::OpLibrary &shippedLibrary();

} // namespace fw
