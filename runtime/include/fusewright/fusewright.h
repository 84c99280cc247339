/*
 * fusewright.h - fused training kernels from equations.
 *
 * Status. Every call that can fail returns fw_status; details are in fw_last_error() of the thread.
 *
 * Handles are opaque. A call that makes one (_create, _find, _parse, _compile) hands it to the
 * caller, who ends it with the matching _destroy. A handle keeps what it was made from alive. NULL
 * may be destroyed.
 *
 * Structs start with `struct_size = sizeof(the struct)`. Fields are only ever appended, up to 4096
 * bytes.
 *
 * Strings that the library returns live as long as the handle they were asked of.
 *
 * Outputs come last and are named `out`.
 *
 * Threads. Any number of threads may use a context, an op, a program or a buffer at once; a request
 * and a plan belong to one thread at a time.
 *
 * Names. Ops, dtypes, options, features, targets and hyper-parameters are found by name.
 */
#ifndef FUSEWRIGHT_FUSEWRIGHT_H
#define FUSEWRIGHT_FUSEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

#define FW_VERSION_MAJOR 0
#define FW_VERSION_MINOR 1
#define FW_VERSION_PATCH 0

#if defined(_WIN32)
#define FW_API
#else
#define FW_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status and errors ---------------------------------------------------------------------- */

typedef enum fw_status {
#define FW_STATUS(name, value, meaning) FW_##name = value,
#include "fusewright/status.def"
#undef FW_STATUS
  FW_STATUS_FORCE_INT = 0x7fffffff
} fw_status;

typedef struct fw_error {
  uint32_t struct_size;
  fw_status code;
  const char *text;   /* expected and got, lower case */
  const char *remedy; /* what to do; may be "" */
  const char *file;   /* op or cache file that the error is about; may be "" */
  int32_t line;       /* 1-based; 0: no place */
  int32_t column;
  const char *log; /* all diagnostics with source lines, or the compiler's log; may be "" */
} fw_error;

/* (major << 16) | minor of the library that is loaded. */
FW_API uint32_t fw_api_version(void);

/* "success", "an op file has an error" ...: the meaning of a status. */
FW_API const char *fw_status_text(fw_status status);

/* The error of the last call of this thread that failed. Valid until the thread's next call. */
FW_API const fw_error *fw_last_error(void);

/* ---- Context -------------------------------------------------------------------------------- */

typedef struct fw_context fw_context;

typedef enum fw_log_level {
  FW_LOG_DEBUG = 0,
  FW_LOG_INFO = 1,
  FW_LOG_WARNING = 2,
  FW_LOG_ERROR = 3
} fw_log_level;

typedef void (*fw_parallel_body)(void *argument, size_t index);

typedef struct fw_context_options {
  uint32_t struct_size;
  /* 1: never compile, fail with FW_STRICT_MISS. 0: compile. -1: FUSEWRIGHT_STRICT decides. */
  int32_t strict;
  const char *cache_dir; /* NULL: FUSEWRIGHT_CACHE_DIR, then the user's cache folder */
  void *user_data;       /* handed to the callbacks */
  /* Called from any thread; NULL: warnings and errors go to stderr. */
  void (*log)(void *user_data, fw_log_level level, const char *message);
  /* Runs body(argument, i) for all i < count, in any order and on any threads, and returns when all
     are done; NULL: the library's own threads. */
  void (*parallel_for)(void *user_data, size_t count, fw_parallel_body body, void *argument);
  /* Memory on a CUDA device for plans and buffers, aligned to 256 bytes, with a context of that
     device current. No work that is queued on any stream may still use what it returns: it is
     written at once, on a stream of the library's. May return NULL: the call fails with
     FW_OUT_OF_MEMORY. Both or neither; NULL: the driver's allocator. */
  void *(*device_allocate)(void *user_data, int32_t device_id, size_t bytes);
  void (*device_release)(void *user_data, int32_t device_id, void *memory);
  /* Folders of compiled kernels that are looked into after the cache folder, in this order, and
     never changed. NULL: FUSEWRIGHT_CACHE_READ_ONLY. */
  const char *const *read_only_cache_dirs;
  size_t read_only_cache_dir_count;
} fw_context_options;

/* Sets the defaults (strict = -1, everything else 0). */
FW_API void fw_context_options_init(fw_context_options *options);
/* `options` may be NULL. Needs no GPU and no home folder. */
FW_API fw_status fw_context_create(const fw_context_options *options, fw_context **out);
/* The context ends with the last handle made from it. Work that was queued through any of them must
   have finished. */
FW_API void fw_context_destroy(fw_context *context);

typedef struct fw_counters {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t memory_hits; /* programs found in this process */
  uint64_t disk_hits;   /* programs found in the cache folder */
  uint64_t compiles;    /* kernels compiled */
  uint64_t waits;       /* times another process compiled the kernel for us */
  uint64_t cache_faults;
  uint64_t launches;      /* of kernels, one-shot and by plans */
  uint64_t modules;       /* loaded into the driver */
  uint64_t table_uploads; /* copies of a plan's tables to its device */
} fw_counters;

FW_API fw_status fw_context_counters(const fw_context *context, fw_counters *out);

typedef struct fw_device_info {
  uint32_t struct_size;
  int32_t device_id;
  const char *name;
  const char *target; /* what fw_request_target takes for code that runs on it */
  int32_t compute_major;
  int32_t compute_minor;
  int32_t driver_version; /* 1000 * major + 10 * minor */
  int32_t multiprocessors;
  uint64_t memory_bytes;
} fw_device_info;

/* CUDA devices that this process sees. FW_DEVICE where the driver is missing or too old: the text
   says what it needs. */
FW_API fw_status fw_context_device_count(fw_context *context, int32_t *out);
FW_API fw_status fw_context_device(fw_context *context, int32_t device_id, fw_device_info *out);

/* ---- Ops ------------------------------------------------------------------------------------ */

typedef struct fw_op fw_op;

/* Shipped ops, sorted by name. */
FW_API size_t fw_shipped_op_count(void);
FW_API const char *fw_shipped_op_name(size_t index);

FW_API fw_status fw_op_find(fw_context *context, const char *name, fw_op **out);
/* Parses and checks `length` bytes of op text and takes the op called `name`; with NULL the text
   must have one op. `file` names the text in errors; may be NULL. Warnings go to the log. */
FW_API fw_status fw_op_parse(fw_context *context, const char *text, size_t length, const char *file,
                             const char *name, fw_op **out);
FW_API void fw_op_destroy(fw_op *op);

FW_API const char *fw_op_name(const fw_op *op);
/* sha256 of the token stream, hex: the op's identity. */
FW_API const char *fw_op_hash(const fw_op *op);

typedef struct fw_option_info {
  uint32_t struct_size;
  uint32_t value_count;
  const char *name;
  const char *const *values; /* the first is the default */
} fw_option_info;

typedef struct fw_scalar_info {
  uint32_t struct_size;
  int32_t is_step; /* counts applied steps from 1; has no default */
  const char *name;
  const char *kind;  /* "real", "bool", "int" */
  const char *range; /* ">= 0", "in [0, 1)"; "": any */
  double value;      /* default */
} fw_scalar_info;

FW_API size_t fw_op_option_count(const fw_op *op);
FW_API fw_status fw_op_option(const fw_op *op, size_t index, fw_option_info *out);
/* Features that are valid for the op. */
FW_API size_t fw_op_feature_count(const fw_op *op);
FW_API const char *fw_op_feature(const fw_op *op, size_t index);

/* ---- Requests ------------------------------------------------------------------------------- */

typedef struct fw_request fw_request;

FW_API fw_status fw_request_create(const fw_op *op, fw_request **out);
FW_API void fw_request_destroy(fw_request *request);

/* These calls only note what is wanted: a name or a value that does not fit is told by the first
   call that needs the whole request (_operand_count, _operand, fw_compile ...). A call that fails
   leaves the request as it was. `operand` is an operand's name or a role (all operands of it); a
   name wins. */
FW_API fw_status fw_request_dtype(fw_request *request, const char *operand, const char *dtype);
FW_API fw_status fw_request_option(fw_request *request, const char *option, const char *value);
FW_API fw_status fw_request_feature(fw_request *request, const char *feature);
/* An optional operand is not passed; its neutral value is compiled in. */
FW_API fw_status fw_request_absent(fw_request *request, const char *operand);
FW_API fw_status fw_request_schedule(fw_request *request, const char *decision, int64_t value);
/* What is known of the tensors of an op over rows, by a name of the reference page "Facts": with
   "columns" = 4096 the program is for rows of 4096 elements alone. Without facts fw_launch finds
   them, and the program made for them, by itself; so they are for caches that are filled before. */
FW_API fw_status fw_request_fact(fw_request *request, const char *fact, int64_t value);
/* "cpu" (the default), an arch such as "sm_90", or "cuda:1" ("cuda" is "cuda:0"): the arch of a
   device of this machine, which is looked up at once. */
FW_API fw_status fw_request_target(fw_request *request, const char *target);

typedef struct fw_operand_info {
  uint32_t struct_size;
  int32_t read;
  int32_t written;
  int32_t optional;
  const char *name;
  const char *role;  /* param, grad, state, in, out, row, column, save */
  const char *dtype; /* bound by the request; "bool", "i64" ... of bools and ints */
  double init;       /* first value of a state */
  const char *scope; /* element; or tensor, all: one value per tensor, or in all; or the axes that
                        the operand has of its own: "row", "[batch, 1, query, key]" */
} fw_operand_info;

/* Operands as options, dtypes and features leave them: the order of every array of tensors. */
FW_API fw_status fw_request_operand_count(const fw_request *request, size_t *out);
FW_API fw_status fw_request_operand(const fw_request *request, size_t index, fw_operand_info *out);
FW_API fw_status fw_request_scalar_count(const fw_request *request, size_t *out);
FW_API fw_status fw_request_scalar(const fw_request *request, size_t index, fw_scalar_info *out);

/* ---- Programs ------------------------------------------------------------------------------- */

typedef struct fw_program fw_program;

/* Compiles for the request's target, or finds the result in memory or on disk. Needs no device.
   LLVM, which makes the code, and NVRTC may end the process where they find no memory;
   FW_OUT_OF_MEMORY is what the rest of a compile says. */
FW_API fw_status fw_compile(fw_context *context, const fw_request *request, fw_program **out);
FW_API void fw_program_destroy(fw_program *program);

typedef struct fw_kernel_info {
  uint32_t struct_size;
  int32_t threads;
  const char *symbol;
  const char *target;
  const char *schedule; /* decisions taken; "" on the CPU */
  int32_t registers;    /* -1 on the CPU */
  int32_t spill_bytes;  /* -1 on the CPU */
  uint32_t chunk;       /* elements of a chunk record; 0 on the CPU */
  uint32_t slots;       /* results of the scalar program that the kernel reads */
  const void *image;    /* cubin, PTX where only that fits the device, or the CPU's object code */
  size_t image_bytes;
  int32_t one_pass; /* 1: the program is this kernel alone, over elements, and its scalars depend on
                       hyper-parameters alone: fw_launch takes it on a GPU, others need a plan */
  uint32_t reserved;
} fw_kernel_info;

/* The readable key: sha256 of the canonical request, the op and the compiler build. */
FW_API const char *fw_program_key(const fw_program *program);
/* "memory", "disk" or "compiled": where the program came from. */
FW_API const char *fw_program_origin(const fw_program *program);
FW_API double fw_program_compile_ms(const fw_program *program);
FW_API size_t fw_program_kernel_count(const fw_program *program);
FW_API fw_status fw_program_kernel(const fw_program *program, size_t index, fw_kernel_info *out);

typedef struct fw_text fw_text;

/* Text of a stage of the request's way down: "semantic", "phases", "cuda", "ptx" or "llvm". */
FW_API fw_status fw_request_text(fw_context *context, const fw_request *request, const char *stage,
                                 fw_text **out);
FW_API const char *fw_text_data(const fw_text *text);
FW_API size_t fw_text_length(const fw_text *text);
FW_API void fw_text_destroy(fw_text *text);

/* ---- Tensors, scalars, launch ---------------------------------------------------------------- */

typedef enum fw_device { FW_DEVICE_CPU = 1, FW_DEVICE_CUDA = 2 } fw_device; /* DLPack's numbers */

typedef struct fw_tensor {
  uint32_t struct_size;
  int32_t device; /* fw_device */
  int32_t device_id;
  int32_t rank;      /* 0 to 64 */
  const char *dtype; /* must equal the request's */
  void *data;        /* NULL: an absent optional operand, or an empty tensor */
  const int64_t *shape;
  const int64_t *strides; /* in elements; NULL: dense, row-major */
  uint64_t first_element; /* number of the shard's first element in the unsharded tensor */
} fw_tensor;

typedef struct fw_scalar {
  uint32_t struct_size;
  uint32_t reserved;
  const char *name;
  double value;         /* used when values is NULL */
  const double *values; /* one per tensor of the list */
  size_t count; /* of `values` or `data`: the number of tensors in the list, or 1 for `data` */
  /* Plans alone: memory on the plan's device that a run reads when its turn on the stream comes, in
     place of `value`. So a captured graph follows what the device holds. Ranges are not checked. */
  void *data;
  const char *dtype; /* of `data`: "f32", "f64", "i32" or "i64" */
  int32_t advance; /* 1: a run reads one more than `data` holds, and counts it once it is applied */
  uint32_t reserved2;
} fw_scalar;

typedef void *fw_stream; /* CUstream, NULL being the legacy default stream; ignored on the CPU */

/*
 * Runs the program over a list of entries: tensors[i * operands + k] is operand k of entry i, in
 * the order of fw_request_operand. Operands of scope all stand behind the last entry, once, and do
 * not count as operands of an entry. A list may be empty; entries without elements are left out,
 * but for their operands of scope tensor. On the CPU the call returns when the work is done.
 * Nothing is written when the call fails.
 *
 * Reductions are those of the whole list. They do not depend on the number of threads. A step that
 * the op skips writes nothing but numbers that it reports, which are its outs of scope tensor or
 * all. Ops with reductions need a plan on a CUDA device.
 *
 * Layout. All operands of an entry have the same shape, but for those of scope tensor or all, which
 * are tensors of one element. Dense tensors of any order of dimensions
 * work, and strided views where the strides mean the same in all operands and some dimension has
 * stride 1. Strides of dimensions of size 1 mean nothing. An operand that is only read may be
 * expanded (stride 0) over outer dimensions. Any alignment works.
 *
 * Rows. The operands of an op over axes have the dimensions that their axes name (`scope` of
 * fw_operand_info; of scope element, those of the op's header), of one length each; an axis 1 is a
 * dimension of size 1. In an op over rows any number of dimensions in front of the last one is the
 * axis row. Strides are free, but for 1 along the axis that a row spans.
 *
 * Sharing. A written tensor shares memory with no other, except with an operand of its own entry
 * that is only read, has the same element size and strides, and stands at the same address. The
 * call checks this byte by byte: views of one tensor, such as its two halves, may lie between each
 * other.
 *
 * Scalars. A hyper-parameter that is not named has its default. The step, where the op has one,
 * must be given and counts from 1. Each scalar has one value for the list, or one per entry; those
 * of features (all.scale ...), and those that a number of scope all or the decision to skip depends
 * on, have one for the list.
 *
 * On a CUDA device the call returns when the work is queued on `stream`, whose context, or another
 * of its device, may be current; a long list is several launches: make a plan of it. A program's
 * first launch on a device loads it and cannot be captured; see fw_preload.
 */
FW_API fw_status fw_launch(fw_context *context, const fw_program *program, const fw_tensor *tensors,
                           size_t tensor_count, const fw_scalar *scalars, size_t scalar_count,
                           fw_stream stream);

/* Loads a program into the driver for a device, so that its first launch may be captured in a
   graph. Plans do this when they are made. */
FW_API fw_status fw_preload(fw_context *context, const fw_program *program, int32_t device_id);

/* ---- Plans ----------------------------------------------------------------------------------- */

/*
 * A plan is a list of tensors made ready once: every later run costs one kernel launch per program
 * and pass, whatever the number of tensors, with no allocation and no wait, and may be captured in
 * a graph. A step with a norm of all gradients is two passes.
 *
 * Groups may differ in dtypes (then in programs) and in scalars; groups of one program share a
 * launch. A reduction that keeps all, and the decision to skip, are those of all groups, and each
 * group names the same tensors for operands of scope all. A step that is skipped is not counted.
 * All tensors of a plan are on one device, the programs are compiled for it, and their layout rules
 * are those of fw_launch. The plan keeps addresses, not tensors: their memory must outlive its
 * runs.
 *
 * Scalars. The value of a run wins over that of the group, which wins over the op's default. A
 * scalar has one value, one per tensor, or numbers in device memory; what fw_launch takes one value
 * of has one in all groups.
 *
 * Graphs. A run that is captured keeps the addresses and host values of that moment; device numbers
 * are read by each replay. The plan must outlive the graph; the first run behind a capture takes
 * memory, since the graph keeps what its run would write. fw_plan_create makes all ready that runs
 * need, for numbers in device memory too where its groups name some. A run that is the first to
 * read numbers in device memory may compile a kernel for them, and is refused in a capture: run
 * once before.
 *
 * Threads. One thread at a time uses a plan. Runs are ordered by the streams they are given.
 *
 * Errors. A call that fails leaves plan and tensors as they were, and the numbers that `advance`
 * counts. A run that the driver stops between two of its kernels cannot; its error then says that
 * some groups have had the step, that operands of scope tensor or all have, or that a step stays
 * counted. What the device reports later comes back from the next call on any plan of that device,
 * with FW_DEVICE.
 */
typedef struct fw_plan fw_plan;

typedef struct fw_plan_group {
  uint32_t struct_size;
  uint32_t reserved;
  const fw_program *program;
  const fw_tensor *tensors; /* as in fw_launch */
  size_t tensor_count;
  const fw_scalar *scalars;
  size_t scalar_count;
} fw_plan_group;

typedef struct fw_plan_info {
  uint32_t struct_size;
  uint32_t launches; /* of kernels, in the last run, or in one to come; on the CPU passes, one for
                        each group */
  int32_t device;    /* fw_device */
  int32_t device_id;
  uint64_t entries; /* with elements */
  uint64_t elements;
  uint64_t blocks;          /* of all launches; shares of work on the CPU */
  uint64_t streamed_bytes;  /* every operand's bytes, once per read and once per write */
  uint64_t workspace_bytes; /* device memory that the plan holds */
  uint32_t exchanges;       /* calls of fw_world.all_reduce in a run */
  uint32_t reserved;
} fw_plan_info;

/*
 * Exchanges of `world` reductions among ranks; used by programs that have one. Every rank makes the
 * same calls in the same order, one for each kind that a pass reduces, whatever its tensors;
 * without tensors too, so that no rank waits for another.
 */
typedef struct fw_world {
  uint32_t struct_size;
  uint32_t reserved;
  void *user_data;
  /* Reduces `count` numbers of `dtype` ("f64") at `data` in place over all ranks, in the order of
     `stream`; `kind` is "sum" or "max". A minimum comes as the max of negated numbers. A max with a
     NaN among its numbers must be NaN. `data` is where the plan is: in host memory for a plan on
     the CPU. A status other than FW_OK ends the run, before anything is written, and comes back
     from fw_plan_run. */
  fw_status (*all_reduce)(void *user_data, void *data, size_t count, const char *dtype,
                          const char *kind, fw_stream stream);
} fw_world;

/* `group_count` may be 0: such a plan does nothing, and exchanges nothing with other ranks; a rank
   without tensors makes a plan of one empty group. */
FW_API fw_status fw_plan_create(fw_context *context, const fw_plan_group *groups,
                                size_t group_count, fw_plan **out);
/* Its runs must have finished, and graphs that hold one must be gone. */
FW_API void fw_plan_destroy(fw_plan *plan);
FW_API fw_status fw_plan_describe(const fw_plan *plan, fw_plan_info *out);
/* New addresses for one operand of all entries of a group, in their order; layouts stay. Memory
   that tensors share is not looked for. An operand with one value in all has one address, for all
   groups. */
FW_API fw_status fw_plan_set_pointers(fw_plan *plan, size_t group, const char *operand,
                                      void *const *pointers, size_t count);
/* Replaces the scalars of a group. */
FW_API fw_status fw_plan_set_scalars(fw_plan *plan, size_t group, const fw_scalar *scalars,
                                     size_t scalar_count);
/* `scalars` are for all groups; those with `values` have one per entry of the whole plan. `world`
   may be NULL. On the CPU the call returns when the work is done. */
FW_API fw_status fw_plan_run(fw_plan *plan, const fw_scalar *scalars, size_t scalar_count,
                             fw_stream stream, const fw_world *world);

/* ---- Loss scaling ---------------------------------------------------------------------------- */

/*
 * A loss scale that lives on a device, with what decides about it. The caller multiplies the loss
 * by the scale; plans with the features `unscale` and `guard` read it (fw_scaler_scalar) and report
 * what became of their step (all.skipped); fw_scaler_update moves the scale by these reports.
 * Nothing of that waits for the host, and all of it may be captured in a graph. The update is the
 * shipped op loss_scale, the same to the bit on every device. Per-loss scalers are several scalers.
 *
 * Threads. One thread at a time uses a scaler. Its updates are ordered by the streams they are
 * given.
 *
 * Log. A call that sees a state for the first time tells what has changed: the first 10 skips as
 * FW_LOG_INFO, later ones as FW_LOG_WARNING.
 */
typedef struct fw_scaler fw_scaler;

typedef struct fw_scaler_options {
  uint32_t struct_size;
  uint32_t reserved;
  const char *device; /* "cpu" (the default), "cuda:1" ("cuda" is "cuda:0") */
  const char *mode;   /* "dynamic" (the default), or "static": the scale stays, skips are counted */
  const char *refill; /* hysteresis is whole again after "clean": each applied step (the default,
                         and Apex's), or "growth": when the scale grows (Megatron's) */
  const char *denormals;   /* "keep" (the default), or "flush": a denormal scale is 0 (Apex's) */
  double init_scale;       /* 65536 */
  double growth_factor;    /* 2; >= 1 */
  double backoff_factor;   /* 0.5; in (0, 1) */
  double min_scale;        /* floor: 2^-16; 0: none */
  double max_scale;        /* ceiling: the largest finite f32 number */
  int64_t growth_interval; /* 2000 applied steps in a row until the scale grows; at most 2^24 */
  int64_t hysteresis;      /* 1: the skip at which the scale is lowered; at most 2^24 */
} fw_scaler_options;

/* Sets the defaults. */
FW_API void fw_scaler_options_init(fw_scaler_options *options);
/* `options` may be NULL. Compiles, and takes memory on the device, with its context current. */
FW_API fw_status fw_scaler_create(fw_context *context, const fw_scaler_options *options,
                                  fw_scaler **out);
/* Its updates, and runs that read its scale, have finished; graphs that hold one are gone. */
FW_API void fw_scaler_destroy(fw_scaler *scaler);

/* The scalar "all.scale", read from the scaler's memory: for fw_plan_run of plans on its device. */
FW_API fw_status fw_scaler_scalar(const fw_scaler *scaler, fw_scalar *out);

/* Notes that the gradients of `owner`, any address, are unscaled for this step. FW_USAGE where they
   are already since the last update: they would be divided twice. A note of the host alone. */
FW_API fw_status fw_scaler_claim(fw_scaler *scaler, const void *owner);
/* Takes the note of `owner` back, if there is one: the run that was to unscale its gradients has
   failed, or is not made. */
FW_API fw_status fw_scaler_release(fw_scaler *scaler, const void *owner);

/* Moves the scale, in the order of `stream`: skipped[i] is the address on the scaler's device of
   the f32 number that optimizer i reported: all.skipped, or any number that is 0 where its step was
   applied. The step counts as skipped where one of them was. count is 1
   to 8. Allocates nothing and does not wait; on the CPU the call returns when the work is done. A
   capture keeps the addresses. A call that fails has moved nothing, unless its error says that the
   update is queued: then the state did not get to the host, and fw_scaler_wait brings it. */
FW_API fw_status fw_scaler_update(fw_scaler *scaler, const void *const *skipped, size_t count,
                                  fw_stream stream);

typedef enum fw_step_outcome {
  FW_STEP_APPLIED = 0,
  FW_STEP_BAD_GRADIENT = 1, /* `tensor` is the first with a gradient that is not finite */
  FW_STEP_BAD_NORM = 2,     /* gradients are finite, their norm is not; or the report is NaN */
  FW_STEP_LEFT_OUT = 3,     /* the caller's own word, all.skip */
  FW_STEP_BAD_NUMBER = 4    /* all.skipped is -2: a scalar of a feature (all.max_norm ...) that was
                               read from memory is outside its range; -3: other ranks gave no number
                               of a tensor; or a report that is none of guard's */
} fw_step_outcome;

typedef struct fw_scaler_state {
  uint32_t struct_size;
  int32_t outcome;  /* fw_step_outcome of the last update; FW_STEP_APPLIED before the first */
  int64_t tensor;   /* number in the optimizer's plan, from 0; -1: none, or 2^24 - 1 or more */
  uint64_t report;  /* the optimizer that skipped: i of skipped[i] */
  uint64_t updates; /* since the scaler was made or loaded state began */
  uint64_t skips;
  uint64_t skips_in_a_row;
  uint64_t growth_count; /* applied steps since the scale was moved */
  uint64_t hysteresis_left;
  double scale;
  double previous_scale; /* before the last update */
} fw_scaler_state;

/* The last state that has arrived at the host; does not wait. On the CPU that is the state. On a
   CUDA device each update sends it, and work of the stream that is queued is not seen yet. */
FW_API fw_status fw_scaler_read(fw_scaler *scaler, fw_scaler_state *out);
/* Waits for `stream`, so that the next fw_scaler_read gives what its updates left. Not inside a
   capture. */
FW_API fw_status fw_scaler_wait(fw_scaler *scaler, fw_stream stream);

/* The state as named numbers, exact: only `name` and `value` of the scalars are set. `out` has room
   for `capacity` of them, each with its struct_size; *count gets their number, and with `out` NULL
   nothing else happens. Waits for `stream`; not inside a capture. Options are not part of it. */
FW_API fw_status fw_scaler_save(fw_scaler *scaler, fw_scalar *out, size_t capacity, size_t *count,
                                fw_stream stream);
/* Takes saved numbers in any order; those that are missing are as in a new scaler. FW_USAGE names
   what makes no sense, and nothing is changed then. Waits for `stream`; not inside a capture. */
FW_API fw_status fw_scaler_load(fw_scaler *scaler, const fw_scalar *numbers, size_t count,
                                fw_stream stream);

/* ---- Buffers --------------------------------------------------------------------------------- */

/* Memory for callers that have no allocator of their own for a device. */
typedef struct fw_buffer fw_buffer;

/* Aligned to 256 bytes; not initialised. `bytes` may be 0. */
FW_API fw_status fw_buffer_create(fw_context *context, fw_device device, int32_t device_id,
                                  size_t bytes, fw_buffer **out);
/* All work that uses the memory must have finished. */
FW_API void fw_buffer_destroy(fw_buffer *buffer);
FW_API void *fw_buffer_data(const fw_buffer *buffer);
FW_API size_t fw_buffer_bytes(const fw_buffer *buffer);
/* In the order of `stream`; returns when `from` may be changed. Not inside a capture. */
FW_API fw_status fw_buffer_copy_in(fw_buffer *buffer, size_t offset, const void *from, size_t bytes,
                                   fw_stream stream);
/* In the order of `stream`; returns when `to` holds the bytes. Not inside a capture. */
FW_API fw_status fw_buffer_copy_out(const fw_buffer *buffer, size_t offset, void *to, size_t bytes,
                                    fw_stream stream);

/* ---- Reference ------------------------------------------------------------------------------- */

/*
 * The reference: evaluates the request's equations for a list of host tensors, an array as that of
 * fw_launch, in double precision. `values` and `bounds` take the written operands in operand order,
 * dense and concatenated, of each operand all entries: as many numbers as they have elements, one
 * per entry of an operand with one value per tensor, and one of an operand with one value in all.
 * Every correct kernel's element lies within values +- bounds (a bound of inf says that any value
 * is right).
 */
FW_API fw_status fw_evaluate(const fw_request *request, const fw_tensor *tensors,
                             size_t tensor_count, const fw_scalar *scalars, size_t scalar_count,
                             double *values, double *bounds);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FUSEWRIGHT_FUSEWRIGHT_H */
