/* SPDX-License-Identifier: MIT */
#include "plugin/site.h"

guint
plait_site_n_memories (const PlaitSite *site)
{
  return site->n_memories;
}

const PlaitMemorySpecification *
plait_site_memory (const PlaitSite *site, guint memory)
{
  g_assert (memory < site->n_memories);
  return &site->memories[memory];
}

gint64
plait_site_width (const PlaitSite *site)
{
  return site->width;
}

gint64
plait_site_query_width (const PlaitSite *site)
{
  return site->query_width;
}

void
plait_site_declare_residual (PlaitSite *site, guint slot)
{
  site->table->declare_residual (site, slot);
}

void
plait_site_declare_attend (PlaitSite *site, guint memory, const PlaitSiteAttention *attention)
{
  site->table->declare_attend (site, memory, attention);
}

void
plait_site_declare_attend_jointly (PlaitSite *site, const PlaitSiteAttention *attention)
{
  site->table->declare_attend_jointly (site, attention);
}

void
plait_site_declare_attend_contexts (PlaitSite *site, const PlaitSiteAttention *attention)
{
  site->table->declare_attend_contexts (site, attention);
}

PlaitTape *
plait_site_tape (PlaitSite *site)
{
  return site->table->tape (site);
}

PlaitStream
plait_site_normalise (PlaitSite *site, guint slot, PlaitStream x)
{
  return site->table->normalise (site, slot, x);
}

PlaitContext
plait_site_attend (PlaitSite *site, guint memory, PlaitStream query)
{
  return site->table->attend (site, memory, query);
}

PlaitContext
plait_site_attend_jointly (PlaitSite *site, PlaitStream query)
{
  return site->table->attend_jointly (site, query);
}

PlaitContext
plait_site_attend_contexts (PlaitSite *site, PlaitStream query, const PlaitContext *contexts)
{
  return site->table->attend_contexts (site, query, contexts);
}

PlaitContext
plait_site_sum (PlaitSite *site, const PlaitContext *contexts, guint n)
{
  return site->table->sum (site, contexts, n);
}

PlaitStream
plait_site_residual (PlaitSite *site, guint slot, PlaitStream x, PlaitContext context)
{
  return site->table->residual (site, slot, x, context);
}
