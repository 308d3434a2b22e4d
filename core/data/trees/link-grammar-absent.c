/* SPDX-License-Identifier: MIT */
/* In place of link-grammar.c where the build found no link-grammar. */
#include "trees/parser.h"

static gpointer
open_nothing (gint64 unlinked, GError **error)
{
  return plait_fail_null (error, PLAIT_ERROR_INPUT,
                          "this plait was built without link-grammar; install the Debian packages liblink-grammar-dev "
                          "and link-grammar-dictionaries-en, and build it again");
}

static PlaitParseEnd
parse_nothing (gpointer self, const char *sentence, gsize length, GString *tree)
{
  return PLAIT_PARSE_NONE;
}

const PlaitSentenceParser plait_link_grammar = { "link-grammar", open_nothing, parse_nothing };
