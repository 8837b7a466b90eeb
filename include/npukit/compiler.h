/* npukit compiler, C API: a model file becomes a package; what an app did becomes a report. For
 * computers: libnpukit_compiler.so holds this and runtime.h. Conventions as in runtime.h (status,
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

/* A report: one HTML file that loads nothing, of what an app gives it: records, pictures with
 * boxes, and spans of work over time. Texts are UTF-8 and may hold anything; they are copied. What
 * is added appears in that order, under the section before it. One thread at a time. */
typedef struct npk_report npk_report;

/* `verb` is short ("ocr"), `title` the heading, `under` a line below it or NULL. */
NPK_API npk_status npk_report_create(const char* verb, const char* title, const char* under,
                                     npk_report** out);
NPK_API void npk_report_release(npk_report* report);
/* What follows stands under this heading. `note`: a line below it, or NULL. */
NPK_API npk_status npk_report_section(npk_report* report, const char* title, const char* note);

/* One figure or text of a record. `text` NULL: `value` is shown, with `decimals` after the point;
 * NaN is "not known". `kind`: how the value is known, -1 for counts and texts. `struct_size` is
 * sizeof(npk_report_field) in every element of an array. */
typedef struct npk_report_field {
  uint32_t struct_size;
  const char* name;
  const char* text;
  const char* unit; /* or NULL */
  double value;
  int32_t decimals;
  int32_t kind; /* npk_kind, or -1 */
} npk_report_field;

/* Figures side by side. */
NPK_API npk_status npk_report_figures(npk_report* report, const npk_report_field* fields,
                                      size_t count);
/* A row of a sortable table. Rows of one table share its title and the names, units and order of
 * their fields, whatever is added between them; the table stands where its first row was added. */
NPK_API npk_status npk_report_row(npk_report* report, const char* table,
                                  const npk_report_field* fields, size_t count);

/* `bytes` is a whole JPEG or PNG file; boxes are given in a picture of width x height. The id names
 * it for npk_report_box. */
NPK_API npk_status npk_report_picture(npk_report* report, const char* title, const void* bytes,
                                      size_t size, double width, double height, uint32_t* id);
/* `corners`: x, y of the four corners in order. `note`: short, beside the text, or NULL. */
NPK_API npk_status npk_report_box(npk_report* report, uint32_t picture, const double corners[8],
                                  const char* text, const char* note);

/* A timeline has one clock, so one kind (an npk_kind). Spans with one `task` light up together. */
NPK_API npk_status npk_report_timeline(npk_report* report, const char* title, int32_t kind,
                                       uint32_t* id);
NPK_API npk_status npk_report_span(npk_report* report, uint32_t timeline, const char* track,
                                   const char* name, double start_ms, double duration_ms,
                                   uint32_t task);

/* Writes the file beside its name and renames it, so nothing half-written bears the name. The
 * report can be written again. NPK_UNWRITABLE: the place; NPK_IO: the disk is full. */
NPK_API npk_status npk_report_write(npk_report* report, const char* path);

#ifdef __cplusplus
}
#endif
#endif /* NPUKIT_COMPILER_H_ */
