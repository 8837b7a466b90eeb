/* npukit compiler, C API: a model file becomes a package. Conventions as in runtime.h (status,
 * npk_last_error). */
#ifndef NPUKIT_COMPILER_H_
#define NPUKIT_COMPILER_H_

#include "npukit/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct npk_compile_options {
  uint32_t struct_size;
  const char* target;        /* profile name or FILE.json; NULL: "host" */
  const char* const* shapes; /* "x=1x3x48x320", as --shape; NULL: the model's own */
  size_t shape_count;
  int32_t no_cpu; /* leave the CPU-only program out */
} npk_compile_options;

NPK_API npk_status npk_compile_file(const char* model_path, const char* package_path,
                                    const npk_compile_options* options);

#ifdef __cplusplus
}
#endif
#endif /* NPUKIT_COMPILER_H_ */
