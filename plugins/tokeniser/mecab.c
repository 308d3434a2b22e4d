/* SPDX-License-Identifier: MIT */
#include <mecab.h>
#include <string.h>

#include "process/module.h"
#include "words/tokeniser.h"

/* Number of words of the dictionary IPA, by which sacreBLEU recognises it. Debian's dictionary has one more. */
#define IPA_WORDS 392126

/* Debian's folder of the dictionary; elsewhere MeCab's default dictionary must be IPA. */
#define DEBIAN_IPA "/var/lib/mecab/dic/ipadic-utf8"

typedef struct
{
  mecab_model_t *model;
  mecab_t *tagger;
} Mecab;

/* Returns the fault of the dictionary of @model, or NULL. (transfer full) */
static char *
find_fault (mecab_model_t *model)
{
  const mecab_dictionary_info_t *dictionary = mecab_model_dictionary_info (model);

  if (dictionary->size < IPA_WORDS || dictionary->size > IPA_WORDS + 1)
    return g_strdup_printf ("%s has %u words, not %u", dictionary->filename, dictionary->size, IPA_WORDS);
  if (g_ascii_strcasecmp (dictionary->charset, "UTF-8") != 0 && g_ascii_strcasecmp (dictionary->charset, "UTF8") != 0)
    return g_strdup_printf ("%s is in %s, not in UTF-8", dictionary->filename, dictionary->charset);
  if (dictionary->next)
    return g_strdup_printf ("there is a user dictionary, %s", dictionary->next->filename);
  return NULL;
}

static gpointer
open_mecab (char **reason)
{
  gboolean debian = g_file_test (DEBIAN_IPA "/sys.dic", G_FILE_TEST_EXISTS);
  mecab_model_t *model = mecab_model_new2 (debian ? "-r /dev/null -d " DEBIAN_IPA : "");
  mecab_t *tagger = model ? mecab_model_new_tagger (model) : NULL;
  Mecab *mecab;

  *reason = tagger ? find_fault (model) : g_strdup ("MeCab finds no dictionary");
  if (*reason)
    {
      if (tagger)
        mecab_destroy (tagger);
      if (model)
        mecab_model_destroy (model);
      return NULL;
    }
  mecab = g_new (Mecab, 1);
  mecab->model = model;
  mecab->tagger = tagger;
  return mecab;
}

static char *
cut (gconstpointer opened, const char *line)
{
  const Mecab *mecab = opened;
  mecab_lattice_t *lattice = mecab_model_new_lattice (mecab->model);
  GString *words = g_string_new (NULL);

  mecab_lattice_set_sentence2 (lattice, line, strlen (line));
  if (mecab_parse_lattice (mecab->tagger, lattice))
    for (const mecab_node_t *node = mecab_lattice_get_bos_node (lattice)->next; node && node->next; node = node->next)
      {
        g_string_append_len (words, node->surface, node->length);
        g_string_append_c (words, ' ');
      }
  else
    g_string_append (words, line);
  mecab_lattice_destroy (lattice);
  return g_string_free (words, FALSE);
}

static const PlaitMecabTable table = { open_mecab, cut };

PLAIT_MODULE_DEFINE ("tokeniser", table)
