/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/* References of a data split. The first set has a reference for each text. In further sets an empty text stands for a
 * missing reference. */
typedef struct
{
  gsize n;          /* number of texts of a set */
  GPtrArray *names; /* (element-type utf8) names of the sets; the first is "" */
  GPtrArray *texts; /* (element-type GStrv) texts of each set */
  GPtrArray *sets;  /* (element-type const char **) pointers to @texts, NULL for missing references */
} PlaitReferences;

/* Returns references whose first set is @texts, which the function takes over. (transfer full) */
PlaitReferences *plait_references_new (char **texts);

/* Adds the set @name, whose texts are @texts (transfer full). FALSE if @texts does not have n texts. */
gboolean plait_references_add (PlaitReferences *references, const char *name, char **texts);

void plait_references_free (PlaitReferences *references);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitReferences, plait_references_free)

/* Returns the texts of set @k, which are NULL-terminated. (transfer none) */
const char *const *plait_references_texts (const PlaitReferences *references, guint k);

/* Returns @hypotheses (may be NULL) and all sets as the texts that a metric scores; each text is a whole line or
 * document. */
PlaitTextPairs plait_references_pairs (const PlaitReferences *references, const char *const *hypotheses);

/* Returns one SHA-256 over the texts of all sets, in hexadecimal. (transfer full) */
char *plait_references_digest (const PlaitReferences *references);
