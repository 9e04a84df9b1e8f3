// SPDX-License-Identifier: GPL-2.0-or-later
#include "inspect/stacks.h"

#include <inttypes.h>
#include <string.h>

#include "events.h"
#include "inspect/jsonsafe.h"
#include "stacks/quality.h"
#include "util/fmt.h"

#define LAYOUTS (GPUBPF_STACK_CALL | GPUBPF_STACK_CHAIN | GPUBPF_STACK_FRAME)

struct texts {
	const char *function, *module, *source;
};

static struct texts texts_of(const struct gpubpf_stack_frame *f)
{
	struct texts t = { .function = f->text };

	t.module = t.function + strlen(t.function) + 1;
	t.source = t.module + strlen(t.module) + 1;
	return t;
}

static void quoted(FILE *f, const char *name, const char *text)
{
	if (!text[0])
		return;
	fprintf(f, " %s=", name);
	inspect_put_quoted(f, text);
}

static void call_text(const struct inspection *s, const struct gpubpf_stack *r, FILE *f)
{
	const struct api *a = apitab__get(s->tab, r->api);

	fprintf(f, "stack t=%" PRIu64 " pid=%u tid=%u at=%s quality=%s%s chain=%u", (uint64_t)r->t_entry,
		r->tgid, r->tid, r->flags & GPUBPF_STACK_ENTRY ? "entry" : "return",
		stack_quality_keys[r->quality], r->flags & GPUBPF_STACK_LATE ? " late" : "", r->chain);
	if (a) {
		fputs(" api=", f);
		fmt_put_safe(f, a->symbol);
	} else {
		fprintf(f, " api=%u", r->api);
	}
	putc('\n', f);
}

void inspect_stack_record_text(const struct inspection *s, const struct gpubpf_rec *rec, FILE *f)
{
	const struct gpubpf_stack_chain *c = (const struct gpubpf_stack_chain *)rec;
	const struct gpubpf_stack_frame *fr = (const struct gpubpf_stack_frame *)rec;
	struct texts t;

	switch (rec->flags & LAYOUTS) {
	case GPUBPF_STACK_CHAIN:
		fprintf(f, "stack_chain id=%u frames=", c->id);
		for (uint32_t i = 0; i < c->n; i++)
			fprintf(f, "%s%u", i ? "," : "", c->frames[i]);
		putc('\n', f);
		return;
	case GPUBPF_STACK_FRAME:
		t = texts_of(fr);
		fprintf(f, "stack_frame id=%u%s", fr->id, fr->flags & GPUBPF_STACK_INLINE ? " inline" : "");
		quoted(f, "function", t.function);
		quoted(f, "module", t.module);
		quoted(f, "source", t.source);
		if (!(fr->flags & GPUBPF_STACK_NAMED))
			fprintf(f, " offset=0x%" PRIx64, (uint64_t)fr->offset);
		putc('\n', f);
		return;
	default:
		call_text(s, (const struct gpubpf_stack *)rec, f);
	}
}

static void call_json(const struct inspection *s, const struct gpubpf_stack *r, json_t *o)
{
	const struct api *a = apitab__get(s->tab, r->api);

	json_object_set_new(o, "record", json_string("stack"));
	json_put_int(o, "t_entry_ns", r->t_entry);
	json_put_int(o, "pid", r->tgid);
	json_put_int(o, "tid", r->tid);
	if (a)
		json_put_text(o, "api", a->symbol);
	json_put_text(o, "at", r->flags & GPUBPF_STACK_ENTRY ? "entry" : "return");
	json_put_text(o, "quality", stack_quality_keys[r->quality]);
	json_object_set_new(o, "late", json_boolean(r->flags & GPUBPF_STACK_LATE));
	json_put_if(o, "chain", r->chain != 0, r->chain);
}

void inspect_stack_record_json(const struct inspection *s, const struct gpubpf_rec *rec, json_t *o)
{
	const struct gpubpf_stack_chain *c = (const struct gpubpf_stack_chain *)rec;
	const struct gpubpf_stack_frame *f = (const struct gpubpf_stack_frame *)rec;
	struct texts t;
	json_t *ids;

	switch (rec->flags & LAYOUTS) {
	case GPUBPF_STACK_CHAIN:
		ids = json_array();
		for (uint32_t i = 0; i < c->n; i++)
			json_array_append_new(ids, json_integer(c->frames[i]));
		json_object_set_new(o, "record", json_string("stack_chain"));
		json_put_int(o, "id", c->id);
		json_object_set_new(o, "frames", ids);
		return;
	case GPUBPF_STACK_FRAME:
		t = texts_of(f);
		json_object_set_new(o, "record", json_string("stack_frame"));
		json_put_int(o, "id", f->id);
		json_put_text(o, "function", t.function[0] ? t.function : NULL);
		json_put_text(o, "module", t.module[0] ? t.module : NULL);
		json_put_text(o, "source", t.source[0] ? t.source : NULL);
		json_object_set_new(o, "inline", json_boolean(f->flags & GPUBPF_STACK_INLINE));
		json_put_if(o, "offset", !(f->flags & GPUBPF_STACK_NAMED), f->offset);
		return;
	default:
		call_json(s, (const struct gpubpf_stack *)rec, o);
	}
}

static uint64_t counter(const struct inspection *s, const char *name)
{
	for (size_t i = 0; s->counts && i < s->counts->n_global; i++)
		if (!strcmp(s->counts->global[i]->name, name))
			return s->counts->global[i]->count;
	return 0;
}

void inspect_stacks_text(const struct inspection *s, FILE *f)
{
	const Gpubpf__Stacks *m = s->meta->stacks;
	const struct stack_counts *c = &s->stacks;
	bool unwound = m && !strcmp(m->how, "dwarf");
	char a[FMT_NUM], b[FMT_NUM];

	if (!m && !c->calls)
		return;
	fprintf(f, "\nStacks of %s calls", fmt_count(a, c->calls));
	if (m)
		fputs(unwound ? ", unwound from copies" : ", along frame pointers", f);
	if (m && m->has_bytes)
		fprintf(f, " of up to %s", fmt_bytes(a, m->bytes));
	if (m && m->has_slow_ns)
		fprintf(f, "; of calls of %s and more", fmt_ns(a, m->slow_ns));
	else if (m && m->one_of > 1)
		fprintf(f, "; of about one call in %u", m->one_of);
	putc('\n', f);
	for (unsigned q = 1; q < GPUBPF_STACK_QUALITIES; q++)
		if (c->quality[q])
			fprintf(f, "  %12s  %s\n", fmt_count(a, c->quality[q]),
				stack_quality_word(q, unwound));
	if (c->late)
		fprintf(f, "  %12s  of them resolved late, when their process was gone\n",
			fmt_count(a, c->late));
	if (counter(s, "stack_lost"))
		fprintf(f, "  %12s  lost: no room in the ring\n", fmt_count(a, counter(s, "stack_lost")));
	if (counter(s, "stack_unresolved"))
		fprintf(f, "  %12s  lost: not resolved in time\n",
			fmt_count(a, counter(s, "stack_unresolved")));
	if (m && m->has_names && !m->names)
		fputs("  names of functions: none, the recorder was built without libdw\n", f);
	fprintf(f, "  %s distinct stacks of %s distinct frames\n", fmt_count(a, c->chains),
		fmt_count(b, c->frames));
}

json_t *inspect_stacks_json(const struct inspection *s)
{
	const Gpubpf__Stacks *m = s->meta->stacks;
	const struct stack_counts *c = &s->stacks;
	json_t *o, *quality;

	if (!m && !c->calls)
		return NULL;
	o = json_object();
	if (m) {
		json_put_text(o, "how", m->how);
		json_put_if(o, "slow_ns", m->has_slow_ns, m->slow_ns);
		json_put_if(o, "one_of", m->has_one_of, m->one_of);
		json_put_if(o, "copied_bytes", m->has_bytes, m->bytes);
		if (m->has_names)
			json_object_set_new(o, "names", json_boolean(m->names));
	}
	json_put_int(o, "calls", c->calls);
	quality = json_object();
	for (unsigned q = 1; q < GPUBPF_STACK_QUALITIES; q++)
		json_put_int(quality, stack_quality_keys[q], c->quality[q]);
	json_object_set_new(o, "quality", quality);
	json_put_int(o, "late", c->late);
	json_put_int(o, "lost_ring", counter(s, "stack_lost"));
	json_put_int(o, "unresolved", counter(s, "stack_unresolved"));
	json_put_int(o, "distinct_stacks", c->chains);
	json_put_int(o, "distinct_frames", c->frames);
	return o;
}
