/* SPDX-License-Identifier: MIT */
#include "setup/requirements.h"

#include <string.h>

#include "lines/text-file.h"
#include "types/input.h"

/* Requirements of one line: tokens of the prefix, and phrases. */
typedef struct
{
  GArray *prefix; /* (element-type gint32): ids of the tokens with which the translation must begin */
  PlaitPhrases *phrases;
} Line;

struct PlaitRequirements
{
  const char *paths[2]; /* paths of the files of prefixes and constraints; NULL: not given */
  gint64 n_lines[2];    /* number of lines of each file */
  GArray *lines;        /* (element-type Line) */
  const PlaitVocabulary *vocabulary;
  const PlaitDecodeSettings *settings;
  gboolean copies; /* TRUE: the output copies words that are not in the vocabulary */
};

static void
line_clear (gpointer data)
{
  Line *line = data;

  if (line->prefix)
    g_array_unref (line->prefix);
  plait_phrases_free (line->phrases);
}

void
plait_requirements_free (PlaitRequirements *requirements)
{
  if (!requirements)
    return;
  g_array_unref (requirements->lines);
  g_free (requirements);
}

static gboolean
has_unknown (const GArray *ids, guint first)
{
  for (guint i = first; i < ids->len; i++)
    if (g_array_index (ids, gint32, i) == PLAIT_TOKEN_UNKNOWN)
      return TRUE;
  return FALSE;
}

/* Returns the first word of @text that, encoded alone, has a token outside @vocabulary. Returns @text if there is no
 * such word. (transfer full) */
static char *
unknown_word (const PlaitVocabulary *vocabulary, const char *text)
{
  g_auto (GStrv) words = g_strsplit_set (text, " \t", -1);

  for (guint i = 0; words[i]; i++)
    {
      g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));

      plait_vocabulary_encode (vocabulary, words[i], strlen (words[i]), ids);
      if (has_unknown (ids, 0))
        return g_strdup (words[i]);
    }
  return g_strdup (text);
}

/* Appends to @ids the tokens of @text, which is in line @number of the file @path. @whole is TRUE if @text begins a
 * target sentence. */
static gboolean
encode (const PlaitRequirements *requirements, const char *path, gint64 number, const char *text, gboolean whole,
        GArray *ids, GError **error)
{
  const PlaitVocabulary *vocabulary = requirements->vocabulary;
  guint first = ids->len;

  if (whole)
    plait_vocabulary_encode_text (vocabulary, text, strlen (text), ids);
  else
    plait_vocabulary_encode (vocabulary, text, strlen (text), ids);
  if (has_unknown (ids, first))
    {
      g_autofree char *word = unknown_word (vocabulary, text);

      return plait_fail (
          error, PLAIT_ERROR_INPUT, "%s:%jd: \"%s\" is not in the vocabulary of the target: %s; change the line", path,
          number, word,
          requirements->copies ? "the output may copy this word from a source, but the word cannot be required"
                               : "no translation can contain this word");
    }
  return TRUE;
}

static gboolean
read_prefix (const PlaitRequirements *requirements, gint64 number, const char *text, Line *line, GError **error)
{
  line->prefix = g_array_new (FALSE, FALSE, sizeof (gint32));
  return strspn (text, " \t") == strlen (text)
         || encode (requirements, requirements->paths[0], number, text, TRUE, line->prefix, error);
}

static gboolean
read_phrases (const PlaitRequirements *requirements, gint64 number, const char *text, Line *line, GError **error)
{
  const char *path = requirements->paths[1];
  g_auto (GStrv) fields = g_strsplit (text, "\t", -1);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GArray) offsets = g_array_new (FALSE, TRUE, sizeof (gint64));

  g_array_set_size (offsets, 1);
  for (guint i = 0; fields[i]; i++)
    {
      gint64 end;

      if (!encode (requirements, path, number, fields[i], FALSE, ids, error))
        return FALSE;
      end = ids->len;
      if (end > g_array_index (offsets, gint64, offsets->len - 1))
        g_array_append_val (offsets, end);
    }
  if (offsets->len - 1 > PLAIT_PHRASES_MAX)
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s:%jd: has %u phrases, but at most %d can be required; remove some",
                       path, number, offsets->len - 1, PLAIT_PHRASES_MAX);
  if (offsets->len > 1)
    line->phrases = plait_phrases_new ((PlaitRagged){ offsets->len - 1, (const gint64 *)(gpointer)offsets->data },
                                       (const gint32 *)(gpointer)ids->data);
  return TRUE;
}

static PlaitRequirement
requirement_of (const Line *line)
{
  return (PlaitRequirement){ line->prefix ? (const gint32 *)(gpointer)line->prefix->data : NULL,
                             line->prefix ? line->prefix->len : 0, line->phrases };
}

/* Reads @text, line @number (from 1) of paths[@file]: @file is 0 for prefixes, 1 for constraints. */
static gboolean
read_line (PlaitRequirements *requirements, guint file, gint64 number, const char *text, GError **error)
{
  PlaitRequirement requirement;
  Line *line;
  gint64 needed;

  if (requirements->lines->len < number)
    g_array_set_size (requirements->lines, (guint)number);
  line = &g_array_index (requirements->lines, Line, number - 1);
  if (!(file == 0 ? read_prefix : read_phrases) (requirements, number, text, line, error))
    return FALSE;
  requirement = requirement_of (line);
  needed = plait_requirement_length (&requirement);
  return needed <= requirements->settings->maximum_length
         || plait_fail (error, PLAIT_ERROR_INPUT,
                        "%s:%jd: %s %jd tokens, the end token included, but decode.maximum_length allows %jd; shorten "
                        "the line, or --set decode.maximum_length=%jd",
                        requirements->paths[file], number,
                        file == 0                       ? "the prefix needs"
                        : requirement.prefix_length > 0 ? "these phrases after the prefix need"
                                                        : "these phrases need",
                        needed, requirements->settings->maximum_length, needed);
}

static gboolean
read_file (PlaitRequirements *requirements, guint file, const char *option, GError **error)
{
  const char *path = requirements->paths[file];
  g_autoptr (PlaitTextReader) reader = NULL;
  g_autoptr (GError) local = NULL;
  const char *text;

  if (!path)
    return TRUE;
  if (g_str_equal (path, "-"))
    return plait_fail (error, PLAIT_ERROR_INPUT, "%s: standard input is for sources; name a file", option);
  reader = plait_text_reader_open_pipe (path, error);
  if (!reader)
    return FALSE;
  while ((text = plait_text_reader_next (reader, NULL, &local)))
    if (!read_line (requirements, file, ++requirements->n_lines[file], text, error))
      return FALSE;
  return plait_no_error (&local, error);
}

PlaitRequirements *
plait_requirements_read (const char *prefix, const char *constraints, const PlaitVocabulary *vocabulary,
                         const PlaitDecodeSettings *settings, gboolean copies, GError **error)
{
  g_autoptr (PlaitRequirements) requirements = g_new0 (PlaitRequirements, 1);

  requirements->paths[0] = prefix;
  requirements->paths[1] = constraints;
  requirements->vocabulary = vocabulary;
  requirements->settings = settings;
  requirements->copies = copies;
  requirements->lines = g_array_new (FALSE, TRUE, sizeof (Line));
  g_array_set_clear_func (requirements->lines, line_clear);
  if (!read_file (requirements, 0, "--prefix", error) || !read_file (requirements, 1, "--constraints", error))
    return NULL;
  return g_steal_pointer (&requirements);
}

gboolean
plait_requirements_check_settings (const PlaitDecodeSettings *settings, GError **error)
{
  if (settings->method == PLAIT_DECODE_METHOD_SAMPLE)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--constraints needs a beam, and decode.method=sample has none; set decode.method=beam");
  if (settings->groups > 1)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--constraints divides the beam in its own way, so it cannot be used with decode.groups=%jd; "
                       "set decode.groups=1",
                       settings->groups);
  if (settings->finished == PLAIT_DECODE_FINISHED_REFILL)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--constraints cannot be used with decode.finished=refill; set decode.finished=compete");
  if (settings->no_repeat_ngrams > 0)
    return plait_fail (error, PLAIT_ERROR_INPUT,
                       "--constraints cannot be used with decode.no_repeat_ngrams=%jd, which may forbid a phrase; set "
                       "decode.no_repeat_ngrams=0",
                       settings->no_repeat_ngrams);
  return TRUE;
}

gboolean
plait_requirements_find (const PlaitRequirements *requirements, gint64 line, PlaitRequirement *requirement,
                         GError **error)
{
  for (guint file = 0; file < 2; file++)
    if (requirements->paths[file] && line >= requirements->n_lines[file])
      return plait_fail (error, PLAIT_ERROR_INPUT,
                         "%s ends after line %jd, but the sources have more lines; give one line, which can be empty, "
                         "for each line of the sources",
                         requirements->paths[file], requirements->n_lines[file]);
  *requirement = requirement_of (&g_array_index (requirements->lines, Line, line));
  return TRUE;
}

gboolean
plait_requirements_check_end (const PlaitRequirements *requirements, gint64 lines, GError **error)
{
  for (guint file = 0; file < 2; file++)
    if (requirements->paths[file] && requirements->n_lines[file] > lines)
      return plait_fail (error, PLAIT_ERROR_INPUT, "%s has %jd lines, but the sources have only %jd; remove the rest",
                         requirements->paths[file], requirements->n_lines[file], lines);
  return TRUE;
}
