// Plans.
#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"
#include "runtime/driver/Ranges.h"
#include "runtime/driver/Scopes.h"
#include "runtime/launch/Overlap.h"

#include <algorithm>

using namespace fw;
using namespace fw::api;

namespace {

/// The caller's groups, with the programs that they name.
struct GivenGroups {
  std::vector<fw_plan_group> groups;
  std::vector<std::shared_ptr<const ProgramState>> programs;
};

Failure wrongGroup(size_t index, const std::string &text, const std::string &remedy,
                   Code code = Code::USAGE) {
  return Failure{{code, "group " + std::to_string(index) + ": " + text, remedy}};
}

/// Adds where an error came from.
template <class T> T takeOf(size_t group, Result<T> result) {
  if (result)
    return take(std::move(result));
  Error error = result.takeError();
  error.text = "group " + std::to_string(group) + ": " + error.text;
  throw Failure{std::move(error)};
}

/// What one group reduces, the stages of all read.
bool reducesAlike(const launch::Program &a, const launch::Program &b) {
  return std::ranges::equal(a.stages, b.stages, {}, &launch::Stage::reductions,
                            &launch::Stage::reductions);
}

/// Whether both have the same scalars, and the same operands with one value in all, at the same
/// places: features add such, and the groups of a plan share them.
bool sharesAlike(const launch::Program &a, const launch::Program &b) {
  auto sameName = [](const auto &x, const auto &y) { return x.name == y.name; };
  if (!std::ranges::equal(a.hypers, b.hypers, sameName))
    return false;
  auto isFound = [&](const launch::Program &from, const launch::Program &in) {
    for (size_t k = 0; k < from.operands.size(); ++k)
      if (from.operands[k].scope == launch::Scope::All &&
          (k >= in.operands.size() || in.operands[k].scope != launch::Scope::All ||
           in.operands[k].name != from.operands[k].name))
        return false;
    return true;
  };
  return isFound(a, b) && isFound(b, a);
}

std::string featuresOf(const ResolvedRequest &request) {
  std::string names;
  for (const std::string &feature : request.request.features)
    names += (names.empty() ? "" : ", ") + feature;
  return names.empty() ? "none" : names;
}

/// Groups of a plan are of one op and its options; they may differ in dtypes, and in features that
/// add nothing that groups share.
void checkSameOp(const GivenGroups &given, size_t index) {
  const ResolvedRequest &first = given.programs.front()->program->request;
  const ResolvedRequest &other = given.programs[index]->program->request;
  if (first.request.target != other.request.target)
    throw wrongGroup(index,
                     "expected a program for " + first.request.target +
                         " as in group 0, got one for " + other.request.target,
                     "compile all groups of a plan for one target");
  if (first.opHash != other.opHash || first.request.options != other.request.options)
    throw wrongGroup(index, "expected the op and options of group 0, got " + describe(other),
                     "make a plan for each op");
  if (!sharesAlike(given.programs.front()->launchable, given.programs[index]->launchable))
    throw wrongGroup(index,
                     "expected the scalars and numbers of all tensors that the features of group 0 "
                     "add (" +
                         featuresOf(first) + "), got those of other features (" +
                         featuresOf(other) + ")",
                     "compile both groups with the same features, or make a plan for each");
  if (!reducesAlike(given.programs.front()->launchable, given.programs[index]->launchable))
    throw wrongGroup(index, "expected the reductions of group 0, got others",
                     "leave the same operands absent in all groups");
}

GivenGroups readGroups(const fw_plan_group *groups, size_t count) {
  GivenGroups given;
  if (count)
    checkSize(need(groups, "groups"), "group 0");
  const char *at = reinterpret_cast<const char *>(groups);
  for (size_t g = 0; g < count; ++g) {
    auto *group = reinterpret_cast<const fw_plan_group *>(at);
    if (group->struct_size != groups->struct_size)
      throw wrongGroup(g,
                       "expected struct_size " + std::to_string(groups->struct_size) +
                           " as in group 0, got " + std::to_string(group->struct_size),
                       "set struct_size to sizeof(fw_plan_group) in every group");
    given.groups.push_back(readStruct(group, "group"));
    given.programs.push_back(need(given.groups.back().program, "program").state);
    if (!given.programs.back()->launchable.header.axes.empty())
      throw wrongGroup(
          g,
          "expected an op over elements or scalars in a plan, got op '" +
              given.programs.back()->program->request.request.op->name + "' over axes",
          "launch it with fw_launch: a plan gains nothing where each launch has a tensor");
    checkSameOp(given, g);
    at += groups->struct_size;
  }
  return given;
}

/// The device that the first tensor is on; all others must be there.
launch::Place placeOf(const GivenGroups &given) {
  const bool forCpu = given.programs.empty() || given.programs.front()->isForCpu();
  launch::Place place{forCpu ? FW_DEVICE_CPU : FW_DEVICE_CUDA, 0};
  for (const fw_plan_group &group : given.groups)
    if (!forCpu && group.tensor_count && group.tensors) {
      place.id = group.tensors->device_id;
      break;
    }
  return place;
}

plan::Group makeGroup(const GivenGroups &given, size_t index, launch::Place place) {
  const fw_plan_group &from = given.groups[index];
  const auto &program = given.programs[index];
  plan::Group group;
  group.program = {program, &program->launchable};
  launch::TensorArray tensors = tensorsOf(from.tensors, from.tensor_count);
  group.list = takeOf(index, launch::checkTensors(program->launchable.operands, tensors, place));
  group.length = group.list.length;
  group.entryOf.assign(group.length, plan::Group::none);
  for (size_t e = 0; e < group.list.entries.size(); ++e)
    group.entryOf[group.list.entries[e].position] = e;
  return group;
}

std::unique_ptr<plan::Plan> makePlan(ContextState &context, const GivenGroups &given,
                                     std::vector<plan::Group> groups,
                                     const plan::PlanScalars &scalars, launch::Place place) {
  if (place.device == FW_DEVICE_CPU)
    return plan::makeCpuPlan(std::move(groups), context.executor);
  const driver::Driver &driver = *take(context.driver());
  auto current = take(driver::CurrentContext::ofDevice(driver, place.id));
  std::vector<const plan::CudaProgram *> programs;
  for (const auto &program : given.programs)
    programs.push_back(&program->cuda);
  const std::string &target = given.programs.front()->program->request.request.target;
  return take(plan::makeCudaPlan(context.world(driver, current.get(), place.id, target),
                                 std::move(groups), programs,
                                 [&](size_t hyper) { return scalars.isOnDevice(hyper); }));
}

/// Memory of its own for what a run writes, among all groups: they may share a launch.
void checkApart(const std::vector<plan::Group> &groups) {
  if (groups.size() < 2) // each list by itself has been checked
    return;
  std::vector<launch::ListOfRun> lists;
  for (const plan::Group &group : groups)
    lists.push_back({group.program->operands, &group.list});
  take(launch::checkOverlap(lists));
}

/// What a caller says of the other ranks; nothing where there are none.
fw_world readWorld(const fw_world *world) {
  if (!world)
    return {};
  const fw_world ranks = readStruct(world, "world");
  need(ranks.all_reduce, "world.all_reduce");
  return ranks;
}

/// Of the op; "" of a plan without groups.
std::string_view nameOf(const fw_plan &plan) {
  if (plan.programs.empty())
    return "";
  return plan.programs.front()->program->request.request.op->name;
}

fw_plan &planAt(fw_plan *plan, size_t group) {
  fw_plan &found = need(plan, "plan");
  at(found.programs, group, "groups");
  return found;
}

} // namespace

fw_plan::~fw_plan() = default;

extern "C" {

fw_status fw_plan_create(fw_context *context, const fw_plan_group *groups, size_t group_count,
                         fw_plan **out) {
  return border([&] {
    need(out, "out");
    const auto &state = need(context, "context").state;
    GivenGroups given = readGroups(groups, group_count);
    const launch::Place place = placeOf(given);
    std::vector<plan::Group> lists;
    std::vector<size_t> lengths;
    for (size_t g = 0; g < group_count; ++g) {
      lists.push_back(makeGroup(given, g, place));
      lengths.push_back(lists.back().length);
    }
    take(plan::checkSharedOperands(lists));
    plan::PlanScalars scalars(given.programs.empty() ? std::vector<launch::Hyper>()
                                                     : given.programs.front()->launchable.hypers,
                              lengths);
    for (size_t g = 0; g < group_count; ++g)
      takeOf(g, scalars.set(g, scalarsOf(given.groups[g].scalars, given.groups[g].scalar_count)));
    checkApart(lists);
    auto plan = makePlan(*state, given, std::move(lists), scalars, place);
    *out =
        new fw_plan{state, std::move(given.programs), place, std::move(scalars), std::move(plan)};
  });
}

void fw_plan_destroy(fw_plan *plan) { delete plan; }

fw_status fw_plan_describe(const fw_plan *plan, fw_plan_info *out) {
  return border([&] {
    const fw_plan &described = need(plan, "plan");
    const plan::Stats stats = described.plan->stats();
    fw_plan_info info = {};
    info.launches = stats.launches;
    info.device = described.place.device;
    info.device_id = described.place.id;
    info.entries = stats.entries;
    info.elements = stats.elements;
    info.blocks = stats.blocks;
    info.streamed_bytes = stats.streamedBytes;
    info.workspace_bytes = stats.workspaceBytes;
    info.exchanges = stats.exchanges;
    writeStruct(out, info);
  });
}

fw_status fw_plan_set_pointers(fw_plan *plan, size_t group, const char *operand,
                               void *const *pointers, size_t count) {
  return border([&] {
    fw_plan &changed = planAt(plan, group);
    const std::string_view name = &need(operand, "operand");
    if (count)
      need(pointers, "pointers");
    const auto &operands = changed.programs[group]->launchable.operands;
    const size_t place =
        std::ranges::find(operands, name, &launch::Operand::name) - operands.begin();
    if (place == operands.size())
      throw Failure{
          {Code::USAGE,
           "operand: expected the name of one of the program's, got '" + std::string(name) + "'",
           "fw_request_operand lists them; a role such as grad is not taken here"}};
    take(changed.plan->setPointers(group, place, {pointers, count}));
  });
}

fw_status fw_plan_set_scalars(fw_plan *plan, size_t group, const fw_scalar *scalars,
                              size_t scalar_count) {
  return border([&] {
    fw_plan &changed = planAt(plan, group);
    take(changed.scalars.set(group, scalarsOf(scalars, scalar_count)));
  });
}

fw_status fw_plan_run(fw_plan *plan, const fw_scalar *scalars, size_t scalar_count,
                      fw_stream stream, const fw_world *world) {
  return border([&] {
    fw_plan &chosen = need(plan, "plan");
    const fw_world ranks = readWorld(world);
    driver::Range range("fw_plan_run", nameOf(chosen));
    plan::RunScalars values = take(chosen.scalars.resolve(scalarsOf(scalars, scalar_count)));
    take(chosen.plan->run(values, stream, world ? &ranks : nullptr));
    if (chosen.place.device == FW_DEVICE_CPU)
      chosen.context->launches += chosen.plan->stats().launches;
  });
}

} // extern "C"
