/* SPDX-License-Identifier: MIT */
#pragma once

#include "metrics/metric.h"

/* The references of a split: one for each text, and further sets, in which an empty text is a missing reference. */
typedef struct
{
  gsize n;          /* number of texts of a set */
  GPtrArray *names; /* (element-type utf8) names of the sets; the first is "" */
  GPtrArray *texts; /* (element-type GStrv) texts of each set */
  GPtrArray *sets;  /* (element-type const char **) pointers to @texts, NULL for missing references */
} PlaitReferences;

/* Returns references with the complete set @texts (transfer full). (transfer full) */
PlaitReferences *plait_references_new (char **texts);

/* Adds the set @name, whose texts are @texts (transfer full). FALSE if it does not have n texts. */
gboolean plait_references_add (PlaitReferences *references, const char *name, char **texts);

void plait_references_free (PlaitReferences *references);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitReferences, plait_references_free)

/* Returns the texts of set @k, which are NULL-terminated. (transfer none) */
const char *const *plait_references_texts (const PlaitReferences *references, guint k);

/* Returns @hypotheses (may be NULL) with all sets, as metrics take them; each text is a whole line or document. */
PlaitTextPairs plait_references_pairs (const PlaitReferences *references, const char *const *hypotheses);

/* Returns the SHA-256 of all texts, in hexadecimal. (transfer full) */
char *plait_references_digest (const PlaitReferences *references);
