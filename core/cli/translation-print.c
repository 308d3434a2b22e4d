/* SPDX-License-Identifier: MIT */
#include "cli/translation-print.h"

#include <string.h>

#include "base/display.h"
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

static void
print_scored (const PlaitTranslationPrinter *printer, gint64 line, const PlaitHypotheses *found)
{
  if (found->n == 0)
    fputs ("\n", printer->stream);
  for (guint i = 0; i < found->n; i++)
    {
      const PlaitHypothesis *hypothesis = &found->hypotheses[i];
      g_autofree char *text = text_of (printer, hypothesis->tokens, hypothesis->length);
      char score[G_ASCII_DTOSTR_BUF_SIZE];
      char log_probability[G_ASCII_DTOSTR_BUF_SIZE];

      fprintf (printer->stream, "%" G_GINT64_FORMAT "\t%s\t%s\t", line + 1,
               g_ascii_formatd (score, sizeof score, "%.6f", hypothesis->score),
               g_ascii_formatd (log_probability, sizeof log_probability, "%.6f", hypothesis->log_probability));
      plait_display_line (printer->stream, text);
    }
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
plait_translation_print (PlaitTranslationPrinter *printer, gint64 line, const PlaitHypotheses *found)
{
  const PlaitHypothesis nothing = { .length = 0 }, *best = found->n > 0 ? &found->hypotheses[0] : &nothing;

  if (printer->scored)
    {
      print_scored (printer, line, found);
      return;
    }
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
  if (!printer->scored && printer->line >= 0
      && (printer->layout == PLAIT_LAYOUT_LINES || (printer->layout == PLAIT_LAYOUT_DOCUMENTS && printer->is_empty)))
    fputc ('\n', printer->stream);
}
