// The embedded templates: which skeletons exist, and the text that a generated kernel starts with.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/Error.h"

namespace fw::templates {

/// A row of skeletons.def.
struct Skeleton {
  const char *name, *pattern, *file, *function, *hooks, *needs;
};

/// The skeleton called `name`, or null.
const Skeleton *findSkeleton(std::string_view name);
std::span<const Skeleton> skeletons();

/// The text of a template or vocabulary header ("vocab/memory.h"), or null.
const std::string_view *findTemplate(std::string_view file);

/// The header to add when generated code spells `name` ("fw::bf16", "fw::math::exp"); empty where
/// every skeleton brings it along (fw::load, fw::get, float).
std::string_view headerOf(std::string_view name);

/// One self-contained text: every header that `files` include, each once, before its first user, in
/// the order of `files`; our own #include and #pragma once lines are gone. So the text, and with it
/// the key of a kernel, depends only on the files that the kernel uses.
Result<std::string> assemble(std::span<const std::string_view> files);

/// The arch features that `text` asks for (FW_HAS_MAX_NAN: "max_nan"), sorted. The kernel's text
/// opens with `#define FW_HAS_... 1` for those that the arch has.
std::vector<std::string> featuresAsked(std::string_view text);

} // namespace fw::templates
