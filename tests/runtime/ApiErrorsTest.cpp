// Misuse of the C API: the status and the exact words.
#include "tests/runtime/Api.h"

#include <cstring>

namespace {

using namespace api;

class Misuse : public testing::Test {
protected:
  Context ctx = context();
  Op op = find(ctx, "adamw");
  Request req = request(op);
};

std::string nullFor(const char *argument) {
  return std::string(argument) + ": expected an address, got NULL; pass the address of an object; "
                                 "fusewright.h says which may be NULL";
}

const std::string indexRemedy = "; ask for their count first; indices start at 0";

#define EXPECT_ERROR(call, status, words)                                                          \
  EXPECT_EQ(call, status);                                                                         \
  EXPECT_EQ(lastError(), words)

TEST_F(Misuse, nullsAreTold) {
  fw_context *context = nullptr;
  fw_op *found = nullptr;
  EXPECT_ERROR(fw_context_create(nullptr, nullptr), FW_USAGE, nullFor("out"));
  EXPECT_ERROR(fw_op_find(nullptr, "adamw", &found), FW_USAGE, nullFor("context"));
  EXPECT_ERROR(fw_op_find(ctx.get(), nullptr, &found), FW_USAGE, nullFor("name"));
  EXPECT_ERROR(fw_op_parse(ctx.get(), nullptr, 3, nullptr, nullptr, &found), FW_USAGE,
               nullFor("text"));
  EXPECT_ERROR(fw_request_create(nullptr, nullptr), FW_USAGE, nullFor("out"));
  EXPECT_ERROR(fw_request_dtype(req.get(), "grad", nullptr), FW_USAGE, nullFor("dtype"));
  EXPECT_ERROR(fw_request_target(nullptr, "cpu"), FW_USAGE, nullFor("request"));
  EXPECT_ERROR(fw_launch(ctx.get(), nullptr, nullptr, 0, nullptr, 0, nullptr), FW_USAGE,
               nullFor("program"));
  EXPECT_ERROR(fw_program_kernel(nullptr, 0, nullptr), FW_USAGE, nullFor("program"));
  fw_plan *plan = nullptr;
  EXPECT_ERROR(fw_plan_create(ctx.get(), nullptr, 1, &plan), FW_USAGE, nullFor("groups"));
  EXPECT_ERROR(fw_plan_create(nullptr, nullptr, 0, &plan), FW_USAGE, nullFor("context"));
  EXPECT_ERROR(fw_plan_run(nullptr, nullptr, 0, nullptr, nullptr), FW_USAGE, nullFor("plan"));
  EXPECT_ERROR(fw_plan_describe(nullptr, nullptr), FW_USAGE, nullFor("plan"));
  EXPECT_ERROR(fw_preload(ctx.get(), nullptr, 0), FW_USAGE, nullFor("program"));
  EXPECT_ERROR(fw_context_device_count(ctx.get(), nullptr), FW_USAGE, nullFor("out"));
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(context, nullptr);
  EXPECT_EQ(found, nullptr);
}

TEST_F(Misuse, nullHandlesEndAndAnswerWithNothing) {
  fw_context_destroy(nullptr);
  fw_op_destroy(nullptr);
  fw_request_destroy(nullptr);
  fw_program_destroy(nullptr);
  fw_text_destroy(nullptr);
  fw_plan_destroy(nullptr);
  fw_buffer_destroy(nullptr);
  EXPECT_EQ(fw_buffer_data(nullptr), nullptr);
  EXPECT_EQ(fw_buffer_bytes(nullptr), 0u);
  EXPECT_STREQ(fw_op_name(nullptr), "");
  EXPECT_STREQ(fw_op_hash(nullptr), "");
  EXPECT_EQ(fw_op_option_count(nullptr), 0u);
  EXPECT_EQ(fw_op_feature_count(nullptr), 0u);
  EXPECT_EQ(fw_op_feature(op.get(), 100), nullptr);
  EXPECT_STREQ(fw_program_origin(nullptr), "");
  EXPECT_EQ(fw_program_kernel_count(nullptr), 0u);
  EXPECT_STREQ(fw_text_data(nullptr), "");
}

TEST_F(Misuse, tooSmallStructsAreTold) {
  fw_operand_info info = {};
  EXPECT_ERROR(
      fw_request_operand(req.get(), 0, &info), FW_USAGE,
      "out: expected struct_size >= 48, got 0; set struct_size to the sizeof of the struct");
  fw_context_options options;
  fw_context_options_init(&options);
  options.struct_size = 8;
  fw_context *out = nullptr;
  EXPECT_ERROR(
      fw_context_create(&options, &out), FW_USAGE,
      "options: expected struct_size >= 40, got 8; set struct_size to the sizeof of the struct");
  EXPECT_EQ(out, nullptr);
}

TEST_F(Misuse, smallerStructsAreFilledAsFarAsTheyGo) {
  struct Old { // fw_counters without what 0.1 did not have at first
    char known[56];
    uint64_t behind[2] = {0x5555, 0x5555};
  } old;
  auto *counters = reinterpret_cast<fw_counters *>(&old);
  counters->struct_size = sizeof old.known;
  ASSERT_EQ(fw_context_counters(ctx.get(), counters), FW_OK) << lastError();
  EXPECT_EQ(counters->struct_size, sizeof old.known);
  EXPECT_EQ(old.behind[0], 0x5555u);
  EXPECT_EQ(old.behind[1], 0x5555u);
}

TEST_F(Misuse, optionsOfTheFirstVersionHaveNoAllocator) {
  fw_context_options options;
  fw_context_options_init(&options);
  options.struct_size = 40;
  options.device_allocate = [](void *, int32_t, size_t) -> void * { return nullptr; };
  fw_context *out = nullptr; // one callback without the other would be refused
  EXPECT_EQ(fw_context_create(&options, &out), FW_OK) << lastError();
  fw_context_destroy(out);
  options.struct_size = sizeof options;
  EXPECT_EQ(fw_context_create(&options, &out), FW_USAGE);
}

TEST_F(Misuse, largerStructsAreFilledAsFarAsKnown) {
  struct Newer {
    fw_operand_info known;
    char unknown[16];
  } newer = {};
  std::memset(newer.unknown, 0x55, sizeof newer.unknown);
  newer.known.struct_size = sizeof newer;
  ASSERT_EQ(fw_request_operand(req.get(), 1, &newer.known), FW_OK);
  EXPECT_STREQ(newer.known.name, "g");
  EXPECT_EQ(newer.known.struct_size, sizeof newer);
  for (char byte : newer.unknown)
    EXPECT_EQ(byte, 0x55);
}

TEST_F(Misuse, indicesBeyondTheEnd) {
  fw_operand_info info = {};
  info.struct_size = sizeof info;
  EXPECT_ERROR(fw_request_operand(req.get(), 4, &info), FW_USAGE,
               std::string("index: expected one of 4 operands, got 4") + indexRemedy);
  fw_option_info option = {};
  option.struct_size = sizeof option;
  const size_t count = fw_op_option_count(op.get());
  EXPECT_ERROR(fw_op_option(op.get(), count, &option), FW_USAGE,
               "index: expected one of " + std::to_string(count) + " options, got " +
                   std::to_string(count) + indexRemedy);
}

TEST_F(Misuse, opTextErrorsHaveAPlace) {
  const char *text = "op bad over elements {\n  in x;  out y\n  y = x +\n}\n";
  fw_op *out = nullptr;
  EXPECT_EQ(fw_op_parse(ctx.get(), text, std::strlen(text), "bad.fuse", nullptr, &out), FW_OP_TEXT);
  EXPECT_STREQ(fw_last_error()->file, "bad.fuse");
  EXPECT_GT(fw_last_error()->line, 0);
  EXPECT_GT(fw_last_error()->column, 0);
  EXPECT_NE(std::string(fw_last_error()->log).find("bad.fuse:"), std::string::npos);
  EXPECT_EQ(out, nullptr);
}

TEST_F(Misuse, textWithoutAFileIsCalledText) {
  const char *text = "op x over elements { in a; out b; b = a }\n";
  fw_op *out = nullptr;
  EXPECT_ERROR(fw_op_parse(ctx.get(), text, std::strlen(text), nullptr, "y", &out), FW_USAGE,
               "expected an op of text, got 'y'; its ops are x");
}

TEST_F(Misuse, longNamesAreCut) {
  fw_op *out = nullptr;
  EXPECT_EQ(fw_op_find(ctx.get(), std::string(50000, 'a').c_str(), &out), FW_USAGE);
  EXPECT_LT(lastError().size(), 4100u);
  EXPECT_EQ(fw_request_feature(req.get(), std::string(50000, 'a').c_str()), FW_OK);
  size_t count = 0;
  EXPECT_EQ(fw_request_operand_count(req.get(), &count), FW_USAGE);
  EXPECT_LT(lastError().size(), 4100u);
}

TEST_F(Misuse, wrongRequestsFailAndCanBeMended) {
  fw_program *program = nullptr;
  ASSERT_EQ(fw_request_dtype(req.get(), "grad", "f33"), FW_OK);
  EXPECT_EQ(fw_compile(ctx.get(), req.get(), &program), FW_USAGE);
  EXPECT_NE(lastError().find("f33"), std::string::npos) << lastError();
  EXPECT_EQ(program, nullptr);
  ASSERT_EQ(fw_request_dtype(req.get(), "grad", "f32"), FW_OK);
  ASSERT_EQ(fw_compile(ctx.get(), req.get(), &program), FW_OK) << lastError();
  fw_program_destroy(program);
}

TEST_F(Misuse, unknownNames) {
  fw_op *found = nullptr;
  EXPECT_EQ(fw_op_find(ctx.get(), "adamx", &found), FW_USAGE);
  EXPECT_NE(lastError().find("adamx"), std::string::npos);
  fw_text *text = nullptr;
  EXPECT_ERROR(fw_request_text(ctx.get(), req.get(), "sass", &text), FW_USAGE,
               "expected a stage, got 'sass'; use one of semantic, phases, cuda, ptx, llvm");
}

TEST_F(Misuse, launchErrorsReachTheCaller) {
  Program program = compile(ctx, req);
  const int64_t count = 4;
  float data[4][4] = {};
  fw_tensor tensors[4];
  for (int k = 0; k < 4; ++k)
    tensors[k] = tensor(k == 1 ? "bf16" : "f32", data[k], &count);
  fw_scalar step = scalar("t", 1);
  EXPECT_ERROR(fw_launch(ctx.get(), program.get(), tensors, 4, &step, 1, nullptr), FW_USAGE,
               "tensor 1 (g of entry 0): expected dtype f32, got bf16; bind the tensor's dtype in "
               "the request, or cast "
               "the tensor");
  tensors[0].struct_size = 3;
  EXPECT_ERROR(
      fw_launch(ctx.get(), program.get(), tensors, 4, &step, 1, nullptr), FW_USAGE,
      "tensor 0: expected struct_size >= 56, got 3; set struct_size to the sizeof of the struct");
  tensors[0].struct_size = 0xffffffff;
  EXPECT_ERROR(fw_launch(ctx.get(), program.get(), tensors, 4, &step, 1, nullptr), FW_USAGE,
               "tensor 0: expected struct_size <= 4096, got 4294967295; set struct_size to the "
               "sizeof of the struct");
}

TEST_F(Misuse, everyStatusHasAMeaning) {
  EXPECT_STREQ(fw_status_text(FW_OK), "success");
  EXPECT_STREQ(fw_status_text(FW_STRICT_MISS),
               "strict mode: the kernel is not in any cache and must not be compiled");
  EXPECT_STREQ(fw_status_text(fw_status(1234)), "an unknown status");
}

TEST_F(Misuse, strictIsOneOfThreeValues) {
  for (int32_t strict : {-2, 2, 1000}) {
    fw_context_options options;
    fw_context_options_init(&options);
    options.strict = strict;
    fw_context *out = nullptr;
    EXPECT_ERROR(fw_context_create(&options, &out), FW_USAGE,
                 "options: expected strict of -1, 0 or 1, got " + std::to_string(strict) +
                     "; start from fw_context_options_init, which sets -1");
    EXPECT_EQ(out, nullptr);
  }
}

TEST_F(Misuse, strictModeCompilesNoPtxToo) {
  fw_context_options options;
  fw_context_options_init(&options);
  options.strict = 1;
  Context strict =
      make<Context>([&](fw_context **out) { return fw_context_create(&options, out); });
  ASSERT_EQ(fw_request_target(req.get(), "sm_90"), FW_OK);
  fw_text *text = nullptr;
  EXPECT_EQ(fw_request_text(strict.get(), req.get(), "ptx", &text), FW_STRICT_MISS);
  EXPECT_NE(lastError().find("ask for the stage cuda, or leave strict mode"), std::string::npos);
  EXPECT_EQ(text, nullptr);
}

TEST_F(Misuse, strictModeNamesWhatIsMissing) {
  fw_context_options options;
  fw_context_options_init(&options);
  options.strict = 1;
  Context strict =
      make<Context>([&](fw_context **out) { return fw_context_create(&options, out); });
  Op unseen =
      parse(strict, "op never_compiled over elements { in x; out y\n  y = x*3.25 - 17\n}\n");
  Request miss = request(unseen);
  fw_program *program = nullptr;
  EXPECT_EQ(fw_compile(strict.get(), miss.get(), &program), FW_STRICT_MISS);
  EXPECT_NE(lastError().find("never_compiled"), std::string::npos) << lastError();
}

} // namespace
