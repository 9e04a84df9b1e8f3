/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/jsonsafe.h"
#include "probes/probes.h"
#include "util/fmt.h"

static const char *const source_names[] = {
	[USDT_FROM_SECTIONS] = "sections",
	[USDT_FROM_SEGMENTS] = "segments",
	[USDT_FROM_DEBUG_FILE] = "debug file",
};

static const char *hex(char buf[FMT_NUM], bool there, uint64_t v)
{
	snprintf(buf, FMT_NUM, "0x%" PRIx64, v);
	return there ? buf : "-";
}

static int row(struct fmt_table *t, const struct usdt_probe *p)
{
	char buf[FMT_NUM];
	int e = fmt_table__cell(t, p->provider) | fmt_table__cell(t, p->name) |
		fmt_table__cell(t, hex(buf, p->has_location, p->location));

	e |= fmt_table__cell(t, hex(buf, p->has_offset, p->offset));
	e |= fmt_table__cell(t, hex(buf, p->has_semaphore, p->semaphore));
	return e | fmt_table__cell(t, p->args);
}

static void object_head(const struct probes_object *o, FILE *f)
{
	const char *machine = probes_machine(usdt_file__machine(o->file));
	size_t n = usdt_file__count(o->file), damaged = usdt_file__damaged(o->file);

	fmt_put_safe(f, o->path);
	if (o->deleted && !strstr(o->path, " (deleted)"))
		fputs(" (deleted)", f);
	if (machine)
		fprintf(f, ": %s", machine);
	else
		fprintf(f, ": machine %u", usdt_file__machine(o->file));
	fprintf(f, ", %u bit%s, %zu site%s", usdt_file__bits(o->file),
		usdt_file__big_endian(o->file) ? " big-endian" : "", n, n == 1 ? "" : "s");
	if (usdt_file__source(o->file) == USDT_FROM_DEBUG_FILE) {
		fputs(", from ", f);
		fmt_put_safe(f, usdt_file__debug_file(o->file));
	}
	if (damaged)
		fprintf(f, ", %zu damaged note%s left out", damaged, damaged == 1 ? "" : "s");
	fputc('\n', f);
}

int probes__text(const struct probes *p, FILE *f)
{
	static const char *const heads[] = { "PROVIDER", "PROBE",     "ADDRESS",
					     "OFFSET",   "SEMAPHORE", "ARGUMENTS" };
	bool bold = fmt_color(f);

	for (size_t i = 0; i < p->n; i++) {
		const struct probes_object *o = &p->objects[i];
		struct fmt_table *t = fmt_table__new(6);
		const struct usdt_probe *probe;
		int e = t ? 0 : -1;

		for (size_t c = 0; c < 6 && !e; c++)
			e = fmt_table__cell(t, heads[c]);
		for (unsigned c = 2; c < 5 && !e; c++)
			fmt_table__align(t, c, FMT_RIGHT);
		for (size_t k = 0; !e && (probe = usdt_file__probe(o->file, k)); k++)
			e = row(t, probe);
		if (!e) {
			if (i)
				fputc('\n', f);
			object_head(o, f);
			fmt_table__print(t, f, 2, 0, bold);
		}
		fmt_table__free(t);
		if (e)
			return -1;
	}
	return 0;
}

void probes__text_check(const struct probes *p, FILE *f)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct probes_object *o = &p->objects[i];

		if (!o->checked)
			continue;
		for (size_t k = 0; k < o->diffs.n; k++) {
			fmt_put_safe(f, o->path);
			fprintf(f, ": %s: ", usdt_diff_names[o->diffs.v[k].kind]);
			fmt_put_safe(f, o->diffs.v[k].what);
			fputc('\n', f);
		}
		fmt_put_safe(f, o->path);
		if (o->diffs.n)
			fprintf(f, ": %zu difference%s from the contract\n", o->diffs.n,
				o->diffs.n == 1 ? "" : "s");
		else
			fprintf(f, ": conforms, %zu sites of %zu probes\n", o->diffs.sites,
				usdt_contract_size());
	}
}

static void put(json_t *o, const char *key, json_t *v)
{
	json_object_set_new(o, key, v);
}

static void put_hex(json_t *o, const char *key, bool there, uint64_t v)
{
	char buf[FMT_NUM];

	if (there)
		put(o, key, json_string(hex(buf, true, v)));
}

static void put_slice(json_t *o, const char *key, const char *s, size_t n)
{
	char *copy = s ? strndup(s, n) : NULL;

	if (copy)
		put(o, key, json_safe_string(copy));
	free(copy);
}

static void put_reg(json_t *o, const char *key, const struct usdt_reg *r)
{
	if (r->bits)
		put(o, key, json_string(r->name));
}

static json_t *operand_json(const struct usdt_operand *op)
{
	static const char *const kinds[] = { "unknown", "constant", "register", "memory" };
	static const char *const extends[] = { NULL, "uxtw", "sxtw", "sxtx" };
	json_t *o = json_object();
	bool memory = op->kind == USDT_OPERAND_MEMORY;

	put_slice(o, "text", op->text, op->text_len);
	put(o, "kind", json_string(kinds[op->kind]));
	if (op->has_size) {
		put(o, "bytes", json_integer(op->size));
		put(o, "signed", json_boolean(op->is_signed));
		put(o, "float", json_boolean(op->is_float));
	}
	if (op->kind == USDT_OPERAND_CONSTANT)
		put(o, "value", json_integer(op->value));
	if (memory)
		put(o, "displacement", json_integer(op->value));
	put_slice(o, "symbol", op->symbol, op->symbol_len);
	put_reg(o, memory ? "base" : "register", &op->base);
	put_reg(o, "segment", &op->segment);
	put_reg(o, "index", &op->index);
	if (op->index.bits)
		put(o, "scale", json_integer(op->scale));
	if (op->extend)
		put(o, "extend", json_string(extends[op->extend]));
	return o;
}

static json_t *probe_json(const struct usdt_probe *p)
{
	json_t *o = json_object(), *ops = json_array(), *note = json_object();

	put(o, "provider", json_safe_string(p->provider));
	put(o, "probe", json_safe_string(p->name));
	put_hex(o, "address", p->has_location, p->location);
	put_hex(o, "offset", p->has_offset, p->offset);
	put_hex(o, "semaphore", p->has_semaphore, p->semaphore);
	put_hex(o, "semaphore_offset", p->has_semaphore_offset, p->semaphore_offset);
	/* As it was linked, before a prelink: what other readers print. */
	put_hex(note, "location", true, p->note_location);
	put_hex(note, "base", true, p->note_base);
	put_hex(note, "semaphore", true, p->note_semaphore);
	put(o, "note", note);
	put(o, "descriptor", json_safe_string(p->args));
	for (size_t i = 0; i < p->noperands; i++)
		json_array_append_new(ops, operand_json(&p->operands[i]));
	put(o, "arguments", ops);
	return o;
}

static json_t *check_json(const struct probes_object *o)
{
	json_t *all = json_array(), *r = json_object();

	for (size_t i = 0; i < o->diffs.n; i++) {
		const struct usdt_diff *d = &o->diffs.v[i];
		json_t *one = json_object();

		put(one, "kind", json_string(usdt_diff_names[d->kind]));
		if (d->probe)
			put(one, "probe", json_safe_string(d->probe));
		put_hex(one, "address", d->has_location, d->location);
		put(one, "what", json_safe_string(d->what));
		json_array_append_new(all, one);
	}
	put(r, "conforms", json_boolean(!o->diffs.n));
	put(r, "sites", json_integer((json_int_t)o->diffs.sites));
	put(r, "differences", all);
	return r;
}

static json_t *object_json(const struct probes_object *ob)
{
	const char *machine = probes_machine(usdt_file__machine(ob->file));
	json_t *o = json_object(), *probes = json_array();
	const struct usdt_probe *p;
	const uint8_t *id;
	size_t len;

	put(o, "file", json_safe_string(ob->path));
	put(o, "deleted", json_boolean(ob->deleted));
	put(o, "machine", json_integer(usdt_file__machine(ob->file)));
	if (machine)
		put(o, "architecture", json_string(machine));
	put(o, "bits", json_integer(usdt_file__bits(ob->file)));
	put(o, "big_endian", json_boolean(usdt_file__big_endian(ob->file)));
	id = usdt_file__build_id(ob->file, &len);
	if (id) {
		char text[129];

		for (size_t i = 0; i < len; i++)
			snprintf(text + 2 * i, 3, "%02x", id[i]);
		put(o, "build_id", json_string(text));
	}
	put(o, "notes_from", json_string(source_names[usdt_file__source(ob->file)]));
	if (usdt_file__debug_file(ob->file))
		put(o, "debug_file", json_safe_string(usdt_file__debug_file(ob->file)));
	put(o, "damaged_notes", json_integer((json_int_t)usdt_file__damaged(ob->file)));
	for (size_t i = 0; (p = usdt_file__probe(ob->file, i)); i++)
		json_array_append_new(probes, probe_json(p));
	put(o, "sites", probes);
	if (ob->checked)
		put(o, "contract", check_json(ob));
	return o;
}

json_t *probes__json(const struct probes *p)
{
	json_t *all = json_array(), *r = json_object();

	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(all, object_json(&p->objects[i]));
	put(r, "schema", json_integer(1));
	put(r, "objects", all);
	if (p->unread)
		put(r, "unread_files", json_integer((json_int_t)p->unread));
	return r;
}
