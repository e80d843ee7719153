/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/wanted.h"

#include <math.h>
#include <string.h>

#include "text/token.h"

#define PATIENCE 50   /* frames, before the user is told that something does not come */
#define MOST_LISTED 8 /* in a message */

/* What does not come, as bits. */
enum
{
  TYPES = 1 << 0,
  IDENTITIES = 1 << 1,
  CONFIDENCE = 1 << 2,
  SHARED = 1 << 3
};

#define N_KINDS GST_CUDA_CONVOLVE_WANTED_PART /* that are counted */

struct _GstCudaConvolveWanted
{
  gchar **types;
  GArray *identities; /* ConvolveRegionIdentity */
  gdouble least;      /* confidence */
  gboolean unknown;   /* whether a region counts of which too little is known */

  /* Of the frame. */
  GArray *shared;                  /* guint64, ids of identities that two regions have */
  GArray *counts;                  /* guint, N_KINDS for each of identities: regions with its id */
  gboolean has_region, has_unsure; /* any, and one of too little confidence */

  /* Since the settings or the caps changed. */
  guint n_type, n_identity, n_unsure; /* frames with regions, while something was missing */
  GHashTable *missing;                /* wanted types that never came, in lower case; owned */
  GHashTable *unheard;                /* indices of identities of which no region told; see notice_identity() */
  GPtrArray *types_came;              /* some types that came, interned */
  GPtrArray *identities_came;         /* some ids and names that came, as text; owned */
  gdouble largest;    /* confidence of the regions that have too little, or infinity where one has enough */
  guint64 was_shared; /* an id that two regions of a frame had, or GST_CUDA_CONVOLVE_NO_ID */
  guint told;         /* as bits, since the caps changed */
};

GstCudaConvolveWanted *
gst_cuda_convolve_wanted_new (void)
{
  GstCudaConvolveWanted *wanted = g_new0 (GstCudaConvolveWanted, 1);

  wanted->types = g_new0 (gchar *, 1);
  wanted->identities = convolve_region_identities_new ();
  wanted->shared = g_array_new (FALSE, FALSE, sizeof (guint64));
  wanted->counts = g_array_new (FALSE, TRUE, sizeof (guint));
  wanted->was_shared = GST_CUDA_CONVOLVE_NO_ID;
  wanted->missing = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  wanted->unheard = g_hash_table_new (NULL, NULL);
  wanted->types_came = g_ptr_array_new ();
  wanted->identities_came = g_ptr_array_new_with_free_func (g_free);
  return wanted;
}

void
gst_cuda_convolve_wanted_free (GstCudaConvolveWanted *wanted)
{
  g_strfreev (wanted->types);
  g_array_unref (wanted->identities);
  g_array_unref (wanted->shared);
  g_array_unref (wanted->counts);
  g_hash_table_unref (wanted->missing);
  g_hash_table_unref (wanted->unheard);
  g_ptr_array_unref (wanted->types_came);
  g_ptr_array_unref (wanted->identities_came);
  g_free (wanted);
}

static const ConvolveRegionIdentity *
get_identity (const GstCudaConvolveWanted *wanted, guint index)
{
  return &g_array_index (wanted->identities, ConvolveRegionIdentity, index);
}

/* Begins to wait for all types that are wanted by name. */
static void
wait_for_types (GstCudaConvolveWanted *wanted)
{
  wanted->n_type = 0;
  g_ptr_array_set_size (wanted->types_came, 0);
  g_hash_table_remove_all (wanted->missing);
  for (guint i = 0; wanted->types[i]; i++)
    if (wanted->types[i][0] != '!')
      g_hash_table_add (wanted->missing, g_strdup (wanted->types[i]));
}

static void
wait_for_identities (GstCudaConvolveWanted *wanted)
{
  wanted->n_identity = 0;
  wanted->was_shared = GST_CUDA_CONVOLVE_NO_ID;
  g_ptr_array_set_size (wanted->identities_came, 0);
  g_hash_table_remove_all (wanted->unheard);
  for (guint i = 0; i < wanted->identities->len; i++)
    g_hash_table_add (wanted->unheard, GUINT_TO_POINTER (i));
}

static void
wait_for_confidence (GstCudaConvolveWanted *wanted)
{
  wanted->n_unsure = 0;
  wanted->largest = 0;
}

gboolean
gst_cuda_convolve_wanted_set (GstCudaConvolveWanted *wanted, const ConvolveRegionSettings *settings, gboolean *other,
    GError **error)
{
  g_autoptr (GArray) identities = NULL;
  g_auto (GStrv) types = NULL;

  if (!convolve_region_settings_types (settings, &types, error)
      || !convolve_region_settings_identities (settings, &identities, error))
    return FALSE;
  *other = FALSE;
  if (!g_strv_equal ((const gchar *const *) wanted->types, (const gchar *const *) types)) {
    g_strfreev (wanted->types);
    wanted->types = g_steal_pointer (&types);
    wait_for_types (wanted);
    *other = TRUE;
  }
  if (!convolve_region_identities_are_equal (wanted->identities, identities)) {
    g_array_unref (wanted->identities);
    wanted->identities = g_steal_pointer (&identities);
    wait_for_identities (wanted);
    *other = TRUE;
  }
  if (wanted->unknown != convolve_region_settings_take_unknown (settings)) {
    wanted->unknown = !wanted->unknown;
    *other = TRUE;
  }
  if (wanted->least != settings->min_confidence) {
    wanted->least = settings->min_confidence;
    wait_for_confidence (wanted);
    *other = TRUE;
  }
  return TRUE;
}

gboolean
gst_cuda_convolve_wanted_needs_names (const GstCudaConvolveWanted *wanted)
{
  for (guint i = 0; i < wanted->identities->len; i++)
    if (get_identity (wanted, i)->name)
      return TRUE;
  return FALSE;
}

/* --- a region --- */

static void
notice_type (GstCudaConvolveWanted *wanted, const gchar *type)
{
  g_autofree gchar *lower = NULL;

  if (g_hash_table_size (wanted->missing) == 0 || !type || g_ptr_array_find (wanted->types_came, (gpointer) type, NULL))
    return;
  lower = convolve_region_settings_fold (type);
  g_hash_table_remove (wanted->missing, lower);
  if (wanted->types_came->len <= MOST_LISTED)
    g_ptr_array_add (wanted->types_came, (gpointer) type);
}

static void
add_identity_that_came (GstCudaConvolveWanted *wanted, gchar *text)
{
  if (wanted->identities_came->len <= MOST_LISTED
      && !g_ptr_array_find_with_equal_func (wanted->identities_came, text, g_str_equal, NULL))
    g_ptr_array_add (wanted->identities_came, text);
  else
    g_free (text);
}

/*
 * Notes what a region tells of who it is. An identity that is wanted is heard of when it comes, and one that is
 * left out when any region tells its id, or its name.
 */
static void
notice_identity (GstCudaConvolveWanted *wanted, const GstCudaConvolveObject *region)
{
  if (g_hash_table_size (wanted->unheard) == 0)
    return;
  for (guint i = 0; i < wanted->identities->len; i++) {
    const ConvolveRegionIdentity *identity = get_identity (wanted, i);
    ConvolveRegionMatch match = convolve_region_identity_match (identity, region->id, region->names);

    if (match == CONVOLVE_REGION_MATCH_YES || (match == CONVOLVE_REGION_MATCH_NO && identity->except))
      g_hash_table_remove (wanted->unheard, GUINT_TO_POINTER (i));
  }
  if (region->id != GST_CUDA_CONVOLVE_NO_ID)
    add_identity_that_came (wanted, g_strdup_printf ("%" G_GUINT64_FORMAT, region->id));
  for (guint i = 0; region->names[i]; i++)
    add_identity_that_came (wanted, convolve_token_quote (region->names[i], strlen (region->names[i])));
}

/* Whether the detector is sure enough of a region. */
static gboolean
is_sure (GstCudaConvolveWanted *wanted, gdouble confidence)
{
  gboolean sure = isnan (confidence) ? wanted->unknown || wanted->least == 0 : confidence >= wanted->least;

  wanted->has_unsure |= !sure;
  wanted->largest = MAX (wanted->largest, sure ? INFINITY : isnan (confidence) ? 0 : confidence);
  return sure;
}

static void
reset_counts (GstCudaConvolveWanted *wanted)
{
  g_array_set_size (wanted->counts, 0);
  g_array_set_size (wanted->counts, N_KINDS * wanted->identities->len);
}

void
gst_cuda_convolve_wanted_begin (GstCudaConvolveWanted *wanted)
{
  wanted->has_region = wanted->has_unsure = FALSE;
  g_array_set_size (wanted->shared, 0);
  reset_counts (wanted);
}

static guint *
get_count (GstCudaConvolveWanted *wanted, guint identity, GstCudaConvolveWantedKind kind)
{
  return &g_array_index (wanted->counts, guint, N_KINDS * identity + kind);
}

static void
count_id (GstCudaConvolveWanted *wanted, guint64 id, GstCudaConvolveWantedKind kind)
{
  for (guint i = 0; i < wanted->identities->len && kind < N_KINDS; i++)
    if (!get_identity (wanted, i)->name && get_identity (wanted, i)->id == id)
      ++*get_count (wanted, i, kind);
}

static gboolean
is_shared (const GstCudaConvolveWanted *wanted, guint64 id)
{
  for (guint i = 0; i < wanted->shared->len; i++)
    if (g_array_index (wanted->shared, guint64, i) == id)
      return TRUE;
  return FALSE;
}

gboolean
gst_cuda_convolve_wanted_takes (GstCudaConvolveWanted *wanted, const GstCudaConvolveObject *region,
    GstCudaConvolveWantedKind kind)
{
  guint64 id = is_shared (wanted, region->id) ? GST_CUDA_CONVOLVE_NO_ID : region->id;

  wanted->has_region = TRUE;
  notice_type (wanted, region->type);
  notice_identity (wanted, region);
  if (!convolve_region_type_is_wanted (wanted->types, region->type, wanted->unknown))
    return FALSE;
  count_id (wanted, region->id, kind);
  return convolve_region_identity_is_wanted (wanted->identities, id, region->names, wanted->unknown)
      && is_sure (wanted, region->confidence);
}

gboolean
gst_cuda_convolve_wanted_doubts (GstCudaConvolveWanted *wanted)
{
  guint n_before = wanted->shared->len;

  for (guint i = 0; i < wanted->identities->len; i++)
    for (guint kind = 0; kind < N_KINDS; kind++) {
      guint64 id = get_identity (wanted, i)->id;

      if (*get_count (wanted, i, kind) > 1 && !is_shared (wanted, id))
        g_array_append_val (wanted->shared, id);
    }
  if (wanted->shared->len > 0)
    wanted->was_shared = g_array_index (wanted->shared, guint64, 0);
  reset_counts (wanted);
  return wanted->shared->len > n_before;
}

/* --- what does not come --- */

void
gst_cuda_convolve_wanted_count (GstCudaConvolveWanted *wanted)
{
  if (wanted->has_region && g_hash_table_size (wanted->missing) > 0)
    wanted->n_type++;
  if (wanted->has_region && g_hash_table_size (wanted->unheard) > 0)
    wanted->n_identity++;
  if (wanted->has_unsure && wanted->largest < INFINITY)
    wanted->n_unsure++;
}

/* Adds to a list in a message, which has at most MOST_LISTED parts. */
static void
list (GString *list, guint n, const gchar *part)
{
  if (n < MOST_LISTED)
    g_string_append_printf (list, "%s%s", n > 0 ? ", " : "", part);
  else if (n == MOST_LISTED)
    g_string_append (list, " and others");
}

static void
list_quoted (GString *into, guint n, const gchar *name)
{
  g_autofree gchar *quoted = convolve_token_quote (name, strlen (name));

  list (into, n, quoted);
}

static gchar *
complain_of_types (const GstCudaConvolveWanted *wanted)
{
  g_autoptr (GString) missing = g_string_new (NULL), came = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; wanted->types[i]; i++)
    if (g_hash_table_contains (wanted->missing, wanted->types[i]))
      list_quoted (missing, n++, wanted->types[i]);
  for (guint i = 0; i < wanted->types_came->len; i++)
    list_quoted (came, i, g_ptr_array_index (wanted->types_came, i));
  return g_strdup_printf (
      "region-types: no region of the types %s came in %u frames with regions; %s%s. Write the types "
      "as the detector does, split by commas",
      missing->str, wanted->n_type, came->len > 0 ? "types that came: " : "those had no type, and are covered",
      came->str);
}

/* An identity as the user writes it, to be freed. */
static gchar *
show_identity (const ConvolveRegionIdentity *identity)
{
  g_autofree gchar *name = identity->name ? convolve_token_quote (identity->name, strlen (identity->name)) : NULL;

  return name ? g_strdup_printf ("%s%s", identity->except ? "!" : "", name)
              : g_strdup_printf ("%s%" G_GUINT64_FORMAT, identity->except ? "!" : "", identity->id);
}

static gchar *
complain_of_identities (const GstCudaConvolveWanted *wanted)
{
  g_autoptr (GString) unheard = g_string_new (NULL), came = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; i < wanted->identities->len; i++)
    if (g_hash_table_contains (wanted->unheard, GUINT_TO_POINTER (i))) {
      g_autofree gchar *shown = show_identity (get_identity (wanted, i));

      list (unheard, n++, shown);
    }
  for (guint i = 0; i < wanted->identities_came->len; i++)
    list (came, i, g_ptr_array_index (wanted->identities_came, i));
  return g_strdup_printf (
      "region-ids: no region of %u frame%s says anything of %s; %s%s. Trackers write ids, classifiers "
      "write names, and a region without an id or a name is covered",
      wanted->n_identity, wanted->n_identity == 1 ? "" : "s", unheard->str,
      came->len > 0 ? "ids and names that came: " : "none has an id or a name", came->str);
}

static gchar *
complain_of_shared (const GstCudaConvolveWanted *wanted)
{
  return g_strdup_printf (
      "region-ids: two regions of a frame have the id %" G_GUINT64_FORMAT
      ", so nobody knows which is meant, and both are covered; a tracker that numbers each region, or "
      "region-types, tells them apart",
      wanted->was_shared);
}

static gchar *
complain_of_confidence (const GstCudaConvolveWanted *wanted)
{
  gchar least[G_ASCII_DTOSTR_BUF_SIZE], largest[G_ASCII_DTOSTR_BUF_SIZE];

  return g_strdup_printf (
      "region-min-confidence: the regions of %u frame%s are all below %s, so none of them counts; the "
      "largest confidence was %s",
      wanted->n_unsure, wanted->n_unsure == 1 ? "" : "s", g_ascii_formatd (least, sizeof least, "%g", wanted->least),
      g_ascii_formatd (largest, sizeof largest, "%.2g", wanted->largest));
}

/* Whether a fault is to be told now, and was not told before. */
static gboolean
is_due (GstCudaConvolveWanted *wanted, guint fault, gboolean missing, guint n_frames, gboolean at_end)
{
  if (!missing || (wanted->told & fault) || n_frames < (at_end ? 1 : PATIENCE))
    return FALSE;
  wanted->told |= fault;
  return TRUE;
}

gchar *
gst_cuda_convolve_wanted_complain (GstCudaConvolveWanted *wanted, gboolean at_end)
{
  if (is_due (wanted, TYPES, g_hash_table_size (wanted->missing) > 0, wanted->n_type, at_end))
    return complain_of_types (wanted);
  if (is_due (wanted, IDENTITIES, g_hash_table_size (wanted->unheard) > 0, wanted->n_identity, at_end))
    return complain_of_identities (wanted);
  if (is_due (wanted, SHARED, wanted->was_shared != GST_CUDA_CONVOLVE_NO_ID, PATIENCE, at_end))
    return complain_of_shared (wanted);
  if (is_due (wanted, CONFIDENCE, wanted->largest < INFINITY, wanted->n_unsure, at_end))
    return complain_of_confidence (wanted);
  return NULL;
}

void
gst_cuda_convolve_wanted_forget (GstCudaConvolveWanted *wanted)
{
  wanted->told = 0;
  wait_for_types (wanted);
  wait_for_identities (wanted);
  wait_for_confidence (wanted);
}
