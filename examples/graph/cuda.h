/* The few functions of the CUDA driver that a program with its own stream and graph calls, found in
   libcuda at run time: a program built against CUDA's cuda.h would call them directly. */
#ifndef GRAPH_CUDA_H
#define GRAPH_CUDA_H

typedef void *cu_handle; /* a context, stream, graph or executable graph */

typedef struct {
  int (*init)(unsigned flags);
  int (*primary_retain)(cu_handle *context, int device);
  int (*set_current)(cu_handle context);
  int (*stream_create)(cu_handle *stream, unsigned flags);
  int (*stream_destroy)(cu_handle stream);
  int (*stream_synchronize)(cu_handle stream);
  int (*begin_capture)(cu_handle stream, int mode);
  int (*end_capture)(cu_handle stream, cu_handle *graph);
  int (*instantiate)(cu_handle *executable, cu_handle graph, unsigned long long flags);
  int (*graph_launch)(cu_handle executable, cu_handle stream);
  int (*executable_destroy)(cu_handle executable);
  int (*graph_destroy)(cu_handle graph);
} cuda;

/* Opens the driver and makes device 0 current; ends the program with exit code 4 where it cannot.
 */
cuda cuda_open(void);

/* Ends the program when `result` is not success; `what` is the call in words. */
void cuda_check(int result, const char *what);

#endif
