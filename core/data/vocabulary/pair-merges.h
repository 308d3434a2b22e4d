/* SPDX-License-Identifier: MIT */
#pragma once

#include "process/random.h"

/*
 * Merges neighbouring pieces of a text into larger ones, pair by pair, as byte pair encoding does (Sennrich et al.
 * 2016). n pieces take O(n log n) time.
 */

/* A piece of the text. */
typedef struct
{
  gint32 id;             /* id of the piece; -1: the vocabulary lacks it */
  guint32 start, length; /* bytes of the piece in the text; length 0: it was merged into an earlier piece */
  gint32 previous, next; /* indices of the neighbouring pieces; -1 at the ends of the text */
} PlaitMergePiece;

/* Returns the id of the piece that @left and @right make together, or -1. Sets *@rank: the pair with the lowest rank is
 * merged first, the leftmost pair if ranks are equal. */
typedef gint32 (*PlaitMergeRule) (gconstpointer data, const PlaitMergePiece *left, const PlaitMergePiece *right,
                                  double *rank);

/* BPE dropout (Provilkov et al. 2020): each merge is skipped with probability @strength. */
typedef struct
{
  double strength;
  PlaitRandomKey key;
  guint64 draws; /* number of draws so far */
} PlaitMergeDropout;

/* Merges the pieces of a text. One merger can be used for many texts, but by only one thread at a time. */
typedef struct PlaitPairMerger PlaitPairMerger;

PlaitPairMerger *plait_pair_merger_new (void);
void plait_pair_merger_free (PlaitPairMerger *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlaitPairMerger, plait_pair_merger_free)

/* Adds a piece of @length bytes to the end of the text. */
void plait_pair_merger_add (PlaitPairMerger *self, gint32 id, guint32 length);

/* Merges pairs of the added pieces until @rule merges no further pair. @dropout skips some merges; NULL: no merge is
 * skipped. Appends the resulting ids to @ids (gint32) and removes the pieces. */
void plait_pair_merger_run (PlaitPairMerger *self, PlaitMergeRule rule, gconstpointer data, PlaitMergeDropout *dropout,
                            GArray *ids);
