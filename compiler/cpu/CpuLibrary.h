/* The C functions of libfusewright-cpu, the CPU backend that the core library opens on first use.
   Both are built from one tree, but may meet in other versions: fw_cpu_version is checked first,
   and structs say their size. All functions may be called from any thread at any time. No exception
   and no LLVM type crosses this border. Status numbers are those of fusewright/status.def. */
#ifndef FW_CPU_LIBRARY_H
#define FW_CPU_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(FW_CPU_BUILD)
#define FW_CPU_API __attribute__((visibility("default")))
#else
#define FW_CPU_API
#endif

/* Grows by one when a function or struct below changes its meaning. */
#define FW_CPU_ABI 2

/* Bytes that the library owns: an object, a text or an error. Always ends with a 0 byte that `size`
   does not count. */
typedef struct fw_cpu_bytes fw_cpu_bytes;
FW_CPU_API const char *fw_cpu_bytes_data(const fw_cpu_bytes *bytes);
FW_CPU_API size_t fw_cpu_bytes_size(const fw_cpu_bytes *bytes);
FW_CPU_API void fw_cpu_bytes_destroy(fw_cpu_bytes *bytes); /* null: nothing happens */

typedef struct fw_cpu_error {
  uint32_t struct_size; /* set by the caller */
  fw_cpu_bytes *text;   /* out: one line, or null; the caller destroys both */
  fw_cpu_bytes *log;    /* out: all diagnostics, or null */
} fw_cpu_error;

typedef struct fw_cpu_compile_args {
  uint32_t struct_size;
  const char *phases; /* text of a phase-level module */
  size_t phases_size;
  const char *features; /* as fw_cpu_host_features gives them; null: this machine's */
  const char *stage;    /* "object"; or text: "vectors", "llvm", "asm" */
  int32_t unroll;       /* vectors per iteration; 0: the library's choice */
} fw_cpu_compile_args;

/* The kernels of a module as a relocatable object (or a stage's text). Equal arguments give equal
   bytes, so an object may be kept under sha256(phases + features + fw_cpu_version) and linked by a
   later process on a machine with the same features. */
FW_CPU_API int fw_cpu_compile(const fw_cpu_compile_args *args, fw_cpu_bytes **out_object,
                              fw_cpu_error *out_error);

/* `begin` and `end` count elements; pointers[i] belongs to the i-th operand that the kernel loads
   or stores, in the order of the operand table; scalars are the results of the scalar program
   before the kernel as its arithmetic type (f32 or f64). Tensors need the alignment of their
   elements only. Two operands may be the same memory, not overlap otherwise. A kernel with
   reductions adds what it has reduced to results[r], in f64, which starts at 0 for a sum, -infinity
   for a max and infinity for a min; what it adds depends on the elements and on end - begin alone.
   Of any other kernel, results may be null. A kernel that may be skipped runs whenever it is
   called. */
typedef void (*fw_cpu_function)(const void *const *pointers, int64_t begin, int64_t end,
                                const void *scalars, double *results);

typedef struct fw_cpu_kernel fw_cpu_kernel;

/* Links an object; it is trusted as native code. The bytes are not used afterwards. */
FW_CPU_API int fw_cpu_link(const void *object, size_t size, const char *symbol,
                           fw_cpu_kernel **out_kernel, fw_cpu_error *out_error);
FW_CPU_API fw_cpu_function fw_cpu_kernel_function(const fw_cpu_kernel *kernel);
/* Frees the code: no call may be running. */
FW_CPU_API void fw_cpu_kernel_destroy(fw_cpu_kernel *kernel);

/* The features that code may use here, found by CPUID and what the operating system saves, never by
   the CPU's name: "x86-64+avx+avx2+fma". Lives as long as the library. */
FW_CPU_API const char *fw_cpu_host_features(void);

/* `text` in the form of fw_cpu_host_features: equal sets give equal texts, so they belong in keys.
   Accepts that form or LLVM's ("+avx2,+fma"); empty: this machine's. With `runs_here`, a feature
   that this machine lacks is a DEVICE error. */
FW_CPU_API int fw_cpu_read_features(const char *text, int32_t runs_here,
                                    fw_cpu_bytes **out_features, fw_cpu_error *out_error);

/* What made the code, for keys: "fw-cpu 2 llvm 22.1.8 " and the hash of this backend's sources.
   Lives as long as the library. */
FW_CPU_API const char *fw_cpu_version(void);

#ifdef __cplusplus
}
#endif

#endif
