/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/*
 * Wraps GoogleTest for C: a test case is a C function that registers itself. See tests/README.md.
 *
 *     TEST_CASE (arena, reuses_a_block)
 *     {
 *       CONTEXT ("size %d", size);
 *       REQUIRE (arena != NULL);
 *       CHECK_INT (plait_arena_peak (arena), 64);
 *     }
 *
 * Checks may be made from any thread. Macros evaluate their arguments once.
 */
G_BEGIN_DECLS

typedef struct PlaitTestCase PlaitTestCase;

/* A registered test case. Only TEST_CASE makes it. */
struct PlaitTestCase
{
  const char *suite;
  const char *name;
  const char *file;
  int line;
  void (*body) (void);
  PlaitTestCase *next;
};

/* The note that CONTEXT adds; removed at the end of the block. */
typedef struct
{
  void *trace;
} PlaitTestContext;

void plait_test_register (PlaitTestCase *test_case);
gboolean plait_test_check (const char *file, int line, gboolean holds, const char *expression);
gboolean plait_test_check_int (const char *file, int line, const char *expression, gint64 actual, gint64 expected);
gboolean plait_test_check_string (const char *file, int line, const char *expression, const char *actual,
                                  const char *expected);
gboolean plait_test_check_near (const char *file, int line, const char *expression, double actual, double expected,
                                double tolerance);
gboolean plait_test_check_contains (const char *file, int line, const char *expression, const char *string,
                                    const char *part);
gboolean plait_test_check_no_error (const char *file, int line, GError **error);
gboolean plait_test_check_error (const char *file, int line, GError **error, int code, const char *code_name,
                                 const char *part);
void plait_test_skip (const char *file, int line, const char *reason);
PlaitTestContext plait_test_context_begin (const char *file, int line, const char *format, ...) G_GNUC_PRINTF (3, 4);
void plait_test_context_end (PlaitTestContext *context);

/* Returns the path of the running test case's folder, which the first call makes. It is deleted with its contents when
 * the case ends. (transfer none) */
const char *plait_test_folder (void);

/* Returns a formatted string. The test case owns it, like all strings of the harness. (transfer none) */
const char *plait_test_format (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Keeps @text (transfer full) until the test case ends. Returns @text. (transfer none) */
const char *plait_test_keep (char *text);

/* Returns the path of @name in plait_test_folder(); if @name is absolute, returns it unchanged. (transfer none) */
const char *plait_test_path (const char *name);

/* Waits until the clock of the file system has advanced, so that the next write of a file changes its times. */
void plait_test_await_tick (void);

/* Returns the path of @name in the source tree, such as "schemas/encoder". (transfer none) */
const char *plait_test_source_path (const char *name);

/* Returns the path of @name in the build tree. (transfer none) */
const char *plait_test_build_path (const char *name);

/* Returns the location for the error of a call that must not fail. Used by NO_ERROR. */
GError **plait_test_no_error (const char *file, int line);

#define TEST_CASE(suite_, name_)                                                                                       \
  static void test_##suite_##_##name_ (void);                                                                          \
  __attribute__ ((constructor)) static void test_register_##suite_##_##name_ (void)                                    \
  {                                                                                                                    \
    static PlaitTestCase test_case = { #suite_, #name_, __FILE__, __LINE__, test_##suite_##_##name_, NULL };           \
    plait_test_register (&test_case);                                                                                  \
  }                                                                                                                    \
  static void test_##suite_##_##name_ (void)

/* Records a failure if @expr is false. The test case continues. */
#define CHECK(expr) ((void)plait_test_check (__FILE__, __LINE__, (expr) ? TRUE : FALSE, #expr))

/* Records a failure if @expr is false, and then returns from the function, which must return void. */
#define REQUIRE(expr)                                                                                                  \
  do                                                                                                                   \
    {                                                                                                                  \
      if (!plait_test_check (__FILE__, __LINE__, (expr) ? TRUE : FALSE, #expr))                                        \
        return;                                                                                                        \
    }                                                                                                                  \
  while (0)

#define CHECK_INT(actual, expected)                                                                                    \
  ((void)plait_test_check_int (__FILE__, __LINE__, #actual, (gint64)(actual), (gint64)(expected)))

/* Checks that two strings are equal. Either may be NULL, which equals only NULL. */
#define CHECK_STRING(actual, expected)                                                                                 \
  ((void)plait_test_check_string (__FILE__, __LINE__, #actual, (actual), (expected)))

/* Checks that |actual - expected| <= tolerance. Equal infinities pass, NaN fails. */
#define CHECK_NEAR(actual, expected, tolerance)                                                                        \
  ((void)plait_test_check_near (__FILE__, __LINE__, #actual, (double)(actual), (double)(expected), (double)(tolerance)))

#define CHECK_CONTAINS(string, part) ((void)plait_test_check_contains (__FILE__, __LINE__, #string, (string), (part)))

/* Argument of the type GError ** for a call that must not fail. If the call sets an error, the next check in the
 * thread records a failure; in the thread of the test case, the end of the case does so too. The result of the call may
 * be checked as well. */
#define NO_ERROR plait_test_no_error (__FILE__, __LINE__)

/* Checks that the variable @error (GError *) is NULL, and clears it. */
#define CHECK_NO_ERROR(error) ((void)plait_test_check_no_error (__FILE__, __LINE__, &(error)))

/* Checks that the variable @error (GError *) has the domain PLAIT_ERROR, the code @code and a message that contains
 * @part. Clears it. */
#define CHECK_ERROR(error, code, part)                                                                                 \
  ((void)plait_test_check_error (__FILE__, __LINE__, &(error), (code), #code, (part)))

/* Marks the test case as skipped, and returns from the function, which must return void. */
#define SKIP_TEST(reason)                                                                                              \
  do                                                                                                                   \
    {                                                                                                                  \
      plait_test_skip (__FILE__, __LINE__, (reason));                                                                  \
      return;                                                                                                          \
    }                                                                                                                  \
  while (0)

/* Adds a note, formatted as by printf, to every failure in the thread until the end of the enclosing block. */
#define CONTEXT(...)                                                                                                   \
  __attribute__ ((cleanup (plait_test_context_end), unused)) PlaitTestContext G_PASTE (test_context_, __COUNTER__)     \
      = plait_test_context_begin (__FILE__, __LINE__, __VA_ARGS__)

G_END_DECLS
