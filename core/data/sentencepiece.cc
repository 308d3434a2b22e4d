/* SPDX-License-Identifier: MIT */
#include "data/sentencepiece.h"

#include <exception>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct PlaitSentencePiece
{
  sentencepiece::SentencePieceProcessor processor;
};

namespace {

class Lines : public sentencepiece::SentenceIterator {
public:
  Lines (PlaitSentencePieceLine next, gpointer data) : next_ (next), data_ (data)
  {
    Next ();
  }

  bool
  done () const override
  {
    return done_;
  }

  void
  Next () override
  {
    gsize length = 0;
    const char *line = next_ (data_, &length);
    done_ = line == nullptr;
    if (done_)
      value_.clear ();
    else
      value_.assign (line, length);
  }

  const std::string &
  value () const override
  {
    return value_;
  }

  sentencepiece::util::Status
  status () const override
  {
    return sentencepiece::util::Status ();
  }

private:
  PlaitSentencePieceLine next_;
  gpointer data_;
  std::string value_;
  bool done_ = false;
};

} // namespace

GBytes *
plait_sentencepiece_train (const char *const *options, PlaitSentencePieceLine next, gpointer data, char **message)
{
  try
    {
      std::unordered_map<std::string, std::string> arguments;
      for (gsize i = 0; options[i] != nullptr; i += 2)
        arguments[options[i]] = options[i + 1];
      Lines lines (next, data);
      std::string model;
      auto status = sentencepiece::SentencePieceTrainer::Train (arguments, &lines, &model);
      if (status.ok ())
        return g_bytes_new (model.data (), model.size ());
      *message = g_strdup (status.ToString ().c_str ());
  } catch (const std::exception &e)
    {
      *message = g_strdup (e.what ());
  }
  return nullptr;
}

PlaitSentencePiece *
plait_sentencepiece_load (gconstpointer model, gsize size, char **message)
{
  PlaitSentencePiece *self = nullptr;
  try
    {
      self = new PlaitSentencePiece;
      auto status
          = self->processor.LoadFromSerializedProto (std::string_view (static_cast<const char *> (model), size));
      if (status.ok ())
        return self;
      *message = g_strdup (status.ToString ().c_str ());
  } catch (const std::exception &e)
    {
      *message = g_strdup (e.what ());
  }
  delete self;
  return nullptr;
}

void
plait_sentencepiece_free (PlaitSentencePiece *self)
{
  delete self;
}

int
plait_sentencepiece_size (const PlaitSentencePiece *self)
{
  return self->processor.GetPieceSize ();
}

void
plait_sentencepiece_specials (const PlaitSentencePiece *self, int ids[4])
{
  ids[0] = self->processor.pad_id ();
  ids[1] = self->processor.bos_id ();
  ids[2] = self->processor.eos_id ();
  ids[3] = self->processor.unk_id ();
}

const char *
plait_sentencepiece_piece (const PlaitSentencePiece *self, int id, gsize *length)
{
  const std::string &piece = self->processor.IdToPiece (id);
  *length = piece.size ();
  return piece.c_str ();
}

float
plait_sentencepiece_score (const PlaitSentencePiece *self, int id)
{
  return self->processor.GetScore (id);
}

gboolean
plait_sentencepiece_encode (const PlaitSentencePiece *self, const char *text, gsize length, GArray *ids)
{
  try
    {
      std::vector<int> found;
      if (!self->processor.Encode (std::string_view (text, length), &found).ok ())
        return FALSE;
      static_assert (sizeof (int) == sizeof (gint32), "ids are copied as they are");
      g_array_append_vals (ids, found.data (), static_cast<guint> (found.size ()));
      return TRUE;
  } catch (const std::exception &)
    {
      return FALSE;
  }
}

gboolean
plait_sentencepiece_encode_pieces (const PlaitSentencePiece *self, const char *text, gsize length, GPtrArray *pieces)
{
  try
    {
      std::vector<std::string> found;
      if (!self->processor.Encode (std::string_view (text, length), &found).ok ())
        return FALSE;
      for (const std::string &piece : found)
        g_ptr_array_add (pieces, g_strdup (piece.c_str ()));
      return TRUE;
  } catch (const std::exception &)
    {
      return FALSE;
  }
}

GString *
plait_sentencepiece_decode (const PlaitSentencePiece *self, const gint32 *ids, gsize n)
{
  try
    {
      std::string text;
      if (!self->processor.Decode (std::vector<int> (ids, ids + n), &text).ok ())
        return nullptr;
      return g_string_new_len (text.data (), static_cast<gssize> (text.size ()));
  } catch (const std::exception &)
    {
      return nullptr;
  }
}

GString *
plait_sentencepiece_decode_pieces (const PlaitSentencePiece *self, const char *const *pieces, gsize n)
{
  try
    {
      std::string text;
      if (!self->processor.Decode (std::vector<std::string> (pieces, pieces + n), &text).ok ())
        return nullptr;
      return g_string_new_len (text.data (), static_cast<gssize> (text.size ()));
  } catch (const std::exception &)
    {
      return nullptr;
  }
}
