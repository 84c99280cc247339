// Small pieces of text for messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fw::language {

/// The shortest decimal text that reads back as `value`.
std::string printNumber(double value);
/// 'text', cut after 64 characters
std::string quoted(std::string_view text);
/// "a, b or c"; of a long list its start and how many more there are
std::string alternatives(const std::vector<std::string> &items);

} // namespace fw::language
