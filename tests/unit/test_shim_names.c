/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <pthread.h>
#include <stdlib.h>

#include "shim/names.c"
#include "t.h"

static struct names n;

static void fresh(void)
{
	memset(&n, 0, sizeof(n));
	names__begin(&n, 1);
}

/* Everything that waits, `max` pieces at a time; the text of `id` put together in out. How many pieces. */
static int drain(size_t max, __u32 id, char *out)
{
	struct gpubpf_name piece[64];
	size_t k, len = 0;
	int pieces = 0;

	while ((k = names__send(&n, piece, max)) != 0) {
		for (size_t i = 0; i < k; i++, pieces++) {
			CHECK(piece[i].part < piece[i].parts && piece[i].len &&
			      piece[i].len <= sizeof(piece->text));
			if (out && piece[i].id == id) {
				memcpy(out + len, piece[i].text, piece[i].len);
				len += piece[i].len;
			}
		}
	}
	if (out)
		out[len] = '\0';
	return pieces;
}

T(one_id_per_text)
{
	char a[] = "_Z3fooPf", b[] = "_Z3fooPf";
	__u32 id;

	fresh();
	id = names__intern(&n, a);
	CHECK(id == 1);
	CHECK(names__intern(&n, a) == id);
	CHECK(names__intern(&n, b) == id);
	CHECK(names__intern(&n, "_Z3barPf") == 2);
	CHECK(names__intern(&n, "_Z3fooP") == 3 && names__intern(&n, "_Z3fooPff") == 4);
	CHECK(names__intern(&n, a) == id);
	CHECK(n.lost == 0);
}

/* Two tables share one space of ids. */
T(ids_from_a_base_on)
{
	struct gpubpf_name piece[2];
	char out[32];

	fresh();
	n.base = GPUBPF_NAME_LABELS;
	CHECK(names__intern(&n, "a") == GPUBPF_NAME_LABELS + 1 &&
	      names__intern(&n, "a") == GPUBPF_NAME_LABELS + 1);
	CHECK(names__intern(&n, NULL) == 0);
	CHECK(drain(1, GPUBPF_NAME_LABELS + 1, out) == 1 && !strcmp(out, "a"));
	names__begin(&n, 2);
	CHECK(names__intern(&n, "a") == GPUBPF_NAME_LABELS + 1 && names__send(&n, piece, 2) == 1);
	CHECK(piece[0].id == GPUBPF_NAME_LABELS + 1);
}

T(one_hash_two_texts)
{
	fresh();
	CHECK(hash_of("costarring", 10) == hash_of("liquid", 6));
	CHECK(names__intern(&n, "costarring") == 1 && names__intern(&n, "liquid") == 2);
	CHECK(names__intern(&n, "costarring") == 1);
}

/* A module was unloaded, and the next one's name stands where its kernel's stood. */
T(same_address_other_text)
{
	char text[16] = "_Z5firstv";
	__u32 first;

	fresh();
	first = names__intern(&n, text);
	strcpy(text, "_Z6secondv");
	CHECK(names__intern(&n, text) == first + 1);
	strcpy(text, "_Z5firstv");
	CHECK(names__intern(&n, text) == first);
	strcpy(text, "_Z5first");
	CHECK(names__intern(&n, text) == first + 2);
}

T(no_name_is_no_loss)
{
	fresh();
	CHECK(names__intern(&n, NULL) == 0 && names__intern(&n, "") == 0);
	CHECK(n.lost == 0 && n.count == 0);
}

/* C6: once per session, and again for a recorder that comes later, under the same id. */
T(sent_once_per_session)
{
	char out[256];
	__u32 id;

	fresh();
	id = names__intern(&n, "_Z3foov");
	names__intern(&n, "_Z3barv");
	for (int i = 0; i < 1000; i++)
		names__intern(&n, "_Z3foov");
	CHECK(drain(8, id, out) == 2 && !strcmp(out, "_Z3foov"));
	CHECK(drain(8, id, out) == 0);
	names__begin(&n, 2);
	CHECK(drain(8, id, out) == 0);
	CHECK(names__intern(&n, "_Z3foov") == id);
	CHECK(drain(8, id, out) == 1 && !strcmp(out, "_Z3foov"));
	/* A session that ended before its names went out owes them to the next. */
	names__begin(&n, 3);
	names__intern(&n, "_Z3barv");
	names__begin(&n, 4);
	names__intern(&n, "_Z3barv");
	CHECK(drain(8, 2, out) == 1 && !strcmp(out, "_Z3barv"));
}

T(long_names_whole)
{
	static char text[NAMES_TEXT_MAX + 2], out[NAMES_TEXT_MAX + 2];
	static const size_t lens[] = { 1, 115, 116, 117, 232, 233, 4096, 5000, NAMES_TEXT_MAX };
	struct gpubpf_name piece;

	for (size_t max = 1; max <= 64; max = max * 3 + 1) {
		fresh();
		for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			__u32 id;

			for (size_t k = 0; k < lens[i]; k++)
				text[k] = 'a' + (k * 7 + i) % 26;
			text[lens[i]] = '\0';
			id = names__intern(&n, text);
			CHECK(id != 0);
			CHECK(drain(max, id, out) == (int)((lens[i] + 115) / 116));
			CHECK(!strcmp(out, text));
		}
	}
	/* No byte of another name or of the stack behind the text. */
	names__intern(&n, "tail");
	memset(&piece, 0xff, sizeof(piece));
	CHECK(names__send(&n, &piece, 1) == 1 && piece.len == 4);
	for (size_t k = piece.len; k < sizeof(piece.text); k++)
		CHECK(!piece.text[k]);
	CHECK(!piece.reserved);
}

/* Never cut: a text that is too long has no id, and is counted. */
T(too_long_is_counted)
{
	static char text[NAMES_TEXT_MAX + 2];

	fresh();
	memset(text, 'x', NAMES_TEXT_MAX + 1);
	CHECK(names__intern(&n, text) == 0 && n.lost == 1);
	names__begin(&n, 2);
	CHECK(n.lost == 0);
}

T(full_table_is_counted)
{
	char text[32], out[64];

	fresh();
	for (int i = 0; i < NAMES_MAX; i++) {
		snprintf(text, sizeof(text), "_Z6kernel%dv", i);
		CHECK(names__intern(&n, text) == (__u32)i + 1);
	}
	CHECK(names__intern(&n, "_Z4morev") == 0 && names__intern(&n, "_Z4morev") == 0);
	CHECK(n.lost == 2);
	CHECK(names__intern(&n, "_Z6kernel77v") == 78);
	CHECK(drain(64, NAMES_MAX, out) == NAMES_MAX);
	CHECK(!strcmp(out, "_Z6kernel8191v"));
}

T(full_text_is_counted)
{
	static char text[NAMES_TEXT_MAX + 1];
	__u32 last = 0, id;

	fresh();
	memset(text, 'y', NAMES_TEXT_MAX);
	for (int i = 0; i < 64; i++) {
		text[0] = 'A' + i;
		id = names__intern(&n, text);
		last = id ? id : last;
	}
	CHECK(last == NAMES_BYTES / (NAMES_TEXT_MAX + 1) && n.lost == 64 - last);
	CHECK(n.used <= NAMES_BYTES);
	/* What still fits goes in. */
	CHECK(names__intern(&n, "_Z5smallv") == last + 1);
}

#define HAMMER 4000

static void *hammer(void *arg)
{
	char text[300];

	(void)arg;
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < HAMMER / 20 * (round + 1); i++) {
			memset(text, 'k', sizeof(text));
			snprintf(text + 250, sizeof(text) - 250, "%d", i);
			names__intern(&n, text);
		}
	return NULL;
}

/* One thread decodes while the other sends: each text arrives once, whole. */
T(two_threads)
{
	static unsigned char seen[HAMMER + 1];
	struct gpubpf_name piece[7];
	pthread_t t;
	int done = 0;
	size_t k;

	fresh();
	memset(seen, 0, sizeof(seen));
	if (pthread_create(&t, NULL, hammer, NULL)) {
		CHECK(!"pthread_create");
		return;
	}
	while (done < HAMMER * 3) {
		k = names__send(&n, piece, 7);
		for (size_t i = 0; i < k; i++, done++) {
			int number;

			if (piece[i].part != 2)
				continue;
			number = atoi(piece[i].text + 250 - 232);
			CHECK(number >= 0 && number < HAMMER);
			seen[number >= 0 && number < HAMMER ? number : HAMMER]++;
		}
	}
	pthread_join(t, NULL);
	for (int i = 0; i < HAMMER; i++)
		CHECK(seen[i] == 1);
	CHECK(names__send(&n, piece, 7) == 0);
}

TEST_MAIN
