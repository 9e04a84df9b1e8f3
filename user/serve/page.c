/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page that hands the trace over. A window of the viewer is opened on a click (browsers block others); it is asked PING
 * until it says PONG, then it gets {perfetto: {buffer, title, fileName}}: the protocol of
 * https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui.
 */
#ifdef HAVE_EVENT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/priv.h"

static const char style[] =
	":root { color-scheme: light dark }\n"
	"body { font: 16px/1.5 system-ui, sans-serif; max-width: 44em; margin: 4em auto; padding: 0 1em }\n"
	"h1 { font-size: 1.3em; overflow-wrap: anywhere }\n"
	"button { font: inherit; padding: .6em 1.4em }\n"
	"small { opacity: .75 }\n";

static const char script[] =
	"'use strict';\n"
	"const data = document.body.dataset;\n"
	"const viewer = new URL(data.viewer, location.href);\n"
	"const state = document.getElementById('state');\n"
	"const button = document.getElementById('open');\n"
	"const say = text => { state.textContent = text; };\n"
	"const mib = n => (n / 1048576).toFixed(1) + ' MiB';\n"
	"let buffer = null, loading = null, shown = null, asking = 0;\n"
	"\n"
	"async function read() {\n"
	"  let answer;\n"
	"  try {\n"
	"    answer = await fetch('trace');\n"
	"  } catch (e) {\n"
	"    throw new Error('gpubpf serves the trace no more: start it again');\n"
	"  }\n"
	"  if (!answer.ok)\n"
	"    throw new Error(await answer.text());\n"
	"  const size = Number(answer.headers.get('Content-Length'));\n"
	"  const bytes = new Uint8Array(size);\n"
	"  const reader = answer.body.getReader();\n"
	"  let n = 0;\n"
	"  for (;;) {\n"
	"    const part = await reader.read();\n"
	"    if (part.done)\n"
	"      break;\n"
	"    bytes.set(part.value, n);\n"
	"    n += part.value.length;\n"
	"    say(mib(n) + ' of ' + mib(size));\n"
	"  }\n"
	"  if (n !== size)\n"
	"    throw new Error('the trace broke off: reload this page');\n"
	"  say('The trace is here: ' + mib(size) + '.');\n"
	"  return bytes.buffer;\n"
	"}\n"
	"\n"
	"function load() {\n"
	"  if (!loading)\n"
	"    loading = read().then(b => { buffer = b; hand_over(); }, e => { loading = null; say(e.message); });\n"
	"}\n"
	"\n"
	"function hand_over() {\n"
	"  if (!buffer || !shown || asking)\n"
	"    return;\n"
	"  asking = setInterval(() => {\n"
	"    if (shown.closed) {\n"
	"      clearInterval(asking);\n"
	"      asking = 0;\n"
	"      shown = null;\n"
	"      say('The viewer was closed.');\n"
	"    } else {\n"
	"      shown.postMessage('PING', viewer.origin);\n"
	"    }\n"
	"  }, 50);\n"
	"  say('Waiting for the viewer.');\n"
	"}\n"
	"\n"
	"button.addEventListener('click', () => {\n"
	"  shown = window.open(viewer.href);\n"
	"  if (!shown) {\n"
	"    say('The browser opened no window: let this page open one.');\n"
	"    return;\n"
	"  }\n"
	"  load();\n"
	"  hand_over();\n"
	"});\n"
	"\n"
	"window.addEventListener('message', e => {\n"
	"  if (!asking || e.source !== shown || e.origin !== viewer.origin || e.data !== 'PONG')\n"
	"    return;\n"
	"  clearInterval(asking);\n"
	"  asking = 0;\n"
	"  const trace = buffer;\n"
	"  buffer = loading = null;\n"
	"  shown.postMessage({perfetto: {buffer: trace, title: data.title, fileName: data.file}}, viewer.origin, [trace]);\n"
	"  shown = null;\n"
	"  say('The viewer has the trace.');\n"
	"});\n"
	"load();\n";

static void put_html(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (strchr("<>&\"'", *s))
			fprintf(f, "&#%d;", *s);
		else
			putc(*s, f);
	}
}

static void put_viewer(FILE *f, const struct serve_ui *ui)
{
	struct serve_ui_about a;

	if (!ui) {
		fputs("The viewer comes from " SERVE_VIEWER
		      " and runs in this browser; the trace is uploaded nowhere.\n",
		      f);
		return;
	}
	serve_ui__about(ui, &a);
	fputs("The viewer is the one in the directory that gpubpf was given: ", f);
	put_html(f, a.revision[0] ? a.revision : "of no revision that it names");
	fprintf(f, ", manifest <code>%08x</code>. It reaches no other server.\n", a.manifest_crc);
}

static void put_page(FILE *f, const struct serve *s)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>", f);
	put_html(f, s->o.title);
	fputs("</title>\n<link rel=\"stylesheet\" href=\"page.css\">\n<body data-viewer=\"", f);
	put_html(f, s->o.ui ? "ui/" : SERVE_VIEWER "/");
	if (s->focus) {
		fputs("#!/?", f);
		put_html(f, s->focus);
	}
	fputs("\" data-title=\"", f);
	put_html(f, s->o.title);
	fputs("\" data-file=\"", f);
	put_html(f, s->o.file_name);
	fputs("\">\n<h1>", f);
	put_html(f, s->o.title);
	fputs("</h1>\n<p><button id=\"open\" autofocus>Open in the viewer</button>\n"
	      "<p id=\"state\" role=\"status\">Reading the trace.</p>\n<p><small>",
	      f);
	put_viewer(f, s->o.ui);
	fputs("<a href=\"trace\" download=\"", f);
	put_html(f, s->o.file_name);
	fputs("\">Save the trace</a>.</small>\n<script src=\"page.js\"></script>\n", f);
}

int serve__page(const struct serve *s, const char *name, char **text, size_t *n, const char **type)
{
	FILE *f = open_memstream(text, n);
	int rc = 0;

	if (!f)
		return -ENOMEM;
	if (!*name) {
		*type = "text/html; charset=utf-8";
		put_page(f, s);
	} else if (strcmp(name, "page.js") == 0) {
		*type = "text/javascript; charset=utf-8";
		fputs(script, f);
	} else if (strcmp(name, "page.css") == 0) {
		*type = "text/css; charset=utf-8";
		fputs(style, f);
	} else {
		rc = -ENOENT;
	}
	if (ferror(f) && !rc)
		rc = -ENOMEM;
	if (fclose(f) && !rc)
		rc = -ENOMEM;
	return rc;
}
#endif
