/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unicode/ubrk.h>
#include <unicode/ucasemap.h>

#include "process/module.h"
#include "process/unicode.h"

static char *
lower (const char *text)
{
  UErrorCode status = U_ZERO_ERROR;
  UCaseMap *map = ucasemap_open ("", 0, &status); /* "" is the root locale */
  if (U_FAILURE (status))
    g_error ("ICU cannot open the root locale: %s", u_errorName (status));

  gsize length = strlen (text);
  g_assert (length < G_MAXINT32 / 3);
  int32_t room = (int32_t)length + (int32_t)(length / 2) + 1; /* lower-casing makes at most 3 bytes of 2 bytes */
  char *lowered = g_malloc ((gsize)room);
  ucasemap_utf8ToLower (map, lowered, room, text, (int32_t)length, &status);
  ucasemap_close (map);
  g_assert (U_SUCCESS (status));
  return lowered;
}

typedef struct
{
  UBreakIterator *rules;
  UText *line; /* line that is being split; NULL before the first line */
} Sentences;

static gpointer
sentences_new (const char **reason)
{
  UErrorCode status = U_ZERO_ERROR;
  UBreakIterator *rules = ubrk_open (UBRK_SENTENCE, "", NULL, 0, &status);
  Sentences *self;

  *reason = u_errorName (status);
  if (U_FAILURE (status))
    return NULL;
  self = g_new0 (Sentences, 1);
  self->rules = rules;
  return self;
}

static void
sentences_free (gpointer sentences)
{
  Sentences *self = sentences;

  ubrk_close (self->rules);
  if (self->line)
    utext_close (self->line);
  g_free (self);
}

static void
sentences_begin (gpointer sentences, const char *line, gsize length)
{
  Sentences *self = sentences;
  UErrorCode status = U_ZERO_ERROR;

  self->line = utext_openUTF8 (self->line, line, (gint64)length, &status);
  ubrk_setUText (self->rules, self->line, &status);
  g_assert (U_SUCCESS (status));
  ubrk_first (self->rules);
}

static gssize
sentences_next (gpointer sentences)
{
  gint32 next = ubrk_next (((Sentences *)sentences)->rules);

  return next == UBRK_DONE ? -1 : next;
}

static const PlaitUnicodeTable table = { lower, sentences_new, sentences_free, sentences_begin, sentences_next };

PLAIT_MODULE_DEFINE ("unicode", table)
