/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands where on a screen of any size: plain text, one line each, cut to fit. What is lost stands in the second line, and in
 * the first when there is no second.
 */
#ifndef GPUBPF_TOP_LAYOUT_H
#define GPUBPF_TOP_LAYOUT_H

#include "top/top.h"

enum top_table { TOP_KERNELS, TOP_APIS, TOP_WAITS, TOP_TASKS, TOP_GPUS, TOP_LOSSES, TOP_TABLES };

struct top_state {
	enum top_table table;
	unsigned sort[TOP_TABLES]; /* column */
	size_t scroll;             /* rows; brought back into the table by top_layout() */
	bool paused;
	char message[400];
};

enum top_style { TOP_PLAIN, TOP_TITLE, TOP_BAD, TOP_TABS, TOP_HEADER, TOP_HELP };

#define TOP_LINES_MAX 256
#define TOP_COLUMNS_MAX 400

struct top_text {
	unsigned n;
	struct {
		enum top_style style;
		char text[4 * TOP_COLUMNS_MAX + 1];
	} line[TOP_LINES_MAX];
};

/* v NULL: nothing came yet. */
void top_layout(const struct top_view *v, struct top_state *st, unsigned rows, unsigned columns,
		struct top_text *out);
/* The next column that this table can be sorted by. */
void top_state_sort(struct top_state *st);

#endif
