// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "events.h"
#include "inspect/inspect.h"
#include "inspect/jsonsafe.h"
#include "inspect/latency.h"
#include "inspect/stacks.h"
#include "usdt/contract.h"
#include "util/fmt.h"

#define FLAGS 32

static bool is_handle(char type)
{
	return strchr("hpdoOxnLl23PZs", type) != NULL;
}

/* A backslash of the text's own is doubled: fmt_put_safe() makes \xNN of what it escapes. */
void inspect_put_quoted(FILE *f, const char *s)
{
	char doubled[2 * UINT16_MAX]; /* no text is longer than a record */
	size_t n = 0;

	for (; *s && n < sizeof(doubled) - 2; s++) {
		if (*s == '"' || *s == '\\')
			doubled[n++] = '\\';
		doubled[n++] = *s;
	}
	doubled[n] = '\0';
	putc('"', f);
	fmt_put_safe(f, doubled);
	putc('"', f);
}

static bool has_string(const struct api *a, unsigned i)
{
	return a->args[i].type == 's' || a->args[i].type == 'n';
}

static void text_args(const struct api *a, const struct gpubpf_call *c, FILE *f)
{
	const char *text = api_call_string(a, c);
	uint64_t v;

	for (unsigned i = 0; i < a->nargs; i++) {
		if (has_string(a, i) && text) {
			fprintf(f, " %s=", a->args[i].name);
			inspect_put_quoted(f, text);
		} else if (!api_arg_at(a, c, i, &v)) {
			continue;
		} else if (a->args[i].type == 'i') {
			fprintf(f, " %s=%" PRId64, a->args[i].name, (int64_t)v);
		} else {
			fprintf(f, is_handle(a->args[i].type) ? " %s=0x%" PRIx64 : " %s=%" PRIu64,
				a->args[i].name, v);
		}
	}
}

static void text_call(const struct inspection *s, const struct gpubpf_call *c, FILE *f)
{
	const struct api *a = apitab__get(s->tab, c->api);
	const uint8_t *blob;
	uint64_t out;
	size_t n;

	fprintf(f, "call t=%" PRIu64 " pid=%u tid=%u depth=%u", (uint64_t)c->t_entry, c->tgid, c->tid,
		c->depth);
	if (c->flags & GPUBPF_CALL_RETURNED)
		fprintf(f, " dur_ns=%" PRId64 " result=%d", (int64_t)(c->t_return - c->t_entry), c->result);
	for (unsigned b = 0; b < FLAGS; b++)
		if ((c->flags & 1u << b) && inspect_call_flag(b))
			fprintf(f, " %s", inspect_call_flag(b));
	if (!a) {
		fprintf(f, " api=%u\n", c->api);
		return;
	}
	fputs(" api=", f);
	fmt_put_safe(f, a->symbol);
	text_args(a, c, f);
	if (api_call_out(a, c, &out))
		fprintf(f, " out=0x%" PRIx64, out);
	blob = api_call_blob(c, &n);
	if (n && !api_call_string(a, c)) {
		fputs(" blob=", f);
		for (size_t i = 0; i < n; i++)
			fprintf(f, "%02x", blob[i]);
	}
	putc('\n', f);
}

static void text_task(const struct gpubpf_task *t, FILE *f)
{
	const char *event = inspect_task_event(t->event);

	fprintf(f, "task t=%" PRIu64 " pid=%u tid=%u event=", (uint64_t)t->time, t->tgid, t->tid);
	if (event)
		fputs(event, f);
	else
		fprintf(f, "%u", t->event);
	if (t->event == GPUBPF_TASK_FORK || t->event == GPUBPF_TASK_EXEC)
		fprintf(f, " peer=%u", t->peer);
	if (t->event == GPUBPF_TASK_EXIT)
		fprintf(f, " wait_status=%d", t->code);
	if (t->view_tgid)
		fprintf(f, " view_pid=%u", t->view_tgid);
	fprintf(f, " ns_pid=%u ns_tid=%u comm=", t->ns_tgid, t->ns_tid);
	inspect_put_quoted(f, t->comm);
	putc('\n', f);
}

static void text_shim(const struct gpubpf_shim *b, FILE *f)
{
	fprintf(f,
		"shim t=%" PRIu64 " pid=%u tid=%u probe=%s sequence=%" PRIu64
		" items=%u sent=%u item_size=%u%s%s\n",
		(uint64_t)b->time, b->tgid, b->tid, usdt_contract_probes[b->probe], (uint64_t)b->sequence,
		b->count, b->sent, b->item_size, b->flags & GPUBPF_SHIM_FAULT ? " fault" : "",
		b->flags & GPUBPF_SHIM_CUT ? " cut" : "");
}

int inspect_record_text(struct inspection *s, const struct gpubpf_rec *rec, void *arg)
{
	const struct gpubpf_xid *x = (const struct gpubpf_xid *)rec;
	FILE *f = arg;

	if (rec->kind == GPUBPF_REC_CALL) {
		text_call(s, (const struct gpubpf_call *)rec, f);
	} else if (rec->kind == GPUBPF_REC_TASK) {
		text_task((const struct gpubpf_task *)rec, f);
	} else if (rec->kind == GPUBPF_REC_XID) {
		fprintf(f, "xid t=%" PRIu64 " code=%u device=", (uint64_t)x->time, x->code);
		inspect_put_quoted(f, x->device);
		fputs(" message=", f);
		inspect_put_quoted(f, x->message);
		putc('\n', f);
	} else if (rec->kind == GPUBPF_REC_SHIM) {
		text_shim((const struct gpubpf_shim *)rec, f);
	} else if (rec->kind == GPUBPF_REC_LATENCY) {
		inspect_latency_record_text((const struct gpubpf_latency *)rec, f);
	} else if (rec->kind == GPUBPF_REC_WAKER) {
		inspect_waker_text(s, (const struct gpubpf_waker *)rec, f);
	} else if (rec->kind == GPUBPF_REC_STACK) {
		inspect_stack_record_text(s, rec, f);
	}
	return ferror(f) ? -EIO : 0;
}

/* JSON readers take numbers for doubles: handles and addresses are strings. */
static json_t *hex(uint64_t v)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%" PRIx64, v);
	return json_string(buf);
}

static json_t *json_args(const struct api *a, const struct gpubpf_call *c)
{
	const char *text = api_call_string(a, c);
	json_t *args = json_object();
	uint64_t v;

	for (unsigned i = 0; i < a->nargs; i++) {
		const char *name = a->args[i].name;

		if (has_string(a, i) && text)
			json_object_set_new(args, name, json_safe_string(text));
		else if (api_arg_at(a, c, i, &v))
			json_object_set_new(args, name,
					    is_handle(a->args[i].type) ? hex(v)
								       : json_integer((json_int_t)v));
	}
	return args;
}

static json_t *json_blob(const uint8_t *blob, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * GPUBPF_BLOB_MAX];

	n = n < GPUBPF_BLOB_MAX ? n : GPUBPF_BLOB_MAX;
	for (size_t i = 0; i < n; i++) {
		text[2 * i] = digits[blob[i] >> 4];
		text[2 * i + 1] = digits[blob[i] & 15];
	}
	return json_stringn(text, 2 * n);
}

static void json_call(const struct inspection *s, const struct gpubpf_call *c, json_t *o)
{
	const struct api *a = apitab__get(s->tab, c->api);
	const uint8_t *blob;
	uint64_t out;
	size_t n;

	json_object_set_new(o, "record", json_string("call"));
	json_put_int(o, "t_entry_ns", c->t_entry);
	json_put_int(o, "pid", c->tgid);
	json_put_int(o, "tid", c->tid);
	json_put_int(o, "depth", c->depth);
	if (c->flags & GPUBPF_CALL_RETURNED) {
		json_put_int(o, "t_return_ns", c->t_return);
		json_object_set_new(o, "result", json_integer(c->result));
	}
	for (unsigned b = 0; b < FLAGS; b++)
		if ((c->flags & 1u << b) && inspect_call_flag(b))
			json_object_set_new(o, inspect_call_flag(b), json_true());
	if (!a) {
		json_put_int(o, "api_id", c->api);
		return;
	}
	json_object_set_new(o, "api", json_safe_string(a->symbol));
	json_object_set_new(o, "args", json_args(a, c));
	if (api_call_out(a, c, &out))
		json_object_set_new(o, "out", hex(out));
	blob = api_call_blob(c, &n);
	if (n && !api_call_string(a, c))
		json_object_set_new(o, "blob", json_blob(blob, n));
}

static void json_task(const struct gpubpf_task *t, json_t *o)
{
	const char *event = inspect_task_event(t->event);

	json_object_set_new(o, "record", json_string("task"));
	json_put_int(o, "t_ns", t->time);
	json_put_int(o, "pid", t->tgid);
	json_put_int(o, "tid", t->tid);
	json_object_set_new(o, "event", event ? json_string(event) : json_integer(t->event));
	if (t->event == GPUBPF_TASK_FORK || t->event == GPUBPF_TASK_EXEC)
		json_put_int(o, "peer", t->peer);
	if (t->event == GPUBPF_TASK_EXIT)
		json_object_set_new(o, "wait_status", json_integer(t->code));
	if (t->view_tgid)
		json_put_int(o, "view_pid", t->view_tgid);
	json_put_int(o, "ns_pid", t->ns_tgid);
	json_put_int(o, "ns_tid", t->ns_tid);
	json_object_set_new(o, "comm", json_safe_string(t->comm));
}

static void json_shim(const struct gpubpf_shim *b, json_t *o)
{
	json_object_set_new(o, "record", json_string("shim"));
	json_put_int(o, "t_ns", b->time);
	json_put_int(o, "pid", b->tgid);
	json_put_int(o, "tid", b->tid);
	json_object_set_new(o, "probe", json_string(usdt_contract_probes[b->probe]));
	json_put_int(o, "sequence", b->sequence);
	json_put_int(o, "items", b->count);
	json_put_int(o, "sent", b->sent);
	json_put_int(o, "item_size", b->item_size);
	if (b->flags & GPUBPF_SHIM_FAULT)
		json_object_set_new(o, "fault", json_true());
	if (b->flags & GPUBPF_SHIM_CUT)
		json_object_set_new(o, "cut", json_true());
}

int inspect_record_json(struct inspection *s, const struct gpubpf_rec *rec, void *arg)
{
	const struct gpubpf_xid *x = (const struct gpubpf_xid *)rec;
	json_t *o = json_object();
	FILE *f = arg;
	int r;

	if (rec->kind == GPUBPF_REC_CALL) {
		json_call(s, (const struct gpubpf_call *)rec, o);
	} else if (rec->kind == GPUBPF_REC_TASK) {
		json_task((const struct gpubpf_task *)rec, o);
	} else if (rec->kind == GPUBPF_REC_SHIM) {
		json_shim((const struct gpubpf_shim *)rec, o);
	} else if (rec->kind == GPUBPF_REC_LATENCY) {
		inspect_latency_record_json((const struct gpubpf_latency *)rec, o);
	} else if (rec->kind == GPUBPF_REC_WAKER) {
		inspect_waker_json(s, (const struct gpubpf_waker *)rec, o);
	} else if (rec->kind == GPUBPF_REC_STACK) {
		inspect_stack_record_json(s, rec, o);
	} else {
		json_object_set_new(o, "record", json_string("xid"));
		json_put_int(o, "t_ns", x->time);
		json_put_int(o, "code", x->code);
		json_object_set_new(o, "device", json_safe_string(x->device));
		json_object_set_new(o, "message", json_safe_string(x->message));
	}
	r = json_dumpf(o, f, JSON_COMPACT);
	json_decref(o);
	putc('\n', f);
	return r || ferror(f) ? -EIO : 0;
}
