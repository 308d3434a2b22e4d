/* SPDX-License-Identifier: MIT */
#include "sampling-reference.h"

#include <sentencepiece_processor.h>
#include <string_view>
#include <thread>
#include <vector>

gboolean
sampling_reference (GBytes *model, const char *text, double strength, gint64 draws, SamplingSeen seen, gpointer data)
{
  gboolean good = TRUE;
  /* SentencePiece keeps one random generator for each thread and seeds it at its first use, so use a new thread. */
  std::thread thread ([&] {
    sentencepiece::SentencePieceProcessor processor;
    gsize size;
    const char *bytes = static_cast<const char *> (g_bytes_get_data (model, &size));
    sentencepiece::SetRandomGeneratorSeed (7);
    good = processor.LoadFromSerializedProto (std::string_view (bytes, size)).ok ();
    for (gint64 i = 0; i < draws && good; i++)
      {
        std::vector<int> ids;
        good = processor.SampleEncode (text, -1, static_cast<float> (strength), &ids).ok ();
        seen (data, ids.data (), ids.size ());
      }
  });
  thread.join ();
  return good;
}
