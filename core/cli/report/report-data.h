/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/json.h"
#include "comparison/comparison.h"

/*
 * What the script of a report draws from, as it stands in the page: an element of JSON, {"index": PACK, "maps": [PACK,
 * ...]}. A pack is base64 of what zlib made of a length (32 bits, little-endian), so many bytes of JSON, and the bytes
 * that these tell of. No text of a user stands in the page as it is.
 *
 * The index has "runs", their names; "texts", one a split: "split", "references", "sources", each with "name" and
 * "lines", and "systems", each with "run" (a number), "hypotheses", "references" where they are others, and "scores",
 * each with "name", "larger" (is better) and "values", one a sentence; and "attention", one a split: "split" and
 * "sentences", each with "name" and "maps", for each run the number of a pack or null.
 *
 * The pack of a sentence has "targets", its target tokens, and "maps", its heatmaps: "name", "title", "group"
 * (attention or coverage), "sentences" (what its rows stand for), "layers" and "heads" (of the file; 0: no such axis),
 * "kept_layers" and "kept_heads" (of the pack: where fewer heads are kept, it is their mean, where fewer layers, the
 * last), "heaviest" (how many weights of a row are kept; 0: all), "largest", "largest_mass", "rows" (labels, or the
 * number of the heatmap that has the same) and, of tokens of a document, "of" (the sentence of each). Its bytes are,
 * heatmap after heatmap, what each target token gives to all rows, [layer, target], in 255ths of largest_mass, and the
 * weights, [layer, head, target, row], in 255ths of largest.
 *
 * Behind them "descents" has what a combiner chose (comparison/descent.h), at the last layer and the mean of heads:
 * "title", "choice", "ways", "highest", "targets", "rows" (labels), their "levels", "first" and "last" leaves, and
 * how many "bytes" follow: for each target token a number of rows (16 bits, little-endian, as all numbers here), and
 * for each of these its number (16 bits), and in 255ths its weight, path, share and how many of the ways took it.
 *
 * "undrawn" are sentences for people on what the file has besides.
 */

typedef enum
{
  PLAIT_REPORT_HEADS,  /* everything */
  PLAIT_REPORT_LAYERS, /* the mean of the heads of each layer */
  PLAIT_REPORT_LAST,   /* that of the last layer */
} PlaitReportDetail;

/* Makes the pack of sentence @name of @split; NULL if nothing is to be drawn or said. Large heatmaps have less detail
 * than asked for. (transfer full) */
gboolean plait_report_heatmaps (PlaitStore *store, const char *split, const char *name, PlaitReportDetail detail,
                                char **packed, GError **error);

/* (transfer full) */
char *plait_report_pack (const char *json, const GByteArray *bytes);

/* Adds @text without what would confuse a reader (text/display.h). */
void plait_report_json_text (PlaitJson *json, const char *name, const char *text);

/* @n of them, or with a negative @n all before a NULL. */
void plait_report_json_texts (PlaitJson *json, const char *name, char *const *texts, gint64 n);

/* Appends the element, and the place where the script shows what it holds; nothing where there is neither text nor
 * attention. */
gboolean plait_report_data (GString *html, const PlaitRunComparison *comparison, GError **error);
