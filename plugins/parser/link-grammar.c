/* SPDX-License-Identifier: MIT */
/* The English parser of the library link-grammar. Only this file calls the library. */
#include <link-grammar/link-includes.h>
#include <stdlib.h>
#include <unistd.h>

#include "process/module.h"
#include "trees/parser.h"
#include "link-tree.h"

/* Maximum number of linkages to compare. If there are more, the library draws a sample of them with a fixed seed. */
#define LINKAGES 1000

typedef struct
{
  Dictionary dictionary;
  Parse_Options options;
} LinkGrammar;

/* Drops the library's messages: the outcome of a parse says enough. */
static void
keep_silent (lg_errinfo *what, void *data)
{
}

static gpointer
open_english (gint64 unlinked, GError **error)
{
  /* The library takes the character set from the environment, and prefers a grammar in a folder "en" near the current
   * folder. */
  if (setenv ("LC_ALL", "C.UTF-8", TRUE) != 0 || chdir ("/") != 0)
    return plait_fail_null (
        error, PLAIT_ERROR_FAILED,
        "link-grammar cannot be started: the folder / cannot be entered; make it readable for this process");
  lg_error_set_handler (keep_silent, NULL);
  Dictionary dictionary = dictionary_create_lang ("en");
  if (!dictionary)
    return plait_fail_null (
        error, PLAIT_ERROR_INPUT,
        "link-grammar has no grammar of English; install the Debian package link-grammar-dictionaries-en");
  LinkGrammar *self = g_new0 (LinkGrammar, 1);
  self->dictionary = dictionary;
  self->options = parse_options_create ();
  parse_options_set_verbosity (self->options, 0);
  parse_options_set_linkage_limit (self->options, LINKAGES);
  parse_options_set_repeatable_rand (self->options, true);
  parse_options_set_max_null_count (self->options, (int)unlinked);
  /* Turn off spelling corrections, which depend on the installed dictionaries, and limits of time and memory, which
   * depend on the machine. */
  parse_options_set_spell_guess (self->options, 0);
  parse_options_set_max_parse_time (self->options, -1);
  parse_options_set_max_memory (self->options, -1);
  return self;
}

/* Appends the tree of the best linkage to @tree. Skips the walls, which mark both ends of a sentence and have no bytes
 * in it. */
static gboolean
write_tree (const Linkage linkage, const char *sentence, gsize length, GString *tree)
{
  gsize n = linkage_get_num_words (linkage);
  g_autofree PlaitLinkWord *words = g_new (PlaitLinkWord, n);
  gsize n_words = 0;
  for (gsize i = 0; i < n; i++)
    {
      PlaitLinkWord word = { linkage_get_word_byte_start (linkage, i), linkage_get_word_byte_end (linkage, i) };
      if (word.end > word.start)
        words[n_words++] = word;
    }
  char *constituents = linkage_print_constituent_tree (linkage, BRACKET_TREE);
  gboolean good = constituents && plait_link_tree (constituents, words, n_words, sentence, length, tree);
  linkage_free_constituent_tree_str (constituents);
  return good;
}

static PlaitParseOutcome
parse_english (gpointer parser, const char *text, gsize length, GString *tree)
{
  LinkGrammar *self = parser;
  PlaitParseOutcome end = PLAIT_PARSE_NONE;
  Sentence sentence = sentence_create (text, self->dictionary);
  if (sentence && sentence_parse (sentence, self->options) > 0)
    {
      Linkage linkage = linkage_create (0, sentence, self->options);
      end = !linkage || !write_tree (linkage, text, length, tree) ? PLAIT_PARSE_UNMATCHED
            : sentence_null_count (sentence) > 0                  ? PLAIT_PARSE_PARTIAL
                                                                  : PLAIT_PARSE_COMPLETE;
      linkage_delete (linkage);
    }
  sentence_delete (sentence);
  return end;
}

static const PlaitSentenceParser parser = { "link-grammar", open_english, parse_english };

PLAIT_MODULE_DEFINE ("parser", parser)
