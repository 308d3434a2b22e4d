/* SPDX-License-Identifier: MIT */
#include "text/separators.h"

#include <string.h>

#include "text/error.h"

const PlaitSeparator plait_separators[] = {
  { ";", "the items of a list, and the values of an axis", "evaluate.metrics=bleu;chrf" },
  { "+", "sources; factors of a source", "experiment.sources=en+de" },
  { "|", "the values of one condition in [grid]", "exclude=decoder.combiner=flat|serial" },
  { "&", "conditions that hold together, and axes that vary together", "zip=source.en.layers & decoder.layers" },
  { ",", "the options of one metric, columns of --tsv, numbers of plait-bench", "bleu:tok=none,lowercase" },
  { ":", "an item and what belongs to it: options, a language, a head; folders in PLAIT_PLUGIN_PATH",
    "documents_by_line=doc:en" },
  { NULL, NULL, NULL },
};

static gboolean
are_items (char **parts, PlaitIsItem is_item, gconstpointer data)
{
  gboolean all = TRUE;

  for (guint i = 0; parts[i] && all; i++)
    all = is_item (g_strstrip (parts[i]), data);
  return all;
}

char *
plait_separators_mend (const char *text, const char *separator, PlaitIsItem is_item, gconstpointer data)
{
  for (const PlaitSeparator *row = plait_separators;; row++)
    {
      const char *found = row->separator ? row->separator : " ";
      g_auto (GStrv) parts = g_strsplit (text, found, -1);

      if (!strstr (separator, found) && g_strv_length (parts) > 1 && are_items (parts, is_item, data))
        return g_strjoinv (separator, parts);
      if (!row->separator)
        return NULL;
    }
}

static gboolean
is_name (const char *text, gconstpointer names)
{
  g_autofree char *name = g_strndup (text, strcspn (text, ":"));

  return g_strv_contains (names, name);
}

char *
plait_item_remedy (const char *wanted, const char *const *names, const char *separator, const char *otherwise)
{
  g_autofree char *mended = plait_separators_mend (wanted, separator, is_name, names);

  return mended ? g_strdup_printf ("did you mean \"%s\"?", mended) : plait_name_remedy (wanted, names, otherwise);
}
