#include "tools/bench/Cases.h"

#include "ops/ShippedOps.h"
#include "tools/bench/Embedded.h"

#include <algorithm>
#include <map>
#include <set>

namespace fw::bench {

namespace {

using nlohmann::ordered_json;

template <class T> T valueOf(const ordered_json &row, const char *key) {
  return row.contains(key) ? row.at(key).get<T>() : T();
}

Request requestOf(const ordered_json &row, const language::OpHandle &op) {
  Request request;
  request.op = op;
  request.dtypes = valueOf<std::map<std::string, std::string>>(row, "dtypes");
  request.options = valueOf<std::map<std::string, std::string>>(row, "options");
  request.features = valueOf<std::set<std::string>>(row, "features");
  return request;
}

/// The same program: op, options, dtypes and features once everything is spelled out.
bool isSame(const ResolvedRequest &a, const ResolvedRequest &b) {
  auto dtype = [](const RequestOperand &operand) { return operand.name + "=" + operand.dtype; };
  return a.opHash == b.opHash && a.request.options == b.request.options &&
         a.request.features == b.request.features && a.request.absent == b.request.absent &&
         std::ranges::equal(a.operands, b.operands, {}, dtype, dtype);
}

/// The id of the row that asks for the same program.
std::string listedId(const ResolvedRequest &request) {
  for (const ordered_json &row : embedded("cases.json").at("cases")) {
    auto op = findShippedOp(row.at("op").get<std::string>());
    if (!op || (*op)->hash != request.opHash)
      continue;
    auto listed = resolve(requestOf(row, *op));
    if (listed && isSame(request, *listed))
      return row.at("id");
  }
  return "";
}

/// Every optimizer of one pass that is not listed, a user's too, is held against the figures of
/// f32.
bool isOptimizerInF32(const ResolvedRequest &request) {
  auto isF32 = [](const RequestOperand &operand) { return operand.dtype == "f32"; };
  auto isParam = [](const RequestOperand &operand) { return operand.role == "param"; };
  return std::ranges::any_of(request.operands, isParam) &&
         std::ranges::all_of(request.operands, isF32);
}

Result<void> checkIds(const std::vector<std::string> &ids) {
  std::set<std::string> known;
  for (const ordered_json &row : embedded("cases.json").at("cases"))
    known.insert(row.at("id"));
  for (const std::string &id : ids)
    if (!known.contains(id)) {
      std::string all;
      for (const std::string &one : known)
        all += (all.empty() ? "" : ", ") + one;
      return Error{Code::USAGE, "--id: expected " + all + ", got '" + id + "'",
                   "P3 is P1 and P2 on a short list: --tensors resnet-50"};
    }
  return {};
}

} // namespace

const Target *findTarget(const std::string &id, const std::string &list) {
  // By id, and by id and list where a list has figures of its own.
  static const std::map<std::string, Target> targets = [] {
    std::map<std::string, Target> read;
    auto take = [&](const std::string &name, const ordered_json &row) {
      if (row.contains("floor"))
        read[name] = {row.at("floor"), row.at("goal")};
    };
    for (const auto &[name, row] : embedded("cases.json").at("targets").items()) {
      take(name, row);
      const auto lists = valueOf<ordered_json>(row, "lists");
      for (const auto &[list, own] : lists.items())
        take(name + " " + list, own);
    }
    return read;
  }();
  auto found = targets.find(id + " " + list);
  if (found == targets.end())
    found = targets.find(id);
  return found == targets.end() ? nullptr : &found->second;
}

Result<std::vector<Request>> defaultRequests(const std::string &op,
                                             const std::vector<std::string> &ids) {
  if (Result<void> known = checkIds(ids); !known)
    return known.takeError();
  std::vector<Request> requests;
  for (const ordered_json &row : embedded("cases.json").at("cases")) {
    const std::string name = row.at("op");
    if (!op.empty() && name != op)
      continue;
    if (!ids.empty() && std::ranges::find(ids, row.at("id").get<std::string>()) == ids.end())
      continue;
    auto shipped = findShippedOp(name);
    if (!shipped)
      return shipped.takeError();
    requests.push_back(requestOf(row, *shipped));
  }
  return requests;
}

std::string targetId(const ResolvedRequest &request, uint64_t elements, uint32_t launches) {
  std::string id = listedId(request);
  if (id.empty() && launches == 1 && isOptimizerInF32(request))
    id = "P1";
  const ordered_json &shortList = embedded("cases.json").at("short_list");
  if (elements < shortList.at("below").get<uint64_t>() && shortList.at("ids").contains(id))
    return shortList.at("ids").at(id);
  return id;
}

} // namespace fw::bench
