// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/export.h"

const struct export_format export_formats[] = {
	{ .name = "json",
	  .what = "one JSON object with every table; `--schema` prints its JSON schema",
	  .write = export_json,
	  .tables = true,
	  .semantic = true },
	{ .name = "jsonl",
	  .what = "one JSON object per line, with the name of its table",
	  .write = export_jsonl,
	  .tables = true,
	  .semantic = true },
	{ .name = "csv",
	  .what = "one table as CSV (RFC 4180)",
	  .write = export_csv,
	  .tables = true,
	  .semantic = true },
	{ .name = "sqlite",
	  .what = "an SQLite database with indexes and views",
#ifdef HAVE_SQLITE3
	  .write = export_sqlite,
#else
	  .missing = "libsqlite3",
#endif
	  .semantic = true,
	  .own_file = true },
	{ .name = "pprof",
	  .what = "a profile for `pprof` and what reads its format: GPU time by stack and kernel",
	  .write = export_pprof,
	  .binary = true },
	{ .name = "folded",
	  .what = "folded stacks for flame graphs, one value per line (--value)",
	  .write = export_folded,
	  .values = true },
	{ .name = "otlp",
	  .what = "OpenTelemetry (OTLP) as JSON lines for a collector, one signal per file (--signal)",
	  .write = export_otlp,
	  .signals = true },
	{ 0 },
};
