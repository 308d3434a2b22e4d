/* SPDX-License-Identifier: MIT */
#include "text/number.h"
#include "search/search.h"

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
  return plait_format ("%.2f states touched a word, %.3f ms a word", plait_search_work_touched (work),
                       plait_search_work_milliseconds (work));
}
