// Which kernel serves a launch over rows on a GPU, through the C API on the fake driver: kernels
// are compiled and loaded, and their launches counted and not run.
#include "tests/driver/Cuda.h"
#include "tests/runtime/Api.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace api;
using fw::driver::Answer;

/// A folder that goes away.
struct Folder {
  Folder() { EXPECT_NE(::mkdtemp(path.data()), nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path = (std::filesystem::temp_directory_path() / "fw-rows-XXXXXX").string();
};

class RowVariants : public fw::driver::FakeTest {
protected:
  void SetUp() override {
    FakeTest::SetUp();
    if (IsSkipped())
      return;
    fake.launch_nothing(1);
    queue = stream();
    memory = allocate(size_t(4) << 20);
    start();
  }

  /// In a context of its own, as in a new process.
  void start() {
    ctx = api::context(folder.path.c_str());
    softmax.reset();
    softmax = request(find(ctx, "softmax"));
    EXPECT_EQ(fw_request_target(softmax.get(), "cuda:0"), FW_OK) << lastError();
  }

  /// x and y, each a row apart; `shift`: elements by which x is off a boundary, `yShift` y.
  fw_status launch(const Program &program, int64_t rows, int64_t columns, size_t shift = 0,
                   size_t yShift = size_t(-1)) {
    const int64_t shape[] = {rows, columns};
    fw_tensor tensors[2];
    for (size_t k = 0; k < 2; ++k) {
      tensors[k] = tensor("f32", nullptr, shape);
      tensors[k].device = FW_DEVICE_CUDA;
      tensors[k].rank = 2;
      tensors[k].data = reinterpret_cast<void *>(memory + (size_t(2) << 20) * k +
                                                 4 * (k && yShift != size_t(-1) ? yShift : shift));
    }
    return fw_launch(ctx.get(), program.get(), tensors, 2, nullptr, 0, queue);
  }
  std::string errorOf(fw_status status) {
    EXPECT_NE(status, FW_OK);
    return status == FW_OK ? "" : lastError();
  }

  fw_counters counters() {
    fw_counters now = {};
    now.struct_size = sizeof now;
    EXPECT_EQ(fw_context_counters(ctx.get(), &now), FW_OK);
    return now;
  }
  /// Kernels that `launch` compiles.
  template <class Call> uint64_t compilesOf(Call call) {
    const uint64_t before = counters().compiles;
    EXPECT_EQ(call(), FW_OK) << lastError();
    return counters().compiles - before;
  }

  Folder folder;
  fw::driver::CUstream queue = nullptr;
  fw::driver::CUdeviceptr memory = 0;
  Context ctx;
  Request softmax;
};

class Environment {
public:
  Environment(const char *name, const char *value) : name(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name); }

private:
  const char *name;
};

TEST_F(RowVariants, each_width_and_alignment_has_its_kernel_once) {
  Program program = compile(ctx, softmax);
  EXPECT_EQ(counters().compiles, 1u) << "of any width";
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 64); }), 1u);
  EXPECT_EQ(compilesOf([&] { return launch(program, 9, 64); }), 0u) << "rows are run-time values";
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 65); }), 1u);
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 64, 1); }), 1u) << "together";
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 64, 1, 2); }), 1u) << "apart";
  for (int64_t columns : {64, 65})
    EXPECT_EQ(compilesOf([&] { return launch(program, 5, columns); }), 0u);
  EXPECT_EQ(counters().launches, 7u);
}

TEST_F(RowVariants, a_steady_launch_is_one_call_of_the_driver) {
  Program program = compile(ctx, softmax);
  ASSERT_EQ(launch(program, 5, 64), FW_OK) << lastError();
  fake.forget_calls();
  ASSERT_EQ(launch(program, 7, 64), FW_OK) << lastError();
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 1u);
  EXPECT_EQ(fake.calls("cuStreamIsCapturing"), 0u) << fake.call_list();
  EXPECT_EQ(fake.calls("cuLibraryLoadData"), 0u);
}

TEST_F(RowVariants, nothing_is_launched_for_no_rows) {
  Program program = compile(ctx, softmax);
  ASSERT_EQ(launch(program, 0, 64), FW_OK) << lastError();
  EXPECT_EQ(counters().launches, 0u);
  EXPECT_EQ(counters().compiles, 1u);
}

TEST_F(RowVariants, rows_without_columns_take_the_kernel_of_any_width) {
  Op sums = parse(ctx, "fuse 1\nop sums over rows {\n  in x;  save s\n  s = sum(x)\n}\n");
  Request req = request(sums);
  ASSERT_EQ(fw_request_target(req.get(), "cuda:0"), FW_OK);
  Program program = compile(ctx, req);
  const int64_t shape[] = {3, 0};
  fw_tensor tensors[] = {tensor("f32", nullptr, shape), tensor("f32", nullptr, shape)};
  tensors[0].rank = 2;
  for (fw_tensor &each : tensors)
    each.device = FW_DEVICE_CUDA, each.data = reinterpret_cast<void *>(memory);
  ASSERT_EQ(fw_launch(ctx.get(), program.get(), tensors, 2, nullptr, 0, queue), FW_OK)
      << lastError();
  EXPECT_EQ(counters().launches, 1u) << "each sum is 0";
}

TEST_F(RowVariants, any_takes_a_kernel_for_all_widths) {
  Environment any("FUSEWRIGHT_ROW_WIDTHS", "any");
  start();
  Program program = compile(ctx, softmax);
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 64); }), 1u) << "aligned rows";
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 128); }), 0u);
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 65); }), 1u) << "rows that are together";
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 67, 1); }), 0u);
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 64, 1, 2); }), 0u)
      << "the program itself is for all rows";
}

TEST_F(RowVariants, a_program_of_a_width_serves_it_and_refuses_others) {
  ASSERT_EQ(fw_request_fact(softmax.get(), "columns", 64), FW_OK) << lastError();
  ASSERT_EQ(fw_request_fact(softmax.get(), "aligned", 16), FW_OK) << lastError();
  Program program = compile(ctx, softmax);
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 64); }), 0u);
  EXPECT_EQ(errorOf(launch(program, 5, 65)),
            "expected rows of 64 elements, for which the program was made, got 65; make the "
            "request without the fact columns, or pass such tensors");
  EXPECT_NE(errorOf(launch(program, 5, 64, 1)).find("boundaries of 16 bytes"), std::string::npos);
}

TEST_F(RowVariants, facts_are_checked) {
  auto resolved = [&] {
    size_t count = 0;
    return fw_request_operand_count(softmax.get(), &count);
  };
  ASSERT_EQ(fw_request_fact(softmax.get(), "aligned", 8), FW_OK);
  EXPECT_NE(errorOf(resolved()).find("aligned"), std::string::npos);
  ASSERT_EQ(fw_request_fact(softmax.get(), "aligned", 1), FW_OK);
  ASSERT_EQ(fw_request_fact(softmax.get(), "color", 1), FW_OK);
  EXPECT_NE(errorOf(resolved()).find("color"), std::string::npos);
  EXPECT_NE(errorOf(fw_request_fact(softmax.get(), nullptr, 1)), "");
}

TEST_F(RowVariants, strict_mode_takes_what_is_on_disk) {
  {
    Program program = compile(ctx, softmax);
    ASSERT_EQ(launch(program, 5, 64), FW_OK) << lastError();
  }
  Environment strict("FUSEWRIGHT_STRICT", "1");
  start();
  Program program = compile(ctx, softmax);
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 64); }), 0u) << "its own kernel";
  EXPECT_EQ(counters().modules, 1u);
  EXPECT_EQ(compilesOf([&] { return launch(program, 5, 4097); }), 0u) << "the one for all rows";
  EXPECT_EQ(counters().modules, 2u);
  for (int64_t columns : {4098, 4099, 4097})
    EXPECT_EQ(compilesOf([&] { return launch(program, 5, columns); }), 0u);
  EXPECT_EQ(counters().modules, 2u);
}

TEST_F(RowVariants, a_capture_takes_what_is_loaded) {
  Program program = compile(ctx, softmax);
  fw::driver::CUgraph graph = nullptr;
  auto captured = [&](auto call) {
    EXPECT_EQ(cu.streamBeginCapture(queue, fw::driver::CaptureMode::GLOBAL), Answer::SUCCESS);
    const fw_status status = call();
    EXPECT_EQ(cu.streamEndCapture(queue, &graph), Answer::SUCCESS);
    return status;
  };
  EXPECT_NE(errorOf(captured([&] { return launch(program, 5, 64); })).find("warm up first"),
            std::string::npos);
  ASSERT_EQ(fw_preload(ctx.get(), program.get(), 0), FW_OK) << lastError();
  EXPECT_EQ(compilesOf([&] { return captured([&] { return launch(program, 5, 64); }); }), 0u)
      << "the one for all rows";
  ASSERT_EQ(launch(program, 5, 64), FW_OK) << lastError();
  EXPECT_EQ(compilesOf([&] { return captured([&] { return launch(program, 9, 64); }); }), 0u);
}

TEST_F(RowVariants, written_memory_is_shared_element_by_element_or_not_at_all) {
  Program program = compile(ctx, softmax);
  const int64_t shape[] = {4, 64};
  auto launchAt = [&](size_t yAt) {
    fw_tensor tensors[] = {tensor("f32", nullptr, shape), tensor("f32", nullptr, shape)};
    for (size_t k = 0; k < 2; ++k) {
      tensors[k].device = FW_DEVICE_CUDA;
      tensors[k].rank = 2;
      tensors[k].data = reinterpret_cast<void *>(memory + (k ? yAt : 0));
    }
    return fw_launch(ctx.get(), program.get(), tensors, 2, nullptr, 0, queue);
  };
  EXPECT_EQ(launchAt(0), FW_OK) << lastError();
  EXPECT_EQ(launchAt(4 * 64 * 4), FW_OK) << lastError();
  EXPECT_NE(errorOf(launchAt(16)).find("memory of its own"), std::string::npos);
}

TEST_F(RowVariants, threads_find_one_kernel_each) {
  Program program = compile(ctx, softmax);
  std::vector<std::thread> all;
  std::atomic<int> failures = 0;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      cu.ctxPushCurrent(context);
      for (int i = 0; i < 40; ++i)
        failures += launch(program, 5, 64 + 64 * ((t + i) % 3)) != FW_OK;
    });
  for (std::thread &each : all)
    each.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(counters().compiles, 4u);
  EXPECT_EQ(counters().launches, 160u);
}

} // namespace
