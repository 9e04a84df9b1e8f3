/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A viewer's own files: a build of the Perfetto UI in a directory, or what is laid out like one.
 *
 *   index.html              the entry point; its data-perfetto_version='{"stable": "V", …}' names the revision
 *   V/manifest.json         the revision's manifest: "resources" are the files that belong to it
 *   manifest.json           instead, where the entry point names no revision
 *
 * What is there is listed once (R51): only what was listed is served, and only while it is what it was. Nothing whose name
 * begins with a dot, no symbolic link, and no name that an address would have to quote is listed. Nothing is printed.
 */
#ifndef GPUBPF_SERVE_UI_H
#define GPUBPF_SERVE_UI_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct err;
struct serve_ui; /* opaque */

#define SERVE_UI_ENTRY "index.html"

struct serve_ui_about {
	const char *revision; /* "": neither the entry point nor the manifest says */
	const char *manifest; /* its path in the directory */
	uint32_t manifest_crc;
	size_t files;
	uint64_t bytes;
	size_t left_out; /* links, hidden ones, odd names, what is no file */
	size_t missing;  /* of those that the manifest lists, and … */
	const char *first_missing;
};

/* 0 or a negative errno with a message: no directory, no entry point, no manifest, or more than a viewer has. */
int serve_ui__open(const char *path, struct serve_ui **out, struct err *err);
/* Texts are the ui's. */
void serve_ui__about(const struct serve_ui *ui, struct serve_ui_about *a);
void serve_ui__close(struct serve_ui *ui); /* NULL is fine */

struct serve_file {
	char *name; /* in the directory */
	uint64_t dev, ino, size;
	struct timespec written, changed;
	uint32_t crc; /* CRC-32C of its content */
};

/* The one of that name; "" is the entry point. NULL: not listed. */
const struct serve_file *serve_ui__find(const struct serve_ui *ui, const char *name);
/* Open for reading, the caller's to close; -ESTALE: gone, or not what was listed. Its content is for the CRC to tell. */
int serve_ui__take(const struct serve_ui *ui, const struct serve_file *f);
/* What browsers call a file of this name. */
const char *serve_ui_type(const char *name);

#endif
