/* SPDX-License-Identifier: MIT */
#pragma once

#include "text/error.h"

/*
 * The tokenisers of sacreBLEU that metrics offer. Japanese words need the module tokeniser/mecab; FLORES needs a
 * SentencePiece model, which the user names.
 */
typedef enum
{
  PLAIT_TOKENS_13A,
  PLAIT_TOKENS_INTERNATIONAL,
  PLAIT_TOKENS_CHARACTERS,
  PLAIT_TOKENS_CHINESE,
  PLAIT_TOKENS_JAPANESE,
  PLAIT_TOKENS_FLORES_101,
  PLAIT_TOKENS_FLORES_200,
  PLAIT_TOKENS_NONE, /* words between white space */
} PlaitTokens;

/* Names of the tokenisers, in the order of PlaitTokens. */
#define PLAIT_TOKENS_NAMES "13a", "intl", "char", "zh", "ja-mecab", "flores101", "flores200", "none"

/* The tokeniser of a metric; zeroed: 13a. */
typedef struct
{
  guint tokens;            /* the tokeniser: PlaitTokens */
  char *model;             /* path of the SentencePiece model, or NULL */
  gconstpointer resources; /* library or model that the tokeniser uses; stays open until the process ends */
} PlaitTokeniser;

/* Opens the library or model that @tokeniser needs. Fails with PLAIT_ERROR_INPUT if the library or its dictionary is
 * missing or cannot be loaded, if a model is needed but not given or cannot be read, or if a model is given but not
 * needed. */
gboolean plait_tokeniser_open (PlaitTokeniser *tokeniser, GError **error);

/* Returns @line with white space between its tokens. Thread-safe. (transfer full) */
char *plait_tokeniser_cut (const PlaitTokeniser *tokeniser, const char *line);

/* Returns the tokeniser's name in signatures, such as "13a". (transfer none) */
const char *plait_tokeniser_signature (const PlaitTokeniser *tokeniser);

/* Functions of modules of kind tokeniser. */
typedef struct
{
  /* Returns MeCab with the dictionary IPA, or NULL with the reason in *@reason. (transfer full) */
  gpointer (*open) (char **reason);

  /* Returns @line with spaces between its words; a line that MeCab cannot cut is returned unchanged. (transfer
   * full) */
  char *(*cut) (gconstpointer mecab, const char *line);
} PlaitMecabTable;
