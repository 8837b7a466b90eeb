/* The C API from C: every call, and the mistakes a caller can make. With a package
 * (make_package.cc: y = max(2 x + 1, 0) on fp32[N, 4], N = 1 or 2) it runs it too. Values are
 * worked out by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npukit/runtime.h"

#define CHECK(cond)                                                                        \
  do {                                                                                     \
    if (!(cond)) {                                                                         \
      fprintf(stderr, "%s:%d: not true: %s (last error: %s)\n", __FILE__, __LINE__, #cond, \
              npk_last_error());                                                           \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)
#define CHECK_MESSAGE(part) CHECK(strstr(npk_last_error(), part) != NULL)

static npk_session_options Cpu(void) {
  npk_session_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = "CPU";
  options.threads = 1;
  return options;
}

static void NullsAreRefused(void) {
  npk_session* session = NULL;
  npk_tensor_desc desc;
  npk_account account;
  npk_step step;
  const void* data = NULL;
  npk_request* request = NULL;
  const int64_t dims[1] = {1};
  CHECK(npk_session_open("x", NULL, NULL) == NPK_INVALID_ARGUMENT);
  CHECK(npk_session_open(NULL, NULL, &session) == NPK_INVALID_ARGUMENT && session == NULL);
  CHECK(npk_session_open_memory(NULL, 4, NULL, &session) == NPK_INVALID_ARGUMENT);
  CHECK(npk_session_input(NULL, 0, &desc) == NPK_INVALID_ARGUMENT);
  CHECK(npk_session_output(NULL, 0, &desc) == NPK_INVALID_ARGUMENT);
  CHECK(npk_session_program_input(NULL, 0, 0, &desc) == NPK_INVALID_ARGUMENT);
  CHECK(npk_session_input_count(NULL) == 0 && npk_session_output_count(NULL) == 0);
  CHECK(npk_session_program_count(NULL) == 0);
  CHECK(strcmp(npk_session_device(NULL), "") == 0 && strcmp(npk_session_target(NULL), "") == 0);
  CHECK(npk_request_create(NULL, &request) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_bind_input(NULL, "x", NPK_F32, dims, 1, dims, 4) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_bind_output(NULL, "y", NULL, 0) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_submit(NULL) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_wait(NULL) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_run(NULL) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_output(NULL, "y", &desc, &data) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_account(NULL, &account) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_step(NULL, 0, &step) == NPK_INVALID_ARGUMENT);
  npk_request_cancel(NULL);
  npk_request_release(NULL);
  npk_session_release(NULL);
}

static void BadPackagesAreRefused(void) {
  npk_session* session = NULL;
  npk_session_options options = Cpu();
  unsigned char garbage[256];
  memset(garbage, 0x5A, sizeof garbage);
  CHECK(npk_session_open("no/such/file.npk", &options, &session) == NPK_NOT_FOUND &&
        session == NULL);
  CHECK_MESSAGE("no/such/file.npk");
  CHECK(npk_session_open_memory(garbage, sizeof garbage, &options, &session) == NPK_DATA_CORRUPT);
  CHECK(npk_session_open_memory(garbage, 0, &options, &session) == NPK_DATA_CORRUPT);
  CHECK(session == NULL);
}

static unsigned char* ReadFile(const char* path, size_t* bytes) {
  FILE* f = fopen(path, "rb");
  unsigned char* data;
  long size;
  CHECK(f != NULL);
  CHECK(fseek(f, 0, SEEK_END) == 0);
  size = ftell(f);
  CHECK(size > 0 && fseek(f, 0, SEEK_SET) == 0);
  data = malloc((size_t)size + 8);
  CHECK(data != NULL && fread(data, 1, (size_t)size, f) == (size_t)size);
  fclose(f);
  *bytes = (size_t)size;
  return data;
}

static void OptionsAreChecked(const char* package) {
  struct {
    npk_session_options known;
    int32_t added_later;
  } newer;
  npk_session* session = NULL;
  npk_session_options options = Cpu();
  options.struct_size = 4;
  CHECK(npk_session_open(package, &options, &session) == NPK_INVALID_ARGUMENT);
  CHECK_MESSAGE("struct_size");
  memset(&newer, 0, sizeof newer);
  newer.known = Cpu();
  newer.known.struct_size = sizeof newer;
  CHECK(npk_session_open(package, &newer.known, &session) ==
        NPK_OK); /* unset: nothing asked for that we lack */
  npk_session_release(session);
  newer.added_later = 1;
  CHECK(npk_session_open(package, &newer.known, &session) == NPK_UNSUPPORTED && session == NULL);
  options = Cpu();
  options.device = "TPU";
  CHECK(npk_session_open(package, &options, &session) == NPK_INVALID_ARGUMENT);
  CHECK_MESSAGE("'TPU'");
  options.device = "NPU";
  CHECK(npk_session_open(package, &options, &session) == NPK_NOT_FOUND);
  CHECK_MESSAGE("CPU fp32");
  options = Cpu();
  options.precision = "int4";
  CHECK(npk_session_open(package, &options, &session) == NPK_NOT_FOUND);
  options = Cpu();
  options.threads = -1;
  CHECK(npk_session_open(package, &options, &session) == NPK_INVALID_ARGUMENT);
}

static void SessionDescribesItself(npk_session* session) {
  npk_tensor_desc desc;
  CHECK(strncmp(npk_session_device(session), "CPU", 3) == 0);
  CHECK(strcmp(npk_session_target(session), "host") == 0);
  CHECK(npk_session_input_count(session) == 1 && npk_session_output_count(session) == 1);
  CHECK(npk_session_input(session, 0, &desc) == NPK_OK);
  CHECK(strcmp(desc.name, "x") == 0 && desc.dtype == NPK_F32 && desc.rank == 2);
  CHECK(desc.dims[0] == -1 && desc.dims[1] == 4);
  CHECK(npk_session_output(session, 0, &desc) == NPK_OK && strcmp(desc.name, "y") == 0);
  CHECK(npk_session_input(session, 1, &desc) == NPK_INVALID_ARGUMENT);
  CHECK(npk_session_input(session, 0, NULL) == NPK_INVALID_ARGUMENT);
  CHECK(npk_session_program_count(session) == 2);
  CHECK(npk_session_program_input(session, 1, 0, &desc) == NPK_OK && desc.dims[0] == 2 &&
        desc.dims[1] == 4);
  CHECK(npk_session_program_input(session, 2, 0, &desc) == NPK_INVALID_ARGUMENT);
  CHECK(npk_session_program_input(session, 0, 1, &desc) == NPK_INVALID_ARGUMENT);
}

static void RunsAndAccounts(npk_session* session) {
  static const float x1[4] = {0, 1, -1, 2.5f};
  static const float y1[4] = {1, 3, 0, 6};
  static const float x2[8] = {0, 1, -1, 2.5f, -0.5f, 10, -10, 0.25f};
  static const float y2[8] = {1, 3, 0, 6, 0, 21, 0, 1.5f};
  const int64_t one[2] = {1, 4};
  const int64_t two[2] = {2, 4};
  float y[8];
  npk_request* request = NULL;
  npk_tensor_desc desc;
  const void* data = NULL;
  npk_account account;
  npk_step step;
  uint32_t i;

  CHECK(npk_request_create(session, &request) == NPK_OK);
  CHECK(npk_request_wait(request) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_run(request) == NPK_INVALID_ARGUMENT);
  CHECK_MESSAGE("'x' is not bound");
  CHECK(npk_request_output(request, "y", &desc, &data) == NPK_INVALID_ARGUMENT);
  memset(&account, 0, sizeof account);
  account.struct_size = sizeof account;
  CHECK(npk_request_account(request, &account) == NPK_INVALID_ARGUMENT);

  CHECK(npk_request_bind_input(request, "z", NPK_F32, one, 2, x1, sizeof x1) ==
        NPK_INVALID_ARGUMENT);
  CHECK_MESSAGE("no input 'z'");
  CHECK(npk_request_bind_input(request, "x", NPK_I32, one, 2, x1, sizeof x1) ==
        NPK_INVALID_ARGUMENT);
  CHECK(npk_request_bind_input(request, "x", (npk_dtype)99, one, 2, x1, sizeof x1) ==
        NPK_INVALID_ARGUMENT);
  CHECK(npk_request_bind_input(request, "x", NPK_F32, one, 1, x1, sizeof x1) ==
        NPK_INVALID_ARGUMENT);
  CHECK(npk_request_bind_input(request, "x", NPK_F32, one, 9, x1, sizeof x1) ==
        NPK_INVALID_ARGUMENT);
  CHECK(npk_request_bind_input(request, "x", NPK_F32, one, -1, x1, sizeof x1) ==
        NPK_INVALID_ARGUMENT);
  CHECK(npk_request_bind_input(request, "x", NPK_F32, NULL, 2, x1, sizeof x1) ==
        NPK_INVALID_ARGUMENT);
  CHECK(npk_request_bind_input(request, "x", NPK_F32, one, 2, x1, sizeof x1 - 1) ==
        NPK_INVALID_ARGUMENT);
  CHECK(npk_request_bind_input(request, "x", NPK_F32, one, 2, NULL, sizeof x1) ==
        NPK_INVALID_ARGUMENT);
  CHECK(npk_request_bind_input(request, NULL, NPK_F32, one, 2, x1, sizeof x1) ==
        NPK_INVALID_ARGUMENT);

  /* The request's own output memory. */
  CHECK(npk_request_bind_input(request, "x", NPK_F32, one, 2, x1, sizeof x1) == NPK_OK);
  CHECK(npk_request_run(request) == NPK_OK);
  CHECK(npk_request_output(request, "y", &desc, &data) == NPK_OK);
  CHECK(strcmp(desc.name, "y") == 0 && desc.rank == 2 && desc.dims[0] == 1 && desc.dims[1] == 4);
  CHECK(memcmp(data, y1, sizeof y1) == 0);
  CHECK(npk_request_output(request, "w", &desc, &data) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_output(request, "y", NULL, NULL) == NPK_OK);

  /* The caller's, and another shape: another program. */
  CHECK(npk_request_bind_input(request, "x", NPK_F32, two, 2, x2, sizeof x2) == NPK_OK);
  CHECK(npk_request_bind_output(request, "y", y, sizeof y1) == NPK_OK);
  CHECK(npk_request_submit(request) == NPK_INVALID_ARGUMENT); /* too small for this shape */
  CHECK_MESSAGE("expected at least 32 bytes");
  CHECK(npk_request_bind_output(request, "y", y, sizeof y) == NPK_OK);
  CHECK(npk_request_submit(request) == NPK_OK);
  CHECK(npk_request_wait(request) == NPK_OK);
  CHECK(memcmp(y, y2, sizeof y2) == 0);
  CHECK(npk_request_output(request, "y", &desc, &data) == NPK_OK && data == y && desc.dims[0] == 2);

  CHECK(npk_request_account(request, &account) == NPK_OK);
  CHECK(strcmp(account.devices, "CPU") == 0 && strcmp(account.precision, "fp32") == 0);
  CHECK(account.kind == NPK_MEASURED && account.latency_ms > 0 && account.wall_ms > 0);
  CHECK(account.copies == 0 && account.bytes_copied == 0);
  CHECK(account.units_total == 3 && account.units_npu == 0);
  CHECK(account.units_npu + account.units_gpu + account.units_cpu + account.units_folded ==
        account.units_total);
  CHECK(account.steps >= 1);
  for (i = 0; i < account.steps; ++i) {
    memset(&step, 0, sizeof step);
    step.struct_size = sizeof step;
    CHECK(npk_request_step(request, i, &step) == NPK_OK);
    CHECK(strncmp(step.device, "CPU", 3) == 0 && step.kind == NPK_MEASURED &&
          step.end_ms >= step.start_ms);
  }
  CHECK(npk_request_step(request, account.steps, &step) == NPK_INVALID_ARGUMENT);
  CHECK(npk_request_step(request, 0, NULL) == NPK_INVALID_ARGUMENT);

  /* An older caller's struct ends earlier: what lies behind it is left alone. */
  memset(&account, 0x77, sizeof account);
  account.struct_size = (uint32_t)offsetof(npk_account, units_npu);
  CHECK(npk_request_account(request, &account) == NPK_OK);
  CHECK(account.program == 1 && account.units_npu == 0x77777777u);
  account.struct_size = 0;
  CHECK(npk_request_account(request, &account) == NPK_INVALID_ARGUMENT);

  npk_request_cancel(request); /* nothing runs: nothing happens */
  CHECK(npk_request_run(request) == NPK_OK);
  npk_request_release(request);
}

static void RunsFromMemory(const char* package) {
  size_t bytes = 0;
  size_t shift;
  unsigned char* data = ReadFile(package, &bytes);
  npk_session_options options = Cpu();
  for (shift = 0; shift < 2; ++shift) { /* aligned as malloc does, and not at all */
    npk_session* session = NULL;
    memmove(data + shift, data, shift == 0 ? 0 : bytes);
    CHECK(npk_session_open_memory(data + shift, bytes, &options, &session) == NPK_OK);
    RunsAndAccounts(session);
    npk_session_release(session);
  }
  CHECK(npk_session_open_memory(data + 1, bytes - 1, &options, &(npk_session*){NULL}) ==
        NPK_DATA_CORRUPT);
  free(data);
}

static void RequestsOutliveTheirSession(const char* package) {
  static const float x[4] = {0, 1, -1, 2.5f};
  const int64_t dims[2] = {1, 4};
  npk_session* session = NULL;
  npk_request* request = NULL;
  npk_session_options options = Cpu();
  const void* data = NULL;
  CHECK(npk_session_open(package, &options, &session) == NPK_OK);
  CHECK(npk_request_create(session, &request) == NPK_OK);
  npk_session_release(session);
  CHECK(npk_request_bind_input(request, "x", NPK_F32, dims, 2, x, sizeof x) == NPK_OK);
  CHECK(npk_request_run(request) == NPK_OK);
  CHECK(npk_request_output(request, "y", NULL, &data) == NPK_OK);
  CHECK(((const float*)data)[3] == 6);
  npk_request_release(request);
}

int main(int argc, char** argv) {
  CHECK(strlen(npk_version()) > 0);
  CHECK(strcmp(npk_last_error(), "") == 0);
  NullsAreRefused();
  BadPackagesAreRefused();
  if (argc > 1) {
    npk_session* session = NULL;
    npk_session_options options = Cpu();
    OptionsAreChecked(argv[1]);
    CHECK(npk_session_open(argv[1], &options, &session) == NPK_OK);
    SessionDescribesItself(session);
    RunsAndAccounts(session);
    npk_session_release(session);
    CHECK(npk_session_open(argv[1], NULL, &session) == NPK_OK); /* AUTO:NPU,CPU */
    npk_session_release(session);
    RunsFromMemory(argv[1]);
    RequestsOutliveTheirSession(argv[1]);
  }
  printf("ok: npukit %s, C API%s\n", npk_version(),
         argc > 1 ? ", package run" : ", no package given");
  return 0;
}
