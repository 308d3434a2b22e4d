/* SPDX-License-Identifier: MIT */
#include "files/problems.h"

#define MAX_LISTED 100

struct PlaitProblems
{
  GStringChunk *texts;
  GArray *kept; /* (element-type PlaitProblem) the first MAX_LISTED problems */
  guint count;
};

PlaitProblems *
plait_problems_new (void)
{
  PlaitProblems *problems = g_new0 (PlaitProblems, 1);

  problems->texts = g_string_chunk_new (512);
  problems->kept = g_array_new (FALSE, FALSE, sizeof (PlaitProblem));
  return problems;
}

void
plait_problems_free (PlaitProblems *problems)
{
  if (!problems)
    return;
  g_array_unref (problems->kept);
  g_string_chunk_free (problems->texts);
  g_free (problems);
}

static const char *
keep (PlaitProblems *problems, const char *text)
{
  return text ? g_string_chunk_insert (problems->texts, text) : NULL;
}

void
plait_problems_add_at (PlaitProblems *problems, const PlaitProblem *problem)
{
  if (problems->count++ >= MAX_LISTED)
    return;
  PlaitProblem kept = { keep (problems, problem->location), problem->line, keep (problems, problem->group),
                        keep (problems, problem->key), keep (problems, problem->sentence) };
  g_array_append_val (problems->kept, kept);
}

void
plait_problems_add_key_va (PlaitProblems *problems, const PlaitKeyFile *file, const char *group, const char *key,
                           const char *format, va_list arguments)
{
  g_autofree char *location = plait_key_file_location (file, group, key);
  g_autofree char *sentence = g_strdup_vprintf (format, arguments);

  plait_problems_add_at (problems,
                         &(PlaitProblem){ location, plait_key_file_line (file, group, key), group, key, sentence });
}

void
plait_problems_add_key (PlaitProblems *problems, const PlaitKeyFile *file, const char *group, const char *key,
                        const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  plait_problems_add_key_va (problems, file, group, key, format, arguments);
  va_end (arguments);
}

void
plait_problems_add (PlaitProblems *problems, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_autofree char *sentence = plait_message (format, arguments);
  va_end (arguments);
  plait_problems_add_at (problems, &(PlaitProblem){ .sentence = sentence });
}

void
plait_problems_add_error (PlaitProblems *problems, GError *error)
{
  g_auto (GStrv) lines = g_strsplit (error->message, "\n", -1);

  for (guint i = 0; lines[i]; i++)
    plait_problems_add (problems, "%s", lines[i]);
  g_error_free (error);
}

guint
plait_problems_count (const PlaitProblems *problems)
{
  return problems->count;
}

guint
plait_problems_n_listed (const PlaitProblems *problems)
{
  return problems->kept->len;
}

const PlaitProblem *
plait_problems_get (const PlaitProblems *problems, guint index)
{
  return &g_array_index (problems->kept, PlaitProblem, index);
}

char *
plait_problem_text (const PlaitProblem *problem)
{
  if (!problem->location)
    return g_strdup (problem->sentence);
  if (!problem->group)
    return g_strdup_printf ("%s: %s", problem->location, problem->sentence);
  return g_strdup_printf ("%s: [%s]%s%s: %s", problem->location, problem->group, problem->key ? " " : "",
                          problem->key ? problem->key : "", problem->sentence);
}

gboolean
plait_problems_report (const PlaitProblems *problems, PlaitErrorCode code, GError **error)
{
  g_autoptr (GString) sentences = g_string_new (NULL);

  if (problems->count == 0)
    return TRUE;
  for (guint i = 0; i < problems->kept->len; i++)
    {
      g_autofree char *text = plait_problem_text (plait_problems_get (problems, i));

      g_string_append_printf (sentences, "%s%s", i > 0 ? "\n" : "", text);
    }
  if (problems->count > MAX_LISTED)
    return plait_fail (error, code, "%s\nand %u more problems", sentences->str, problems->count - MAX_LISTED);
  return plait_fail (error, code, "%s", sentences->str);
}
