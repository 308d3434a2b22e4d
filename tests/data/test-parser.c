/* SPDX-License-Identifier: MIT */
#include "trees/parser.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files.h"
#include "harness.h"

/* Tests with a parser that crashes, waits or ends its process, as the sentence says. */

/* Memory that the processes of the parser share. */
typedef struct
{
  guint processes;
  _Atomic guint64 latest; /* largest number that a parsed sentence began with */
} Common;

static Common *common;

/* Records the number at the beginning of @sentence. For "late 7", waits until another process has parsed a sentence
 * with a number above 7. */
static void
keep_company (const char *sentence)
{
  guint64 number = g_ascii_strtoull (sentence, NULL, 10);

  if (g_str_has_prefix (sentence, "late "))
    while (common->processes > 1 && common->latest <= g_ascii_strtoull (sentence + strlen ("late "), NULL, 10))
      g_thread_yield ();
  else if (number > common->latest)
    common->latest = number;
}

static gpointer
open_mock (gint64 unlinked, GError **error)
{
  return GINT_TO_POINTER (unlinked + 1);
}

static PlaitParseOutcome
parse_mock (gpointer self, const char *sentence, gsize length, GString *tree)
{
  if (g_str_equal (sentence, "crash"))
    raise (SIGSEGV);
  if (g_str_equal (sentence, "leave"))
    _exit (0);
  while (g_str_equal (sentence, "hang"))
    pause ();
  keep_company (sentence);
  if (g_str_equal (sentence, "nonsense"))
    return PLAIT_PARSE_NONE;
  if (g_str_equal (sentence, "talk"))
    g_string_set_size (tree, PLAIT_TEXT_LINE_LIMIT + 1);
  g_string_append_printf (tree, "(S %s)", sentence);
  return GPOINTER_TO_INT (self) > 1 ? PLAIT_PARSE_PARTIAL : PLAIT_PARSE_COMPLETE;
}

static gpointer
refuse (gint64 unlinked, GError **error)
{
  plait_fail (error, PLAIT_ERROR_INPUT, "there is no grammar today");
  return NULL;
}

static gpointer
die (gint64 unlinked, GError **error)
{
  abort ();
}

static const PlaitSentenceParser mock = { "mock", open_mock, parse_mock };

typedef struct
{
  GString *trees;
  GString *ends;
  gint stop;
  guint stop_after; /* number of lines after which parsing is interrupted; 0: never */
} Taken;

static void
take (const char *tree, PlaitParseOutcome end, gpointer data)
{
  Taken *taken = data;
  g_string_append_printf (taken->trees, "%s\n", tree);
  g_string_append_c (taken->ends, (char)('0' + end));
  if (taken->ends->len == taken->stop_after)
    g_atomic_int_set (&taken->stop, 1);
}

static gboolean
parse (const PlaitSentenceParser *parser, PlaitParseSettings settings, const char *text, Taken *taken, GError **error)
{
  const char *path = plait_test_write ("text", text);
  g_autoptr (PlaitTextReader) reader = plait_text_reader_open (path, NULL);
  common = mmap (NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  g_assert_true (common != MAP_FAILED);
  common->processes = settings.n_processes;
  gboolean parsed = plait_parse (parser, &settings, reader, &taken->stop, take, taken, error);
  munmap (common, sizeof *common);
  return parsed;
}

static void
taken_clear (Taken *taken)
{
  g_string_free (taken->trees, TRUE);
  g_string_free (taken->ends, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Taken, taken_clear)

static Taken
taken_new (guint stop_after)
{
  return (Taken){ g_string_new (NULL), g_string_new (NULL), 0, stop_after };
}

TEST_CASE (parser, goes_on_after_what_a_sentence_does_to_its_process)
{
  for (guint n = 1; n <= 3; n++)
    {
      CONTEXT ("%u processes", n);
      g_auto (Taken) taken = taken_new (0);

      CHECK (
          parse (&mock, (PlaitParseSettings){ 0, 4, 60, n },
                 "late 0\n1 b\ncrash\n\nfour of these tokens\nnow more than four tokens\nleave\nnonsense\ntalk\n \nend",
                 &taken, NO_ERROR));
      CHECK_STRING (taken.trees->str, "(S late 0)\n(S 1 b)\n\n\n(S four of these tokens)\n\n\n\n\n\n(S end)\n");
      CHECK_STRING (taken.ends->str, "00670462370");
    }
}

TEST_CASE (parser, keeps_the_order_of_many_lines)
{
  g_auto (Taken) taken = taken_new (0);
  g_autoptr (GString) text = g_string_new (NULL), trees = g_string_new (NULL);

  for (guint i = 0; i < 500; i++)
    {
      const char *late = i % 100 == 0 ? "late " : "";

      g_string_append_printf (text, "%s%u\n", late, i);
      g_string_append_printf (trees, "(S %s%u)\n", late, i);
    }
  CHECK (parse (&mock, (PlaitParseSettings){ 2, 4, 60, 3 }, text->str, &taken, NO_ERROR));
  CHECK_STRING (taken.trees->str, trees->str);
  CHECK (strspn (taken.ends->str, "1") == 500);
}

TEST_CASE (parser, gives_up_what_takes_too_long)
{
  g_auto (Taken) taken = taken_new (0);

  CHECK (parse (&mock, (PlaitParseSettings){ 0, 4, 1, 1 }, "a\nhang\nb\n", &taken, NO_ERROR));
  CHECK_STRING (taken.trees->str, "(S a)\n\n(S b)\n");
  CHECK_STRING (taken.ends->str, "050");
}

TEST_CASE (parser, stops_where_it_is_told_to)
{
  g_auto (Taken) taken = taken_new (2);
  g_autoptr (GError) error = NULL;

  CHECK (!parse (&mock, (PlaitParseSettings){ 0, 4, 60, 1 }, "a\nb\nhang\nc\n", &taken, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INTERRUPTED, "interrupted before line 3");
  CHECK_STRING (taken.trees->str, "(S a)\n(S b)\n");
}

TEST_CASE (parser, tells_why_it_cannot_begin)
{
  const PlaitSentenceParser refusing = { "mock", refuse, parse_mock }, dying = { "mock", die, parse_mock };
  g_auto (Taken) taken = taken_new (0);
  g_autoptr (GError) error = NULL, death = NULL, bytes = NULL;

  CHECK (!parse (&refusing, (PlaitParseSettings){ 0, 4, 60, 2 }, "a\n", &taken, &error));
  CHECK_ERROR (error, PLAIT_ERROR_INPUT, "there is no grammar today");
  CHECK (!parse (&dying, (PlaitParseSettings){ 0, 4, 60, 2 }, "a\n", &taken, &death));
  CHECK_ERROR (death, PLAIT_ERROR_FAILED, "mock crashed while it started");
  CHECK (!parse (&mock, (PlaitParseSettings){ 0, 4, 60, 2 }, "a\n\xff\n", &taken, &bytes));
  CHECK_ERROR (bytes, PLAIT_ERROR_INPUT, "text:2: ");
}
