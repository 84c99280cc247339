#include "tests/gpu/suite/Trial.h"

#include <algorithm>

namespace suite {

// --- Memory --------------------------------------------------------------------------------------

Block::Block(fw_context *context, Place place, const Bytes &bytes)
    : buffer(api::make<api::Buffer>([&](fw_buffer **out) {
        return fw_buffer_create(context, place.device, place.id, bytes.size(), out);
      })) {
  write(bytes);
}

void Block::write(const Bytes &bytes, cuda::Handle stream) {
  EXPECT_OK(fw_buffer_copy_in(buffer.get(), 0, bytes.data(), bytes.size(), stream));
}

Bytes Block::read(cuda::Handle stream) const {
  Bytes bytes(fw_buffer_bytes(buffer.get()));
  EXPECT_OK(fw_buffer_copy_out(buffer.get(), 0, bytes.data(), bytes.size(), stream));
  return bytes;
}

// --- Groups --------------------------------------------------------------------------------------

void GroupArray::add(const Kernel &kernel, std::vector<fw_tensor> tensors, const Scalars &scalars) {
  const api::Program &program = place.device == FW_DEVICE_CPU ? kernel.cpu : kernel.gpu;
  items.push_back({program.get(), std::move(tensors), scalars});
}

const std::vector<fw_plan_group> &GroupArray::array() {
  built.clear();
  for (const Item &item : items) {
    const std::vector<fw_scalar> &scalars = item.scalars.array();
    fw_plan_group group = {};
    group.struct_size = sizeof group;
    group.program = item.program;
    group.tensors = item.tensors.data();
    group.tensor_count = item.tensors.size();
    group.scalars = scalars.data();
    group.scalar_count = scalars.size();
    built.push_back(group);
  }
  return built;
}

// --- Trial ---------------------------------------------------------------------------------------

Trial::Trial(fw_context *context, Place place, std::vector<GroupSpec> given, uint64_t seed)
    : context(context), place(place), groups(std::move(given)) {
  GroupArray array(place);
  for (size_t g = 0; g < groups.size(); ++g) {
    const GroupSpec &group = groups[g];
    arenas.push_back(std::make_unique<Arena>(*group.kernel, group.list, seed + g, group.values));
    blocks.push_back(std::make_unique<Block>(context, place, arenas[g]->bytes));
    array.add(*group.kernel, tensorsOf(g), group.scalars);
  }
  const std::vector<fw_plan_group> &all = array.array();
  made = api::make<api::Plan>(
      [&](fw_plan **out) { return fw_plan_create(context, all.data(), all.size(), out); });
}

std::vector<fw_tensor> Trial::tensorsOf(size_t g) const {
  std::vector<fw_tensor> tensors = arenas[g]->tensors(base(g), place.device, place.id);
  const std::vector<fw_tensor> first = arenas[0]->tensors(base(0), place.device, place.id);
  const size_t shared =
      size_t(std::ranges::count_if(groups[g].kernel->operands, &OperandInfo::isOfAll));
  for (size_t i = 0; i < shared; ++i)
    tensors[tensors.size() - shared + i].data = first[first.size() - shared + i].data;
  return tensors;
}

void Trial::run(const Scalars &scalars, cuda::Handle stream, const fw_world *world) {
  const std::vector<fw_scalar> &given = scalars.array();
  EXPECT_OK(fw_plan_run(made.get(), given.data(), given.size(), stream, world));
}

void Trial::launch(const Scalars &scalars, cuda::Handle stream) {
  const std::vector<fw_scalar> &given = scalars.array();
  for (size_t g = 0; g < groups.size(); ++g) {
    auto tensors = tensorsOf(g);
    const Kernel &kernel = *groups[g].kernel;
    const api::Program &program = place.device == FW_DEVICE_CPU ? kernel.cpu : kernel.gpu;
    EXPECT_OK(fw_launch(context, program.get(), tensors.data(), tensors.size(), given.data(),
                        given.size(), stream));
  }
}

void Trial::reset(cuda::Handle stream) {
  for (size_t g = 0; g < groups.size(); ++g)
    blocks[g]->write(arenas[g]->bytes, stream);
}

fw_plan_info Trial::info() const {
  fw_plan_info info = {};
  info.struct_size = sizeof info;
  EXPECT_OK(fw_plan_describe(made.get(), &info));
  return info;
}

std::vector<Bytes> Trial::images(cuda::Handle stream) const {
  std::vector<Bytes> images;
  for (size_t g = 0; g < groups.size(); ++g)
    images.push_back(image(g, stream));
  return images;
}

std::vector<void *> Trial::addresses(size_t group, const std::string &operand, ptrdiff_t by) const {
  const Arena &arena = *arenas[group];
  std::vector<void *> addresses;
  for (size_t entry = 0; entry < arena.list.size(); ++entry)
    addresses.push_back(static_cast<std::byte *>(base(group)) +
                        arena.offset(entry, arena.kernel.operand(operand)) + by);
  return addresses;
}

void expectImages(const Trial &trial, const std::vector<Bytes> &got,
                  const std::vector<Bytes> &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t g = 0; g < got.size(); ++g)
    EXPECT_EQ(trial.arena(g).compare(got[g], expected[g]), "") << "group " << g;
}

void expectFault(fw_status got, fw_status expected, const std::string &words, int line) {
  EXPECT_EQ(got, expected) << "line " << line << ": " << api::lastError();
  EXPECT_NE(api::lastError().find(words), std::string::npos)
      << "line " << line << ": " << api::lastError();
}

void expectSame(const Trial &gpu, const Trial &cpu, cuda::Handle stream) {
  expectImages(gpu, gpu.images(stream), cpu.images());
}

Scalars step(double t) { return Scalars().set("t", t); }

fw_status runOf(fw_plan *plan, const Scalars &scalars) {
  const auto &given = scalars.array();
  return fw_plan_run(plan, given.data(), given.size(), nullptr, nullptr);
}

} // namespace suite
