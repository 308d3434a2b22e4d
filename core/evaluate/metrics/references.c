/* SPDX-License-Identifier: MIT */
#include "metrics/references.h"

#include <string.h>

PlaitReferences *
plait_references_new (char **texts)
{
  PlaitReferences *references = g_new0 (PlaitReferences, 1);

  references->n = g_strv_length (texts);
  references->names = g_ptr_array_new_with_free_func (g_free);
  references->texts = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  references->sets = g_ptr_array_new_with_free_func (g_free);
  plait_references_add (references, "", texts);
  return references;
}

gboolean
plait_references_add (PlaitReferences *references, const char *name, char **texts)
{
  gboolean further = references->sets->len > 0;
  const char **set;

  g_ptr_array_add (references->texts, texts);
  if (g_strv_length (texts) != references->n)
    return FALSE;
  set = g_new (const char *, references->n);
  for (gsize i = 0; i < references->n; i++)
    set[i] = further && *texts[i] == '\0' ? NULL : texts[i];
  g_ptr_array_add (references->sets, set);
  g_ptr_array_add (references->names, g_strdup (name));
  return TRUE;
}

void
plait_references_free (PlaitReferences *references)
{
  if (!references)
    return;
  g_ptr_array_unref (references->names);
  g_ptr_array_unref (references->texts);
  g_ptr_array_unref (references->sets);
  g_free (references);
}

const char *const *
plait_references_texts (const PlaitReferences *references, guint k)
{
  return references->texts->pdata[k];
}

PlaitTextPairs
plait_references_pairs (const PlaitReferences *references, const char *const *hypotheses)
{
  return (PlaitTextPairs){ references->n, hypotheses, references->sets->len,
                           (const char *const *const *)references->sets->pdata, TRUE };
}

char *
plait_references_digest (const PlaitReferences *references)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);

  for (guint k = 0; k < references->sets->len; k++)
    for (gsize i = 0; i < references->n; i++)
      {
        const char *text = plait_references_texts (references, k)[i];

        g_checksum_update (checksum, (const guchar *)text, (gssize)strlen (text) + 1);
      }
  return g_strdup (g_checksum_get_string (checksum));
}
