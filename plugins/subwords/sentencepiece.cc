/* SPDX-License-Identifier: MIT */
#include <exception>
#include <memory>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "process/module.h"
#include "vocabulary/sentencepiece.h"

namespace {

struct Model : PlaitSentencePiece
{
  sentencepiece::SentencePieceProcessor processor;
};

const sentencepiece::SentencePieceProcessor &
processor_of (const PlaitSentencePiece *self)
{
  return static_cast<const Model *> (self)->processor;
}

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

/* TRUE if @call succeeds. If it fails, *@message (unless NULL) receives the reason. (transfer full) */
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

/* Returns the text of @n ids or pieces, or NULL on failure. (transfer full) */
template <typename Item, typename Pointer>
GString *
decode (const PlaitSentencePiece *self, Pointer items, gsize n)
{
  std::string text;
  if (!succeeds ([&] { return processor_of (self).Decode (std::vector<Item> (items, items + n), &text); }, nullptr))
    return nullptr;
  return g_string_new_len (text.data (), static_cast<gssize> (text.size ()));
}

extern const PlaitSentencePieceTable table;

GBytes *
train (const PlaitSentencePieceOption *options, PlaitSentencePieceLine next, gpointer data, char **message)
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
load (gconstpointer model, gsize size, char **message)
{
  std::unique_ptr<Model> self;
  auto load = [&] {
    self.reset (new Model);
    return self->processor.LoadFromSerializedProto (std::string_view (static_cast<const char *> (model), size));
  };
  if (!succeeds (load, message))
    return nullptr;
  self->table = &table;
  return self.release ();
}

void
release (PlaitSentencePiece *self)
{
  delete static_cast<Model *> (self);
}

int
count (const PlaitSentencePiece *self)
{
  return processor_of (self).GetPieceSize ();
}

void
specials (const PlaitSentencePiece *self, int ids[4])
{
  ids[0] = processor_of (self).pad_id ();
  ids[1] = processor_of (self).bos_id ();
  ids[2] = processor_of (self).eos_id ();
  ids[3] = -1;
  /* unk_id () looks for a configured name, which may differ from the name of the unknown piece. */
  for (int id = 0; id < processor_of (self).GetPieceSize () && ids[3] < 0; id++)
    if (processor_of (self).IsUnknown (id))
      ids[3] = id;
}

const char *
piece (const PlaitSentencePiece *self, int id, gsize *length)
{
  const std::string &piece = processor_of (self).IdToPiece (id);
  *length = piece.size ();
  return piece.c_str ();
}

float
score (const PlaitSentencePiece *self, int id)
{
  return processor_of (self).GetScore (id);
}

gboolean
encode (const PlaitSentencePiece *self, const char *text, gsize length, GArray *ids)
{
  std::vector<int> found;
  if (!succeeds ([&] { return processor_of (self).Encode (std::string_view (text, length), &found); }, nullptr))
    return FALSE;
  static_assert (sizeof (int) == sizeof (gint32), "ids are copied as they are");
  g_array_append_vals (ids, found.data (), static_cast<guint> (found.size ()));
  return TRUE;
}

gboolean
encode_pieces (const PlaitSentencePiece *self, const char *text, gsize length, GPtrArray *pieces)
{
  std::vector<std::string> found;
  if (!succeeds ([&] { return processor_of (self).Encode (std::string_view (text, length), &found); }, nullptr))
    return FALSE;
  for (const std::string &piece : found)
    g_ptr_array_add (pieces, g_strdup (piece.c_str ()));
  return TRUE;
}

GString *
decode_ids (const PlaitSentencePiece *self, const gint32 *ids, gsize n)
{
  return decode<int> (self, ids, n);
}

GString *
decode_pieces (const PlaitSentencePiece *self, const char *const *pieces, gsize n)
{
  return decode<std::string> (self, pieces, n);
}

const PlaitSentencePieceTable table
    = { train, load, release, count, specials, piece, score, encode, encode_pieces, decode_ids, decode_pieces };

} // namespace

PLAIT_MODULE_DEFINE ("subwords", table)
