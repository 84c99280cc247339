/*
 * fusewright.h - fused training kernels from equations.
 *
 * Status. Every call that can fail returns fw_status; details are in fw_last_error() of the thread.
 *
 * Handles are opaque. A call that makes one (_create, _find, _parse, _compile) hands it to the
 * caller, who ends it with the matching _destroy. A handle keeps what it was made from alive. NULL
 * may be destroyed.
 *
 * Structs start with `struct_size = sizeof(the struct)`. Fields are only ever appended.
 *
 * Strings that the library returns live as long as the handle they were asked of.
 *
 * Outputs come last and are named `out`.
 *
 * Threads. Any number of threads may use a context, an op or a program at once; a request belongs
 * to one thread at a time.
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
} fw_context_options;

/* Sets the defaults (strict = -1, everything else 0). */
FW_API void fw_context_options_init(fw_context_options *options);
/* `options` may be NULL. Needs no GPU and no home folder. */
FW_API fw_status fw_context_create(const fw_context_options *options, fw_context **out);
FW_API void fw_context_destroy(fw_context *context);

typedef struct fw_counters {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t memory_hits; /* programs found in this process */
  uint64_t disk_hits;   /* programs found in the cache folder */
  uint64_t compiles;    /* kernels compiled */
  uint64_t waits;       /* times another process compiled the kernel for us */
  uint64_t cache_faults;
  uint64_t launches;
} fw_counters;

FW_API fw_status fw_context_counters(const fw_context *context, fw_counters *out);

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
/* "cpu" or an arch such as "sm_90"; the default is "cpu". */
FW_API fw_status fw_request_target(fw_request *request, const char *target);

typedef struct fw_operand_info {
  uint32_t struct_size;
  int32_t read;
  int32_t written;
  int32_t optional;
  const char *name;
  const char *role;  /* param, grad, state, in, out, row, column, save */
  const char *dtype; /* bound by the request */
  double init;       /* first value of a state */
} fw_operand_info;

/* Operands as options, dtypes and features leave them: the order of every array of tensors. */
FW_API fw_status fw_request_operand_count(const fw_request *request, size_t *out);
FW_API fw_status fw_request_operand(const fw_request *request, size_t index, fw_operand_info *out);
FW_API fw_status fw_request_scalar_count(const fw_request *request, size_t *out);
FW_API fw_status fw_request_scalar(const fw_request *request, size_t index, fw_scalar_info *out);

/* ---- Programs ------------------------------------------------------------------------------- */

typedef struct fw_program fw_program;

/* Compiles for the request's target, or finds the result in memory or on disk. Needs no device. */
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
  const void *image;    /* cubin, or the CPU's object code */
  size_t image_bytes;
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
  int32_t rank;
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
  size_t count;         /* of `values`: the number of tensors in the list */
} fw_scalar;

typedef void *fw_stream; /* CUstream; ignored on the CPU */

/*
 * Runs the program over a list of `tensor_count / operands` entries: tensors[i * operands + k] is
 * operand k of entry i. A list may be empty; entries without elements are left out. On the CPU the
 * call returns when the work is done. Nothing is written when the call fails.
 *
 * Layout. All operands of an entry have the same shape. Dense tensors of any order of dimensions
 * work, and strided views where the strides mean the same in all operands and some dimension has
 * stride 1. Strides of dimensions of size 1 mean nothing. An operand that is only read may be
 * expanded (stride 0) over outer dimensions. Any alignment works.
 *
 * Sharing. A written tensor shares memory with no other, except with an operand of its own entry
 * that is only read, has the same element size and stands at the same address. The call checks this
 * for dense tensors; views that share memory give wrong numbers.
 *
 * Scalars. A hyper-parameter that is not named has its default. The step, where the op has one,
 * must be given and counts from 1. Each scalar has one value for the list, or one per entry.
 */
FW_API fw_status fw_launch(fw_context *context, const fw_program *program, const fw_tensor *tensors,
                           size_t tensor_count, const fw_scalar *scalars, size_t scalar_count,
                           fw_stream stream);

/*
 * The reference: evaluates the request's equations for ONE list entry of host tensors in double
 * precision. `values` and `bounds` take the written operands in operand order, dense and
 * concatenated: every correct kernel's element lies within values +- bounds (a bound of inf says
 * that any value is right).
 */
FW_API fw_status fw_evaluate(const fw_request *request, const fw_tensor *tensors,
                             size_t tensor_count, const fw_scalar *scalars, size_t scalar_count,
                             double *values, double *bounds);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FUSEWRIGHT_FUSEWRIGHT_H */
