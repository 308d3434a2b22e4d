/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/json.h"
#include "comparison/comparison.h"

/*
 * Data from which the script of a report draws: a JSON element of the page, {"index": PACK, "maps": [PACK, ...]}. A
 * pack is base64 of zlib of: a length (32 bits, little-endian), JSON of that length, and bytes that the JSON describes.
 * User text is only inside packs, so it needs no escaping in the page.
 *
 * The index has "runs", their names; "texts", one for each split: "split", "references", "sources", each with "name"
 * and "lines", and "systems", each with "run" (a number), "hypotheses", "references" if they differ, and "scores", each
 * with "name", "larger" (is better) and "values", one for each sentence; and "attention", one for each split: "split"
 * and "sentences", each with "name" and "maps", for each run the number of a pack or null.
 *
 * The pack of a sentence has "targets", its target tokens, and "maps", its heatmaps: "name", "title", "group"
 * (attention, coverage or copy), "sentences" (TRUE if rows stand for sentences), "layers" and "heads" (of the file; 0:
 * no such axis), "kept_layers" and "kept_heads" (of the pack: fewer heads are their mean, fewer layers the last one),
 * "heaviest" (number of weights kept in a row; 0: all), "largest", "largest_mass", "rows" (labels, or the number of a
 * heatmap with equal labels) and, for tokens of a document, "of" (the sentence of each). The bytes are, for each
 * heatmap, the sum of the weights of each target token, [layer, target], in 255ths of largest_mass, and the weights,
 * [layer, head, target, row], in 255ths of largest.
 *
 * The bytes of "descents" follow (comparison/descent.h), at the last layer and the mean of heads: "title", "choice",
 * "ways", "highest", "targets", "rows" (labels), their "levels", "first" and "last" leaves, and the number of their
 * "bytes": for each target token the number of rows (16 bits, little-endian, like all numbers here), and for each row
 * its number (16 bits), and in 255ths its weight, path, share and the share of the ways that selected it.
 *
 * "undrawn" are sentences for people about heatmaps and descents of the file that are not drawn.
 */

typedef enum
{
  PLAIT_REPORT_HEADS,  /* all heads */
  PLAIT_REPORT_LAYERS, /* the mean of the heads of each layer */
  PLAIT_REPORT_LAST,   /* the mean of the heads of the last layer */
} PlaitReportDetail;

/* Makes the pack of sentence @name of @split. *@packed becomes NULL if there is nothing to draw or say. Large heatmaps
 * get a lower detail than @detail. (transfer full) */
gboolean plait_report_heatmaps (PlaitStore *store, const char *split, const char *name, PlaitReportDetail detail,
                                char **packed, GError **error);

/* Returns the pack of @json and @bytes (NULL: none). (transfer full) */
char *plait_report_pack (const char *json, const GByteArray *bytes);

/* Adds @text with control characters replaced (text/display.h). */
void plait_report_json_text (PlaitJson *json, const char *name, const char *text);

/* Adds an array of @n texts; with negative @n, all texts before NULL. */
void plait_report_json_texts (PlaitJson *json, const char *name, char *const *texts, gint64 n);

/* Appends the data and the element in which the script shows them; nothing if the runs have neither text nor
 * attention. */
gboolean plait_report_data (GString *html, const PlaitRunComparison *comparison, GError **error);
