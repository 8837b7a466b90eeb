/* npukit runtime, C API: open a compiled package, bind buffers, submit, wait, read the account.
 *
 * Conventions: opaque handles, released by npk_*_release; every call that can fail returns
 * npk_status, and its message is npk_last_error() on the same thread until the next failing call.
 * Strings returned belong to the handle they came from. No exceptions cross this border; a system
 * that refuses small allocations ends the process. A session may be used by any number of threads;
 * a request by one thread at a time. */
#ifndef NPUKIT_RUNTIME_H_
#define NPUKIT_RUNTIME_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define NPK_API
#else
#define NPK_API __attribute__((visibility("default")))
#endif

/* The same numbers as the codes inside; append only. */
typedef enum npk_status {
  NPK_OK = 0,
  NPK_INVALID_ARGUMENT = 1,
  NPK_NOT_FOUND = 2,
  NPK_UNSUPPORTED = 3,
  NPK_DATA_CORRUPT = 4,
  NPK_RESOURCE_EXHAUSTED = 5,
  NPK_OUT_OF_MEMORY = 6,
  NPK_IO = 7,
  NPK_UNWRITABLE = 8,
  NPK_DEVICE_LOST = 9,
  NPK_CANCELLED = 10,
  NPK_DEADLINE_EXCEEDED = 11,
  NPK_INTERNAL = 12
} npk_status;

/* Element types; the same numbers as in packages. */
typedef enum npk_dtype {
  NPK_F32 = 1,
  NPK_F16 = 2,
  NPK_BF16 = 3,
  NPK_F64 = 4,
  NPK_I8 = 10,
  NPK_I16 = 11,
  NPK_I32 = 12,
  NPK_I64 = 13,
  NPK_U8 = 14,
  NPK_U16 = 15,
  NPK_U32 = 16,
  NPK_U64 = 17,
  NPK_BOOL = 22
} npk_dtype;

typedef enum npk_kind { NPK_ASSUMED = 0, NPK_MODELLED = 1, NPK_MEASURED = 2 } npk_kind;

typedef struct npk_session npk_session;
typedef struct npk_request npk_request;

#define NPK_MAX_RANK 8
typedef struct npk_tensor_desc {
  const char* name;
  npk_dtype dtype;
  int32_t rank;
  int64_t dims[NPK_MAX_RANK]; /* -1: chosen at run time */
} npk_tensor_desc;

typedef struct npk_session_options {
  uint32_t struct_size;  /* sizeof(npk_session_options): lets later versions add fields */
  const char* device;    /* "NPU", "CPU", "AUTO:NPU,CPU" (default), "HETERO:NPU,CPU" */
  const char* precision; /* NULL: any */
  int32_t threads;       /* 0: NPUKIT_THREADS, else the machine's cores */
} npk_session_options;

typedef struct npk_account {
  uint32_t struct_size;
  uint32_t program;      /* index */
  const char* devices;   /* "NPU,CPU" */
  const char* precision; /* "fp16" */
  uint32_t units_npu, units_gpu, units_cpu, units_folded, units_total;
  double latency_ms; /* by the clock of `kind` */
  npk_kind kind;     /* modelled for simulated devices, measured for target host */
  double wall_ms;    /* measured on this machine */
  double energy_mj;  /* < 0: not known */
  uint64_t copies, bytes_copied;
  uint32_t steps;
} npk_account;

typedef struct npk_step {
  uint32_t struct_size;
  const char* device; /* "NPU (simulated kirin9030)" */
  double start_ms, end_ms;
  npk_kind kind;
  double energy_mj; /* < 0: not known */
} npk_step;

NPK_API const char* npk_version(void);
NPK_API const char* npk_last_error(void);

NPK_API npk_status npk_session_open(const char* package_path, const npk_session_options* options,
                                    npk_session** out);
/* `data` must stay valid until npk_session_release. */
NPK_API npk_status npk_session_open_memory(const void* data, size_t bytes,
                                           const npk_session_options* options, npk_session** out);
NPK_API void npk_session_release(npk_session* session);
NPK_API const char* npk_session_device(
    const npk_session* session); /* "NPU (simulated kirin9030), CPU avx2" */
NPK_API const char* npk_session_target(const npk_session* session); /* "kirin9030" */
NPK_API size_t npk_session_input_count(const npk_session* session);
NPK_API size_t npk_session_output_count(const npk_session* session);
NPK_API npk_status npk_session_input(const npk_session* session, size_t index,
                                     npk_tensor_desc* out);
NPK_API npk_status npk_session_output(const npk_session* session, size_t index,
                                      npk_tensor_desc* out);
/* Shapes the package was compiled for: one per program this session may choose, best first. */
NPK_API size_t npk_session_program_count(const npk_session* session);
NPK_API npk_status npk_session_program_input(const npk_session* session, size_t program,
                                             size_t index, npk_tensor_desc* out);

NPK_API npk_status npk_request_create(npk_session* session, npk_request** out);
NPK_API void npk_request_release(npk_request* request);
/* Bound without copying; the memory must live until the run is over. */
NPK_API npk_status npk_request_bind_input(npk_request* request, const char* name, npk_dtype dtype,
                                          const int64_t* dims, int32_t rank, const void* data,
                                          size_t bytes);
NPK_API npk_status npk_request_bind_output(npk_request* request, const char* name, void* data,
                                           size_t bytes);
NPK_API npk_status npk_request_submit(npk_request* request);
NPK_API npk_status npk_request_wait(npk_request* request);
NPK_API npk_status npk_request_run(npk_request* request); /* submit and wait */
NPK_API void npk_request_cancel(npk_request* request);    /* from any thread */
/* After a completed run: where an output lies and its shape. Valid until the next submit. */
NPK_API npk_status npk_request_output(npk_request* request, const char* name, npk_tensor_desc* desc,
                                      const void** data);
NPK_API npk_status npk_request_account(npk_request* request, npk_account* out);
NPK_API npk_status npk_request_step(npk_request* request, uint32_t index, npk_step* out);

#ifdef __cplusplus
}
#endif
#endif /* NPUKIT_RUNTIME_H_ */
