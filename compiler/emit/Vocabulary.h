// The headers that a kernel's text starts with, and the features of the arch that they ask for.
#pragma once

#include "compiler/support/Error.h"
#include "compiler/target/Target.h"

#include <span>
#include <string>
#include <string_view>

namespace fw::emit {

/// The text of `files` (names of templates::findTemplate) and of all that they include, below the
/// macros of those features it asks for that `arch` has.
Result<std::string> printVocabulary(std::span<const std::string_view> files,
                                    const target::Arch &arch);

} // namespace fw::emit
