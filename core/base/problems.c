/* SPDX-License-Identifier: MIT */
#include "base/problems.h"

#include "base/message.h"

#include <stdarg.h>

#define MOST_SENTENCES 100

struct PlaitProblems
{
  GString *sentences;
  guint count;
};

PlaitProblems *
plait_problems_new (void)
{
  PlaitProblems *problems = g_new0 (PlaitProblems, 1);

  problems->sentences = g_string_new (NULL);
  return problems;
}

void
plait_problems_free (PlaitProblems *problems)
{
  if (!problems)
    return;
  g_string_free (problems->sentences, TRUE);
  g_free (problems);
}

static void
begin_sentence (PlaitProblems *problems)
{
  if (problems->sentences->len > 0)
    g_string_append_c (problems->sentences, '\n');
}

void
plait_problems_add (PlaitProblems *problems, const char *format, ...)
{
  va_list arguments;

  if (problems->count++ >= MOST_SENTENCES)
    return;
  begin_sentence (problems);
  va_start (arguments, format);
  g_autofree char *sentence = plait_message (format, arguments);
  va_end (arguments);
  g_string_append (problems->sentences, sentence);
}

void
plait_problems_take (PlaitProblems *problems, GError *error)
{
  plait_problems_add (problems, "%s", error->message);
  g_error_free (error);
}

guint
plait_problems_count (const PlaitProblems *problems)
{
  return problems->count;
}

gboolean
plait_problems_report (const PlaitProblems *problems, PlaitErrorCode code, GError **error)
{
  if (problems->count == 0)
    return TRUE;
  if (problems->count > MOST_SENTENCES)
    return plait_fail (error, code, "%s\nand %u more problems.", problems->sentences->str,
                       problems->count - MOST_SENTENCES);
  return plait_fail (error, code, "%s", problems->sentences->str);
}
