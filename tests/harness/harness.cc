/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <cmath>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

/* List of the test cases. Constructors fill it, possibly before GoogleTest's globals exist; main registers the
 * cases. */
PlaitTestCase *first_case;
PlaitTestCase **last_case = &first_case;

std::string folder;

/* Strings owned by the running test case. */
std::vector<std::unique_ptr<char, decltype (&g_free)> > strings;
std::mutex strings_lock;

/* Errors of calls that must not fail, by the file and line of NO_ERROR. */
thread_local std::map<std::pair<const char *, int>, GError *> unexpected_errors;

void
check_unexpected_errors ()
{
  for (auto &[place, error] : unexpected_errors)
    if (error)
      {
        ADD_FAILURE_AT (place.first, place.second) << "unexpected error: " << error->message;
        g_clear_error (&error);
      }
}

/* The environment of the process, restored after each case. */
class Environment {
public:
  Environment () : variables_ (g_get_environ ())
  {
  }

  Environment (const Environment &) = delete;

  ~Environment ()
  {
    g_strfreev (variables_);
  }

  void
  restore () const
  {
    clearenv ();
    for (char **one = variables_; *one; one++)
      {
        const std::string variable = *one;
        const size_t end = variable.find ('=');

        g_setenv (variable.substr (0, end).c_str (), variable.c_str () + end + 1, TRUE);
      }
  }

private:
  char **variables_;
};

class Case : public testing::Test {
public:
  explicit Case (const PlaitTestCase *test_case) : test_case_ (test_case)
  {
  }

  void
  TestBody () override
  {
    test_case_->body ();
  }

  void
  TearDown () override
  {
    environment.restore ();
    check_unexpected_errors ();
    unexpected_errors.clear ();
    strings.clear ();
    if (folder.empty ())
      return;
    std::error_code ignored;
    std::filesystem::remove_all (folder, ignored);
    folder.clear ();
  }

private:
  const PlaitTestCase *test_case_;
  Environment environment;
};

std::string
quoted (const char *string)
{
  return string ? "\"" + std::string (string) + "\"" : "NULL";
}

} // namespace

extern "C" {

void
plait_test_register (PlaitTestCase *test_case)
{
  *last_case = test_case;
  last_case = &test_case->next;
}

gboolean
plait_test_check (const char *file, int line, gboolean holds, const char *expression)
{
  check_unexpected_errors ();
  if (!holds)
    ADD_FAILURE_AT (file, line) << "does not hold: " << expression;
  return holds;
}

gboolean
plait_test_check_int (const char *file, int line, const char *expression, gint64 actual, gint64 expected)
{
  check_unexpected_errors ();
  if (actual == expected)
    return TRUE;
  ADD_FAILURE_AT (file, line) << expression << "\n  is       " << actual << "\n  expected " << expected;
  return FALSE;
}

gboolean
plait_test_check_string (const char *file, int line, const char *expression, const char *actual, const char *expected)
{
  check_unexpected_errors ();
  if (g_strcmp0 (actual, expected) == 0)
    return TRUE;
  ADD_FAILURE_AT (file, line) << expression << "\n  is       " << quoted (actual) << "\n  expected "
                              << quoted (expected);
  return FALSE;
}

gboolean
plait_test_check_near (const char *file, int line, const char *expression, double actual, double expected,
                       double tolerance)
{
  check_unexpected_errors ();
  if (actual == expected || std::fabs (actual - expected) <= tolerance)
    return TRUE;
  ADD_FAILURE_AT (file, line) << std::setprecision (std::numeric_limits<double>::max_digits10) << expression
                              << "\n  is       " << actual << "\n  expected " << expected << " within " << tolerance
                              << "\n  differs  " << std::fabs (actual - expected);
  return FALSE;
}

gboolean
plait_test_check_contains (const char *file, int line, const char *expression, const char *string, const char *part)
{
  check_unexpected_errors ();
  if (string && strstr (string, part))
    return TRUE;
  ADD_FAILURE_AT (file, line) << expression << "\n  is              " << quoted (string) << "\n  should contain  "
                              << quoted (part);
  return FALSE;
}

gboolean
plait_test_check_no_error (const char *file, int line, GError **error)
{
  check_unexpected_errors ();
  if (!*error)
    return TRUE;
  ADD_FAILURE_AT (file, line) << "unexpected error: " << (*error)->message;
  g_clear_error (error);
  return FALSE;
}

gboolean
plait_test_check_error (const char *file, int line, GError **error, int code, const char *code_name, const char *part)
{
  check_unexpected_errors ();
  gboolean holds = FALSE;
  if (!*error)
    ADD_FAILURE_AT (file, line) << "no error, expected " << code_name << " about " << quoted (part);
  else if ((*error)->domain != g_quark_from_static_string ("plait-error") || (*error)->code != code)
    ADD_FAILURE_AT (file, line) << "error " << g_quark_to_string ((*error)->domain) << " " << (*error)->code << " ("
                                << (*error)->message << "), expected " << code_name;
  else
    holds = plait_test_check_contains (file, line, "the error's message", (*error)->message, part);
  g_clear_error (error);
  return holds;
}

void
plait_test_skip (const char *file, int line, const char *reason)
{
  GTEST_SKIP () << file << ":" << line << ": " << reason;
}

PlaitTestContext
plait_test_context_begin (const char *file, int line, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *note = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return { new testing::ScopedTrace (file, line, note) };
}

void
plait_test_context_end (PlaitTestContext *context)
{
  check_unexpected_errors ();
  delete static_cast<testing::ScopedTrace *> (context->trace);
}

const char *
plait_test_folder (void)
{
  if (folder.empty ())
    {
      g_autofree char *made = g_dir_make_tmp ("plait-test-XXXXXX", nullptr);
      if (!made)
        g_error ("no temporary folder can be made in %s", g_get_tmp_dir ());
      folder = made;
    }
  return folder.c_str ();
}

const char *
plait_test_keep (char *text)
{
  const std::lock_guard<std::mutex> guard (strings_lock);

  strings.emplace_back (text, g_free);
  return text;
}

const char *
plait_test_format (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return plait_test_keep (text);
}

const char *
plait_test_path (const char *name)
{
  return g_path_is_absolute (name) ? plait_test_format ("%s", name)
                                   : plait_test_keep (g_build_filename (plait_test_folder (), name, nullptr));
}

GError **
plait_test_no_error (const char *file, int line)
{
  return &unexpected_errors[{ file, line }];
}

void
plait_test_await_tick (void)
{
  const char *path = plait_test_path ("tick");
  const auto write = [path] {
    g_file_set_contents (path, "", 0, nullptr);
    return std::filesystem::last_write_time (path);
  };
  const auto before = write ();

  while (write () == before)
    continue;
  std::filesystem::remove (path);
}

const char *
plait_test_source_path (const char *name)
{
  return plait_test_keep (g_build_filename (PLAIT_TEST_SOURCE_ROOT, name, nullptr));
}

const char *
plait_test_build_path (const char *name)
{
  return plait_test_keep (g_build_filename (PLAIT_TEST_BUILD_ROOT, name, nullptr));
}

} /* extern "C" */

int
main (int argc, char **argv)
{
  /* Keep the user's own plugins, caches and settings of HDF5 out of the tests. */
  for (const char *name : { "PLAIT_PLUGIN_PATH", "PLAIT_INDEX", "HDF5_USE_FILE_LOCKING" })
    g_unsetenv (name);
  g_setenv ("XDG_DATA_HOME", "/nonexistent", TRUE);
  g_setenv ("XDG_CACHE_HOME", "/nonexistent", TRUE);
  for (const PlaitTestCase *test_case = first_case; test_case; test_case = test_case->next)
    testing::RegisterTest (test_case->suite, test_case->name, nullptr, nullptr, test_case->file, test_case->line,
                           [test_case] () -> testing::Test * { return new Case (test_case); });
  testing::InitGoogleTest (&argc, argv);
  /* Refuse arguments: a command under test that starts its own program would start the tests again and again. */
  if (argc > 1)
    g_error ("%s takes options of GoogleTest alone, not %s", argv[0], argv[1]);
  return RUN_ALL_TESTS ();
}
