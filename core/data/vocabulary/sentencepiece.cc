/* SPDX-License-Identifier: MIT */
#include "vocabulary/sentencepiece.h"

#include <exception>
#include <memory>
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

/* Whether @call succeeds; why not to *@message, which may be NULL. */
template <typename Call>
gboolean
succeeds (Call call, char **message)
{
  std::string reason;
  try
    {
      auto status = call ();
      if (status.ok ())
        return TRUE;
      reason = status.ToString ();
  } catch (const std::exception &e)
    {
      reason = e.what ();
  }
  if (message)
    *message = g_strdup (reason.c_str ());
  return FALSE;
}

/* The text of ids or pieces. */
template <typename Item, typename Pointer>
GString *
decode (const PlaitSentencePiece *self, Pointer items, gsize n)
{
  std::string text;
  if (!succeeds ([&] { return self->processor.Decode (std::vector<Item> (items, items + n), &text); }, nullptr))
    return nullptr;
  return g_string_new_len (text.data (), static_cast<gssize> (text.size ()));
}

} // namespace

GBytes *
plait_sentencepiece_train (const PlaitSentencePieceOption *options, PlaitSentencePieceLine next, gpointer data,
                           char **message)
{
  std::string model;
  auto train = [&] {
    std::unordered_map<std::string, std::string> arguments;
    for (; options->key; options++)
      arguments[options->key] = options->value;
    Lines lines (next, data);
    return sentencepiece::SentencePieceTrainer::Train (arguments, &lines, &model);
  };
  return succeeds (train, message) ? g_bytes_new (model.data (), model.size ()) : nullptr;
}

PlaitSentencePiece *
plait_sentencepiece_load (gconstpointer model, gsize size, char **message)
{
  std::unique_ptr<PlaitSentencePiece> self;
  auto load = [&] {
    self.reset (new PlaitSentencePiece);
    return self->processor.LoadFromSerializedProto (std::string_view (static_cast<const char *> (model), size));
  };
  return succeeds (load, message) ? self.release () : nullptr;
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
  ids[3] = -1;
  /* unk_id () goes by the name that the model says, which need not be that of the piece for what is unknown. */
  for (int id = 0; id < self->processor.GetPieceSize () && ids[3] < 0; id++)
    if (self->processor.IsUnknown (id))
      ids[3] = id;
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
  std::vector<int> found;
  if (!succeeds ([&] { return self->processor.Encode (std::string_view (text, length), &found); }, nullptr))
    return FALSE;
  static_assert (sizeof (int) == sizeof (gint32), "ids are copied as they are");
  g_array_append_vals (ids, found.data (), static_cast<guint> (found.size ()));
  return TRUE;
}

gboolean
plait_sentencepiece_encode_pieces (const PlaitSentencePiece *self, const char *text, gsize length, GPtrArray *pieces)
{
  std::vector<std::string> found;
  if (!succeeds ([&] { return self->processor.Encode (std::string_view (text, length), &found); }, nullptr))
    return FALSE;
  for (const std::string &piece : found)
    g_ptr_array_add (pieces, g_strdup (piece.c_str ()));
  return TRUE;
}

GString *
plait_sentencepiece_decode (const PlaitSentencePiece *self, const gint32 *ids, gsize n)
{
  return decode<int> (self, ids, n);
}

GString *
plait_sentencepiece_decode_pieces (const PlaitSentencePiece *self, const char *const *pieces, gsize n)
{
  return decode<std::string> (self, pieces, n);
}
