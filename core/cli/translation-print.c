/* SPDX-License-Identifier: MIT */
#include "cli/translation-print.h"

#include "base/display.h"
#include "base/json.h"
#include "base/number.h"
#include "data/input.h"
#include "model/translate.h"

static char *
text_of (const PlaitTranslationPrinter *printer, const gint32 *tokens, gint64 n)
{
  GString *numbers;

  if (printer->vocabulary)
    return n > 0 ? plait_vocabulary_decode (printer->vocabulary, tokens, (gsize)n) : g_strdup ("");
  numbers = g_string_new (NULL);
  plait_translation_append (NULL, tokens, n, numbers);
  return g_string_free (numbers, FALSE);
}

/* Target rows: tokens, and the end where there is one. */
static gint64
length_of (const PlaitHypothesis *hypothesis)
{
  return hypothesis->length + (hypothesis->ended ? 1 : 0);
}

/* What @alignments have of hypothesis @i; NULL where there are none. */
static const char *const *
alignments_of (const PlaitTranslationPrinter *printer, const char *const *alignments, guint i)
{
  return alignments ? alignments + i * printer->aligner->n : NULL;
}

/* A hypothesis as fields; one of NULL has found nothing. */
static void
print_fields (const PlaitTranslationPrinter *printer, gint64 line, const PlaitHypothesis *hypothesis,
              const char *const *alignments)
{
  g_autoptr (GString) fields = g_string_new (NULL);

  g_string_append_printf (fields, "%" G_GINT64_FORMAT "\t", line + 1);
  if (hypothesis)
    {
      g_autofree char *text = text_of (printer, hypothesis->tokens, hypothesis->length);
      g_autofree char *scores = plait_format ("%.6f\t%.6f", hypothesis->score, hypothesis->log_probability);

      g_string_append_printf (fields, "%s\t%s\t%" G_GINT64_FORMAT, scores, g_strdelimit (text, "\t", ' '),
                              length_of (hypothesis));
    }
  else
    g_string_append (fields, "\t\t\t");
  for (guint i = 0; printer->aligner && i < printer->aligner->n; i++)
    g_string_append_printf (fields, "\t%s", hypothesis ? alignments[i] : "");
  plait_display_line (printer->stream, fields->str);
}

static void
add_hypothesis (const PlaitTranslationPrinter *printer, const PlaitHypothesis *hypothesis,
                const char *const *alignments, PlaitJson *json)
{
  g_autofree char *text = text_of (printer, hypothesis->tokens, hypothesis->length);

  plait_json_begin_object (json, NULL);
  plait_json_text (json, "text", text);
  plait_json_real (json, "score", hypothesis->score);
  plait_json_real (json, "log_probability", hypothesis->log_probability);
  plait_json_integer (json, "length", length_of (hypothesis));
  plait_json_boolean (json, "ended", printer->whole || hypothesis->ended);
  if (alignments)
    {
      plait_json_begin_object (json, "alignment");
      for (guint i = 0; i < printer->aligner->n; i++)
        plait_json_text (json, printer->aligner->sources[i].name, alignments[i]);
      plait_json_end_object (json);
    }
  plait_json_end_object (json);
}

static void
print_json (const PlaitTranslationPrinter *printer, gint64 line, const PlaitHypotheses *found,
            const char *const *alignments)
{
  g_autoptr (PlaitJson) json = plait_json_new_line ();

  plait_json_begin_object (json, NULL);
  plait_json_integer (json, "line", line + 1);
  plait_json_begin_array (json, "hypotheses");
  for (guint i = 0; i < found->n; i++)
    add_hypothesis (printer, &found->hypotheses[i], alignments_of (printer, alignments, i), json);
  plait_json_end_array (json);
  plait_json_end_object (json);
  fputs (plait_json_string (json), printer->stream);
}

/* A line for each sentence of @best, between start tokens. None is blank: it would end the document. */
static void
print_sentences (PlaitTranslationPrinter *printer, const PlaitHypothesis *best)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (GStrv) sentences = NULL;

  plait_document_decode (printer->vocabulary, best->tokens, best->length, text);
  sentences = g_strsplit (text->str, "\n", -1);
  for (guint i = 0; sentences[i]; i++)
    {
      plait_display_line (printer->stream, sentences[i]);
      printer->is_empty = FALSE;
    }
}

/* More of the line that is a document. */
static void
print_more (PlaitTranslationPrinter *printer, const PlaitHypothesis *best)
{
  g_autofree char *text = text_of (printer, best->tokens, best->length);

  if (!printer->is_empty)
    fputc (' ', printer->stream);
  plait_display_text (printer->stream, text);
  printer->is_empty = FALSE;
}

void
plait_translation_print (PlaitTranslationPrinter *printer, gint64 line, const PlaitHypotheses *found,
                         const char *const *alignments)
{
  const PlaitHypothesis nothing = { .length = 0 }, *best = found->n > 0 ? &found->hypotheses[0] : &nothing;

  if (printer->format == PLAIT_TRANSLATION_JSON)
    print_json (printer, line, found, alignments);
  if (printer->format == PLAIT_TRANSLATION_TSV)
    for (guint i = 0; i < MAX (found->n, 1); i++)
      print_fields (printer, line, found->n > 0 ? &found->hypotheses[i] : NULL, alignments_of (printer, alignments, i));
  if (printer->format != PLAIT_TRANSLATION_TEXT)
    return;
  if (line != printer->line)
    {
      if (printer->line >= 0 && printer->layout != PLAIT_LAYOUT_SENTENCES)
        fputc ('\n', printer->stream);
      printer->line = line;
      printer->is_empty = TRUE;
    }
  if (printer->layout == PLAIT_LAYOUT_DOCUMENTS)
    print_sentences (printer, best);
  else if (printer->layout == PLAIT_LAYOUT_LINES)
    print_more (printer, best);
  else
    {
      g_autofree char *text = text_of (printer, best->tokens, best->length);

      plait_display_line (printer->stream, text);
    }
}

void
plait_translation_print_end (const PlaitTranslationPrinter *printer)
{
  /* A document of nothing is seen only by the blank line that ends it. */
  if (printer->format == PLAIT_TRANSLATION_TEXT && printer->line >= 0
      && (printer->layout == PLAIT_LAYOUT_LINES || (printer->layout == PLAIT_LAYOUT_DOCUMENTS && printer->is_empty)))
    fputc ('\n', printer->stream);
}
