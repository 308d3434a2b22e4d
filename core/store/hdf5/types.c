/* SPDX-License-Identifier: MIT */
#include "hdf5/internal.h"

hid_t
plait_store_memory_type (PlaitStoreType type)
{
  const hid_t types[] = { H5T_NATIVE_FLOAT, H5T_NATIVE_DOUBLE, H5T_NATIVE_INT32, H5T_NATIVE_INT64, H5T_NATIVE_UINT8 };

  g_assert ((gsize)type < G_N_ELEMENTS (types));
  return types[type];
}

hid_t
plait_store_file_type (PlaitStoreType type)
{
  const hid_t types[] = { H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I32LE, H5T_STD_I64LE, H5T_STD_U8LE };

  g_assert ((gsize)type < G_N_ELEMENTS (types));
  return types[type];
}

gsize
plait_store_type_size (PlaitStoreType type)
{
  static const gsize sizes[] = { 4, 8, 4, 8, 1 };

  g_assert ((gsize)type < G_N_ELEMENTS (sizes));
  return sizes[type];
}

const char *
plait_store_type_name (PlaitStoreType type)
{
  static const char *const names[] = { "float32", "float64", "int32", "int64", "byte", "string", "another type" };

  return names[MIN ((gsize)type, G_N_ELEMENTS (names) - 1)];
}

hid_t
plait_store_string_type (gsize length)
{
  g_auto (StoreId) type = H5Tcopy (H5T_C_S1);
  gboolean good = type >= 0 && H5Tset_size (type, length + 1) >= 0 && H5Tset_cset (type, H5T_CSET_UTF8) >= 0
                  && H5Tset_strpad (type, H5T_STR_NULLTERM) >= 0;
  return good ? store_id_steal (&type) : -1;
}

PlaitStoreType
plait_store_type_of (hid_t type)
{
  gsize size = H5Tget_size (type);
  switch (H5Tget_class (type))
    {
    case H5T_STRING:
      return H5Tis_variable_str (type) > 0 ? PLAIT_STORE_OTHER : PLAIT_STORE_STRING;
    case H5T_FLOAT:
      return size == 4 ? PLAIT_STORE_FLOAT : size == 8 ? PLAIT_STORE_DOUBLE : PLAIT_STORE_OTHER;
    case H5T_INTEGER:
      if (H5Tget_sign (type) == H5T_SGN_NONE)
        return size == 1 ? PLAIT_STORE_UINT8 : PLAIT_STORE_OTHER;
      return size == 4 ? PLAIT_STORE_INT32 : size == 8 ? PLAIT_STORE_INT64 : PLAIT_STORE_OTHER;
    default:
      return PLAIT_STORE_OTHER;
    }
}

gboolean
plait_store_convertible (PlaitStoreType stored, gint64 element_bytes, PlaitStoreType wanted)
{
  if (wanted == PLAIT_STORE_STRING || wanted == PLAIT_STORE_OTHER)
    return FALSE;
  switch (stored)
    {
    case PLAIT_STORE_FLOAT:
    case PLAIT_STORE_DOUBLE:
      return wanted == PLAIT_STORE_FLOAT || wanted == PLAIT_STORE_DOUBLE;
    case PLAIT_STORE_INT32:
    case PLAIT_STORE_INT64:
    case PLAIT_STORE_UINT8:
      return wanted == PLAIT_STORE_FLOAT || wanted == PLAIT_STORE_DOUBLE
             || (gint64)plait_store_type_size (wanted) >= element_bytes;
    default:
      return FALSE;
    }
}
