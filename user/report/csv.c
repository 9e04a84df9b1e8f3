/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>

#include "report/report.h"
#include "util/fmt.h"

static void put_cell(FILE *f, const struct cell *c, enum unit unit)
{
	switch (c->kind) {
	case CELL_NONE:
		break;
	case CELL_UNMEASURED:
		fputs("not measured", f);
		break;
	case CELL_NUMBER:
		fprintf(f, unit == UNIT_HEX ? "0x%" PRIx64 : "%" PRIu64, c->number);
		break;
	case CELL_SIGNED:
		fprintf(f, "%" PRId64, (int64_t)c->number);
		break;
	case CELL_REAL:
		fprintf(f, "%.6g", c->real);
		break;
	case CELL_TEXT:
		fmt_put_csv(f, c->text);
		break;
	}
}

int report_csv(const struct report *r, FILE *f)
{
	const struct section *s = r->o.sections[0];
	unsigned columns = section__columns(s);
	struct rows rows;
	int rc = report__rows(r, s, &rows);

	for (unsigned c = 0; !rc && c < columns; c++)
		fprintf(f, "%s%s", s->columns[c].key, c + 1 < columns ? "," : "\r\n");
	for (size_t i = 0; !rc && i < rows.n && (!r->o.limit || i < r->o.limit); i++) {
		for (unsigned c = 0; c < columns; c++) {
			put_cell(f, &rows.cells[i * columns + c], s->columns[c].unit);
			fputs(c + 1 < columns ? "," : "\r\n", f);
		}
	}
	rows__clear(&rows);
	return rc;
}
