/* SPDX-License-Identifier: MIT */
#include "model/search.h"

PlaitSearchWork
plait_search_work_since (const PlaitSearch *search, const PlaitSearchWork *before)
{
  PlaitSearchWork work = plait_search_work (search);

  work.words -= before->words;
  work.steps -= before->steps;
  work.touched.all -= before->touched.all;
  work.touched.chosen -= before->touched.chosen;
  work.seconds -= before->seconds;
  return work;
}

double
plait_search_work_touched (const PlaitSearchWork *work)
{
  return (double)work->touched.all / (double)MAX (1, work->steps);
}

double
plait_search_work_chosen (const PlaitSearchWork *work)
{
  return (double)work->touched.chosen / (double)MAX (1, work->steps);
}

double
plait_search_work_milliseconds (const PlaitSearchWork *work)
{
  return 1e3 * work->seconds / (double)MAX (1, work->words);
}

char *
plait_search_work_text (const PlaitSearchWork *work)
{
  char touched[G_ASCII_DTOSTR_BUF_SIZE], milliseconds[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (touched, sizeof touched, "%.2f", plait_search_work_touched (work));
  g_ascii_formatd (milliseconds, sizeof milliseconds, "%.3f", plait_search_work_milliseconds (work));
  return g_strdup_printf ("%s states touched a word, %s ms a word", touched, milliseconds);
}
