/* SPDX-License-Identifier: MIT */
#include "autograd/check.h"
#include "bench.h"
#include "cross-attention-fixture.h"
#include "layers/parameter-set.h"

#include <string.h>

/* Tests of the combiner descent over one memory: the leaves that it reaches, their weights, and its cost. */

#define ADDITIVE_DECODER 2
#define DOT_DECODER 5 /* number of a test decoder: no parameters, so keys and values are the rows */

/* Builds @combiner, with the keys @keys, over one memory of width @width. */
static void
fixture_build (CrossAttentionFixture *fixture, const char *combiner, guint decoder, gint64 width,
               const char *const *keys)
{
  g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);

  fixture->memory = (PlaitMemorySpecification){ "m", width, PLAIT_STRUCTURE_LEVELS };
  cross_attention_fixture_begin (fixture, plait_fixture_decoder (decoder), combiner, keys);
  CHECK (cross_attention_fixture_build (fixture, width, NO_ERROR));
  plait_parameters_initialise (fixture->parameters, pool, 3);
}

typedef struct
{
  PlaitNode *context;
  const PlaitScalar *weights; /* [heads][pairs]: attention weights */
  gint64 rows_weighed;        /* number of selected rows that were scored */
  gint64 all;
} Found;

static Found
run_with (Bench *bench, const CrossAttentionFixture *fixture, PlaitNode *query, PlaitRagged queries,
          const PlaitMemory *memory, PlaitAttentionRecord *record)
{
  PlaitCrossAttentionPass pass = plait_cross_pass (bench->tape, memory, 1, queries, record);
  PlaitCrossAttentionStep step = { .keys = plait_cross_project (&fixture->cross, bench->tape, memory) };
  PlaitAttentionCost rows_weighed = { 0 };
  Found found;
  PlaitResidualStream stream;

  pass.rows_weighed = &rows_weighed;
  stream = plait_cross_combine (&fixture->cross, &pass, &step, query);
  found.context = stream.context ? stream.context : stream.query;
  found.weights = record ? plait_attention_record_find (record, 0, NULL, 0)->weights : NULL;
  found.rows_weighed = rows_weighed.selected;
  found.all = rows_weighed.all;
  return found;
}

static Found
run (Bench *bench, const CrossAttentionFixture *fixture, PlaitNode *query, PlaitRagged queries,
     const PlaitMemory *memory)
{
  return run_with (bench, fixture, query, queries, memory, plait_attention_record_new (bench->arena, 1, 1, FALSE));
}

static const gint64 one[] = { 0, 1 };
static const PlaitRagged one_query = { 1, one };

/* Tests with one query (1, 0, 0, ...), so that the first element of a row is its score. */

/* A pyramid in blocks of three: eleven leaves below four rows, and these below two rows. */
static const gint64 parent[] = { 11, 11, 11, 12, 12, 12, 13, 13, 13, 14, 14, 15, 15, 15, 16, -1, -1 };
static const gint64 first_child[] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 3, 6, 9, 11, 14 };
static const gint64 n_children[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 2, 3, 1 };
static const gint64 level[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2 }, rows[] = { 0, 17 };
static const PlaitLinks links
    = { .parent = parent, .first_child = first_child, .n_children = n_children, .level = level };

#define LEAVES 11
#define ROWS 17
#define WIDTH 7

typedef struct
{
  const char *keys[5];
  gint64 rows_weighed;
  double scores[ROWS];
  double leaves[LEAVES][WIDTH - 1];
  double weights[LEAVES];
  double context[WIDTH - 1];
} Case;

/* Scores and leaves of pyramids. An independent reference computed the results in double precision. */
static const Case cases[] = {
  { { "descent", "soft", NULL },
    17,
    { -0.3022221946, -0.5302534797, -0.2484880041, 0.08797197896, -0.8432273465, -0.6563072727, -0.5916965609,
      -0.6983559489, -0.4003924176, -0.3065599255, -0.4571129693, 0.5472435018, 0.7165877747, 0.6412348554,
      0.7287874677, -0.6403711147, -0.4151689239 },
    { { -0.6671715433, -0.08132665546, 0.3971271334, -0.4665956796, 0.5553671209, -0.7927793997 },
      { -0.4889066679, 0.1181264438, -0.3073167207, -0.2167463131, 0.8021176224, 0.2974282279 },
      { -0.7339279289, -0.3224690961, -0.595102668, -0.4785926981, -1.320979447, 0.5811391779 },
      { 0.6048127626, 0.4120564047, 0.06841157387, -0.4932090597, -0.2345437882, -0.7290710041 },
      { -0.6784099277, -0.6276942935, 0.4661641033, 0.2063518319, 0.2868514364, -0.3710539877 },
      { 0.06408228458, -0.2633911546, 0.6569932795, -0.1790266275, 1.047225483, 0.1327073732 },
      { -0.3313817436, 0.2179098634, 0.8570927107, 0.1284543019, -0.8055088125, 0.3927700088 },
      { -1.258915664, 0.2566122518, -0.1680643982, 0.3974142413, -0.2654913918, 0.5015925809 },
      { 0.7079029386, 0.058302819, 1.036571615, -0.2410829687, -0.4551180292, -0.3420171857 },
      { -0.07672572334, 0.4013176055, -0.3374319454, 0.7565739943, 0.5156550505, -0.594425471 },
      { 0.402485571, 0.1853591465, -0.03390231049, 0.6197242306, -0.2209183077, -0.3170939805 } },
    { 0.04742375118, 0.03775401765, 0.05004173581, 0.08569169896, 0.03376945291, 0.0407101199, 0.04776903175,
      0.04293632354, 0.05784006499, 0.2989217333, 0.25714207 },
    { -0.003675153852, 0.180282012, 0.009899871698, 0.2979248705, 0.04386913971, -0.3055977458 } },
  { { "descent", "top1", NULL },
    5,
    { -0.6653910799, 0.7969026749, -0.9802161325, -0.6490783552, 0.1862737148, -0.5189990839, 0.05380889558,
      -0.3793109585, -0.3295323784, -0.9281114478, -0.2918804188, -0.3009552417, -0.4375160372, -0.4793031027,
      -0.5893088527, 2.379702375, 2.54656377 },
    { { -0.04948846106, 0.7753582664, -0.4790241758, -0.1755014384, 0.8486020944, 0.05505450838 },
      { 0.4955189909, 0.5318123847, -0.09373733244, 0.5249406425, 0.1491564321, -0.8509681669 },
      { -0.3546584824, 0.1980242391, 0.1572830807, 0.06390006297, 0.3553321821, 0.5867940187 },
      { -0.01658704243, 0.06634193082, -0.6461648209, -0.7854396532, 0.4825123161, 0.1793604152 },
      { 0.7687676232, 0.2251882046, -0.686897198, -0.3879755493, -0.4639058185, 0.3002671952 },
      { -0.0198241821, 0.2310728309, -0.07078555001, -0.8432749673, -0.001032725911, 0.5495070763 },
      { -0.3450327188, -0.1465910772, 0.3577099229, -0.7828632588, 0.4211715719, -0.6473084299 },
      { -0.2707509001, -0.5617409514, -0.3156431472, -1.035995429, -0.3215143169, 0.2123370256 },
      { -0.634548321, -0.03105838648, -0.455223277, -0.571313497, -0.1196211357, -0.5802668954 },
      { -0.106714142, 0.4746145372, -0.6199039995, -0.5862308253, 0.914788499, 0.3364827387 },
      { 0.07172143501, -0.4943613514, 0.2654998366, -0.4975819718, 0.7040183254, 0.2658396696 } },
    { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.3460990167, 0.6539009833 },
    { 0.009965057276, -0.1589997492, -0.04093756042, -0.5282632528, 0.7769656752, 0.2902891664 } },
  { { "descent", "beam", "branches", "2", NULL },
    11,
    { -0.9567270858, -1.046481426, -0.2641122299, -0.4404701796, -0.3555875569, -0.06048227096, -0.2174781823,
      -0.3725410971, -0.4112606462, 0.1238309005, -0.1854165128, 1.091961967, 0.3586504496, 0.9765867428, 0.456718736,
      -0.2770235009, -0.2807239844 },
    { { 0.4932107482, 0.3741343089, 0.01103155933, 0.399030426, -0.8579990672, -0.1151563577 },
      { 0.8091892817, 0.5921329432, -0.2204252417, -0.1173175729, -0.4972176651, -0.06058684747 },
      { 0.09489384379, -0.2503178218, 0.9518540458, -0.4995880358, 0.2340072494, -0.4378465601 },
      { 0.07428554478, -0.3743739528, -0.9139796488, 0.2825733972, 0.197803345, -0.6255451244 },
      { 0.4935841492, -0.957587298, -0.2671423117, 0.1328034992, 0.7040106545, 0.5060733052 },
      { -0.5422515993, -0.2993670311, 0.05185998415, -0.7384017365, 0.4583125979, -0.3967082362 },
      { -0.1985425171, -0.3987076216, 0.5794898247, 0.1874106911, 0.4044533352, -0.15642491 },
      { 0.1433156286, -0.7929617352, 0.6004173347, 0.558932764, 0.2530136895, 1.157235893 },
      { -0.5388478395, 0.1558989507, 0.1793960395, -0.7048669711, 0.1624254962, 0.5443699811 },
      { -0.5177781304, -0.3329020095, 0.7108918659, 0.6623847238, -0.3059786099, -0.5167620482 },
      { -0.8508381351, -0.3095436743, 0.8435735919, -0.8010303034, 0.5792820073, 0.9652785795 } },
    { 0.07599871947, 0.06947466478, 0.1519165485, 0, 0, 0, 0, 0, 0, 0.4051963167, 0.2974137506 },
    { -0.3547352676, -0.1954086666, 0.6690679474, -0.02356206422, -0.01589625865, -0.001780080664 } },

};

static PlaitMemory
memory_of (Bench *bench, const Case *the_case)
{
  PlaitNode *states = bench_leaf (bench, ROWS, WIDTH, NULL);

  for (gint64 row = 0; row < ROWS; row++)
    {
      plait_tensor_row (states->value, row)[0] = (PlaitScalar)the_case->scores[row];
      for (gint64 i = 1; i < WIDTH && row < LEAVES; i++)
        plait_tensor_row (states->value, row)[i] = (PlaitScalar)the_case->leaves[row][i - 1];
    }
  return (PlaitMemory){ .states = states, .rows = { 1, rows }, .links = &links };
}

static Found
descend (Bench *bench, const CrossAttentionFixture *fixture, const PlaitMemory *memory)
{
  static const double first[WIDTH] = { 1 };

  return run (bench, fixture, bench_leaf (bench, 1, WIDTH, first), one_query, memory);
}

TEST_CASE (descent, gupta_ahmed_soft_top1_and_two_branches)
{
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      CONTEXT ("case %u", c);
      g_auto (CrossAttentionFixture) fixture = { NULL };
      g_auto (Bench) bench = bench_new (1);
      PlaitMemory memory;
      Found found;

      fixture_build (&fixture, "descent", DOT_DECODER, WIDTH, cases[c].keys);
      bench_begin (&bench, PLAIT_TAPE_EVALUATE);
      memory = memory_of (&bench, &cases[c]);
      found = descend (&bench, &fixture, &memory);
      for (gint64 row = 0; row < ROWS; row++)
        CHECK_NEAR (found.weights[row], row < LEAVES ? cases[c].weights[row] : 0, 1e-6);
      for (gint64 i = 1; i < WIDTH; i++)
        CHECK_NEAR (found.context->value.data[i], cases[c].context[i - 1], 1e-6);
      CHECK_INT (found.rows_weighed, cases[c].rows_weighed);
    }
}

/* Returns the largest gradient of the rows above the leaves. Sets *@reached to the number of leaves that have a
 * weight. */
static double
train (const char *mode, const char *normalise, guint *reached)
{
  const char *const keys[] = { "descent", "top1", "train", mode, "normalise", normalise, NULL };
  g_auto (CrossAttentionFixture) fixture = { NULL };
  g_auto (Bench) bench = bench_new (1);
  PlaitMemory memory;
  double greatest = 0;
  Found found;

  fixture_build (&fixture, "descent", DOT_DECODER, WIDTH, keys);
  bench_begin (&bench, PLAIT_TAPE_TRAIN);
  memory = memory_of (&bench, &cases[1]);
  found = descend (&bench, &fixture, &memory);
  plait_tape_backward (bench.tape, plait_reduce_sum (bench.tape, found.context));
  *reached = 0;
  for (gint64 row = 0; row < LEAVES; row++)
    *reached += found.weights[row] > 0;
  for (gint64 row = LEAVES; row < ROWS; row++)
    greatest = fmax (greatest, fabs ((double)plait_tensor_row (memory.states->gradient, row)[0]));
  return greatest;
}

/* If weights are normalised to sum to one, the rows above the only set have no gradient. */
TEST_CASE (descent, trains_what_stands_above_the_leaves_unless_their_weights_are_normalised)
{
  guint reached;

  CHECK (train ("soft", "true", &reached) > 1e-3);
  CHECK_INT (reached, LEAVES);
  CHECK (train ("same", "false", &reached) > 1e-3);
  CHECK_INT (reached, 2);
  CHECK (train ("same", "true", &reached) < 1e-6);
  CHECK_INT (reached, 2);
}

/* If weights are not normalised, those of the leaves are the products along their paths. */
TEST_CASE (descent, products_along_paths_are_left_as_they_are)
{
  static const char *const soft[] = { "descent", "soft", NULL };
  static const char *const hard[] = { "descent", "beam", "branches", "2", "normalise", "false", NULL };
  g_auto (CrossAttentionFixture) whole = { NULL }, part = { NULL };
  g_auto (Bench) bench = bench_new (1);
  PlaitMemory memory;
  Found all, some;
  guint reached = 0;

  fixture_build (&whole, "descent", DOT_DECODER, WIDTH, soft);
  fixture_build (&part, "descent", DOT_DECODER, WIDTH, hard);
  bench_begin (&bench, PLAIT_TAPE_EVALUATE);
  memory = memory_of (&bench, &cases[2]);
  all = descend (&bench, &whole, &memory);
  some = descend (&bench, &part, &memory);
  for (gint64 row = 0; row < LEAVES; row++)
    if (some.weights[row] > 0)
      {
        CHECK_NEAR (some.weights[row], all.weights[row], 1e-6);
        reached++;
      }
  CHECK_INT (reached, 5);
}

typedef struct
{
  const CrossAttentionFixture *fixture;
  PlaitArena *arena;
} Build;

static PlaitNode *
build_loss (PlaitTape *tape, PlaitNode *const *leaves, gpointer data)
{
  const Build *build = data;
  PlaitMemory memory = { .states = leaves[1], .rows = { 1, rows }, .links = &links };
  PlaitCrossAttentionPass pass = plait_cross_pass (tape, &memory, 1, one_query, NULL);
  PlaitCrossAttentionStep step = { .keys = plait_cross_project (&build->fixture->cross, tape, &memory) };
  PlaitNode *context = plait_cross_combine (&build->fixture->cross, &pass, &step, leaves[0]).context;

  return plait_reduce_sum (tape, plait_multiply (tape, context, context));
}

/* Gradients equal finite differences, for descents into all branches with both score functions, and into the branches
 * that decoding selects. Selecting has no gradient; the weights have. */
TEST_CASE (descent, has_the_gradients_of_finite_differences)
{
  static const struct
  {
    guint decoder;
    const char *keys[9];
  } ways[] = {
    { DOT_DECODER, { "descent", "beam", "branches", "2", "train", "same", "normalise", "true", NULL } },
    { DOT_DECODER, { "descent", "beam", "branches", "2", "train", "same", "normalise", "false", NULL } },
    { DOT_DECODER, { "descent", "soft", NULL } },
    { ADDITIVE_DECODER, { "descent", "soft", NULL } },
  };

  for (guint w = 0; w < G_N_ELEMENTS (ways); w++)
    {
      CONTEXT ("way %u", w);
      g_auto (CrossAttentionFixture) fixture = { NULL };
      g_auto (Bench) bench = bench_new (1);
      g_autoptr (PlaitPool) pool = plait_pool_new (1, NULL);
      Build build = { &fixture, NULL };
      PlaitCheckLeaf leaves[2];
      PlaitGradientCheck check = { .build = build_loss,
                                   .data = &build,
                                   .leaves = leaves,
                                   .n_leaves = 2,
                                   .mode = PLAIT_TAPE_CHECK,
                                   .key = plait_random_key (3, "sample", NULL, 0) };

      fixture_build (&fixture, "descent", ways[w].decoder, WIDTH, ways[w].keys);
      leaves[0] = (PlaitCheckLeaf){ .name = "query", .value = bench_random (&bench, 1, WIDTH, 1)->value };
      leaves[1] = (PlaitCheckLeaf){ .name = "rows", .value = memory_of (&bench, &cases[2]).states->value };
      CHECK (plait_check_gradients (&check, pool, NO_ERROR));
    }
}

/*
 * Tests of rows that two parents share, with equal scores
 */

/* Leaves 0 to 3. Above them row 4 (over leaf 0), row 5 (over leaves 1 and 2) and row 6 (over leaf 3). Above these row 7
 * (over 4 and 5) and row 8 (over 5 and 6). */
TEST_CASE (descent, rows_of_two_parents_have_the_sum_of_both_and_ties_go_to_the_lower)
{
  static const gint64 shared_parent[] = { 4, 5, 5, 6, 7, 7, 8, -1, -1 }, below[] = { -1, -1, -1, -1, 0, 1, 3, 4, 5 };
  static const gint64 children[] = { 0, 0, 0, 0, 1, 2, 1, 2, 2 }, of_level[] = { 0, 0, 0, 0, 1, 1, 1, 2, 2 };
  static const gint64 all[] = { 0, 9 };
  static const PlaitLinks shared
      = { .parent = shared_parent, .first_child = below, .n_children = children, .level = of_level };
  static const struct
  {
    const char *keys[5];
    double weights[4];
    gint64 rows_weighed;
  } ways[] = {
    { { "descent", "soft", NULL }, { .25, .25, .25, .25 }, 2 + 4 + 4 },
    { { "descent", "top1", NULL }, { 1, 0, 0, 0 }, 2 + 2 + 1 },
    { { "descent", "beam", "branches", "2", NULL }, { 1 / 3., 1 / 3., 1 / 3., 0 }, 2 + 4 + 3 },
  };

  for (guint w = 0; w < G_N_ELEMENTS (ways); w++)
    {
      CONTEXT ("way %u", w);
      g_auto (CrossAttentionFixture) fixture = { NULL };
      g_auto (Bench) bench = bench_new (1);
      PlaitMemory memory = { .rows = { 1, all }, .links = &shared };
      Found found;

      fixture_build (&fixture, "descent", DOT_DECODER, WIDTH, ways[w].keys);
      bench_begin (&bench, PLAIT_TAPE_EVALUATE);
      memory.states = bench_random (&bench, 9, WIDTH, 1);
      found = run (&bench, &fixture, bench_leaf (&bench, 1, WIDTH, NULL), one_query, &memory);
      for (gint64 row = 0; row < 9; row++)
        CHECK_NEAR (found.weights[row], row < 4 ? ways[w].weights[row] : 0, 1e-6);
      CHECK_INT (found.rows_weighed, ways[w].rows_weighed);
    }
}

/*
 * Tests of batches of pyramids in every decoder
 */

typedef struct
{
  gint64 *offsets;
  PlaitLinks links;
} Pyramid;

/* Builds pyramids over sentences of @lengths [n] leaves, in blocks of three, up to a single top row. If @flat, they
 * have only leaves. */
static Pyramid
pyramid_new (PlaitArena *arena, const gint64 *lengths, gint64 n, gboolean flat)
{
  enum
  {
    MOST = 4096
  };
  gint64 *arrays = plait_arena_new_array (arena, gint64, 4 * MOST);
  gint64 *up = arrays, *down = arrays + MOST, *number = arrays + 2 * MOST, *of_level = arrays + 3 * MOST;
  Pyramid pyramid = { plait_arena_new_array (arena, gint64, n + 1),
                      { .parent = up, .first_child = down, .n_children = number, .level = of_level } };
  gint64 row = 0;

  for (gint64 s = 0; s < n; s++)
    {
      pyramid.offsets[s] = row;
      for (gint64 l = 0, length = lengths[s], begin = row; length > 0; l++)
        {
          gint64 above = flat || length == 1 ? 0 : (length + 2) / 3;

          for (gint64 i = 0; i < length; i++, row++)
            {
              gint64 below = l > 0 ? begin - (row - i) : 0;

              g_assert (row < MOST);
              of_level[row] = l;
              up[row] = above > 0 ? row - i + length + i / 3 : -1;
              down[row] = l > 0 ? row - i + below + 3 * i : -1;
              number[row] = l > 0 ? MIN (3, -below - 3 * i) : 0;
            }
          begin = row - length;
          length = above;
        }
    }
  pyramid.offsets[n] = row;
  return pyramid;
}

static const gint64 lengths[] = { 14, 0, 1, 27 }, query_offsets[] = { 0, 2, 3, 5, 6 };
#define SENTENCES 4
#define QUERIES 6

/* Runs @combiner with the keys @keys on the batch. */
static Found
find (Bench *bench, CrossAttentionFixture *fixture, const char *combiner, guint decoder, const char *const *keys,
      const Pyramid *pyramid)
{
  PlaitMemory memory = { .rows = { SENTENCES, pyramid->offsets }, .links = &pyramid->links };

  fixture_build (fixture, combiner, decoder, 8, keys);
  memory.states = bench_random (bench, pyramid->offsets[SENTENCES], 8, 1);
  return run (bench, fixture, bench_random (bench, QUERIES, 8, 2), (PlaitRagged){ SENTENCES, query_offsets }, &memory);
}

static void
check_same (const Found *a, const Found *b, const Pyramid *pyramid, guint heads)
{
  gint64 pairs = 0;

  for (gint64 s = 0; s < SENTENCES; s++)
    pairs += (query_offsets[s + 1] - query_offsets[s]) * (pyramid->offsets[s + 1] - pyramid->offsets[s]);
  for (gint64 i = 0; i < QUERIES * 8; i++)
    CHECK_NEAR (a->context->value.data[i], b->context->value.data[i],
                1e-6 * fmax (1, fabs ((double)b->context->value.data[i])));
  for (gint64 i = 0; i < pairs * heads; i++)
    CHECK_NEAR (a->weights[i], b->weights[i], 1e-6);
}

static const char *const soft[] = { "descent", "soft", NULL };
static const char *const top1[] = { "descent", "top1", NULL };
static const char *const many[] = { "descent", "beam", "branches", "4096", NULL };

/* Descent over a memory that has only leaves is plain attention. */
TEST_CASE (descent, over_leaves_alone_is_plain_attention)
{
  static const char *const nothing[] = { NULL };
  static const char *const *const ways[] = { soft, top1, many };

  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    for (guint w = 0; w < G_N_ELEMENTS (ways); w++)
      {
        CONTEXT ("decoder %u, way %u", d, w);
        g_auto (CrossAttentionFixture) plain = { NULL }, fixture = { NULL };
        g_auto (Bench) bench = bench_new (1);
        Pyramid flat;
        Found expected, found;

        bench_begin (&bench, PLAIT_TAPE_EVALUATE);
        flat = pyramid_new (bench.arena, lengths, SENTENCES, TRUE);
        expected = find (&bench, &plain, "serial", d, nothing, &flat);
        found = find (&bench, &fixture, "descent", d, ways[w], &flat);
        check_same (&found, &expected, &flat, d < 2 ? 2 : 1);
        CHECK (expected.rows_weighed == 0 && found.rows_weighed > 0);
        CHECK_INT (found.rows_weighed, expected.all);
        CHECK_INT (found.all, expected.all);
      }
}

TEST_CASE (descent, with_as_many_branches_as_rows_is_soft)
{
  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    {
      CONTEXT ("decoder %u", d);
      g_auto (CrossAttentionFixture) whole = { NULL }, fixture = { NULL };
      g_auto (Bench) bench = bench_new (1);
      Pyramid pyramid;
      Found expected, found;

      bench_begin (&bench, PLAIT_TAPE_EVALUATE);
      pyramid = pyramid_new (bench.arena, lengths, SENTENCES, FALSE);
      expected = find (&bench, &whole, "descent", d, soft, &pyramid);
      found = find (&bench, &fixture, "descent", d, many, &pyramid);
      check_same (&found, &expected, &pyramid, d < 2 ? 2 : 1);
    }
}

/* If no record is asked for, all rows are scored at once, by matrix products if there are enough queries. The results
 * equal those of a descent row by row; with leaves only, those of plain attention. */
TEST_CASE (descent, soft_at_once_is_soft_one_by_one)
{
  static const char *const nothing[] = { NULL };
  static const gint64 many_queries[] = { 0, 19, 24, 30, 40 };

  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    for (guint way = 0; way < 4; way++)
      {
        gboolean flat = way % 2;
        PlaitRagged queries = { SENTENCES, way < 2 ? many_queries : query_offsets };
        gint64 n = plait_ragged_rows (queries);
        CONTEXT ("decoder %u, %s, %d queries", d, flat ? "leaves alone" : "a pyramid", (gint)n);
        g_auto (CrossAttentionFixture) fixture = { NULL }, plain = { NULL };
        g_auto (Bench) bench = bench_new (1);
        Pyramid pyramid;
        PlaitMemory memory;
        PlaitNode *query;
        Found expected, found;

        bench_begin (&bench, PLAIT_TAPE_EVALUATE);
        pyramid = pyramid_new (bench.arena, lengths, SENTENCES, flat);
        memory = (PlaitMemory){ .rows = { SENTENCES, pyramid.offsets }, .links = &pyramid.links };
        memory.states = bench_random (&bench, pyramid.offsets[SENTENCES], 8, 1);
        query = bench_random (&bench, n, 8, 2);
        fixture_build (&fixture, "descent", d, 8, soft);
        fixture_build (&plain, flat ? "serial" : "descent", d, 8, flat ? nothing : soft);
        expected = run (&bench, &plain, query, queries, &memory);
        found = run_with (&bench, &fixture, query, queries, &memory, NULL);
        for (gint64 i = 0; i < n * 8; i++)
          CHECK_NEAR (found.context->value.data[i], expected.context->value.data[i],
                      1e-6 * fmax (1, fabs ((double)expected.context->value.data[i])));
        CHECK_INT (found.all, expected.all);
      }
}

/* The weights of each head over the leaves sum to one. A sentence without rows has a context of zeros. */
TEST_CASE (descent, weights_of_leaves_sum_to_one)
{
  static const char *const beam[] = { "descent", "beam", "branches", "2", NULL };
  static const char *const *const ways[] = { soft, top1, beam };

  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    for (guint w = 0; w < G_N_ELEMENTS (ways); w++)
      {
        CONTEXT ("decoder %u, way %u", d, w);
        g_auto (CrossAttentionFixture) fixture = { NULL };
        g_auto (Bench) bench = bench_new (1);
        const PlaitScalar *weight;
        Pyramid pyramid;
        Found found;

        bench_begin (&bench, PLAIT_TAPE_EVALUATE);
        pyramid = pyramid_new (bench.arena, lengths, SENTENCES, FALSE);
        found = find (&bench, &fixture, "descent", d, ways[w], &pyramid);
        weight = found.weights;
        for (guint h = 0; h < (d < 2 ? 2 : 1); h++)
          for (gint64 s = 0; s < SENTENCES; s++)
            for (gint64 q = query_offsets[s]; q < query_offsets[s + 1]; q++)
              {
                double sum = 0;

                for (gint64 row = pyramid.offsets[s]; row < pyramid.offsets[s + 1]; row++, weight++)
                  {
                    CHECK (pyramid.links.level[row] == 0 || *weight == 0);
                    sum += (double)*weight;
                  }
                CHECK_NEAR (sum, lengths[s] > 0, 1e-6);
              }
        for (gint64 i = 0; i < 8 && d >= 2; i++)
          CHECK (found.context->value.data[query_offsets[1] * 8 + i] == 0);
      }
}

/* 729 leaves in blocks of 3: one block in each of six levels below the single top row, which needs no score. A beam of
 * two reads two blocks in each of these levels except the first. */
TEST_CASE (descent, costs_a_block_a_level)
{
  static const char *const beam[] = { "descent", "beam", "branches", "2", NULL };
  static const gint64 leaves[] = { 729 };

  for (guint d = 0; d < PLAIT_FIXTURE_DECODERS; d++)
    {
      CONTEXT ("decoder %u", d);
      g_auto (CrossAttentionFixture) narrow = { NULL }, wide = { NULL };
      g_auto (Bench) bench = bench_new (1);
      guint heads = d < 2 ? 2 : 1;
      PlaitMemory memory;
      PlaitNode *query;
      Pyramid pyramid;

      fixture_build (&narrow, "descent", d, 8, top1);
      fixture_build (&wide, "descent", d, 8, beam);
      bench_begin (&bench, PLAIT_TAPE_EVALUATE);
      pyramid = pyramid_new (bench.arena, leaves, 1, FALSE);
      memory = (PlaitMemory){ .states = bench_random (&bench, pyramid.offsets[1], 8, 1),
                              .rows = { 1, pyramid.offsets },
                              .links = &pyramid.links };
      query = bench_random (&bench, 1, 8, 2);
      CHECK_INT (run (&bench, &narrow, query, one_query, &memory).rows_weighed, 6 * 3 * heads);
      CHECK_INT (run (&bench, &wide, query, one_query, &memory).rows_weighed, (3 + 5 * 2 * 3) * heads);
    }
}
