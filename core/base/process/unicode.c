/* SPDX-License-Identifier: MIT */
#include "process/unicode.h"

#include "process/module.h"

const PlaitUnicodeTable *
plait_unicode_open (GError **error)
{
  static const PlaitModuleWanted icu
      = { "unicode", "icu", "text by the rules of Unicode", "libicu-dev", sizeof (PlaitUnicodeTable) };

  return plait_module_open (&icu, error);
}
