/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include "util/hmap.h"

struct entry {
	uint64_t key[2];
	uint64_t value;
};

T(entries_are_found_and_stay_where_they_are)
{
	enum { N = 20000 };
	struct hmap m;
	struct entry *first = NULL;

	hmap__init(&m, 16, sizeof(struct entry));
	CHECK(!hmap__get(&m, (uint64_t[2]){ 0, 0 }));
	for (uint64_t i = 0; i < N; i++) {
		uint64_t key[2] = { i << 12, i % 7 };
		struct entry *e = hmap__put(&m, key);

		CHECK(e && e->value == 0);
		e->value = i + 1;
		if (!i)
			first = e;
	}
	CHECK(m.n == N);
	for (uint64_t i = 0; i < N; i++) {
		struct entry *e = hmap__get(&m, (uint64_t[2]){ i << 12, i % 7 });

		CHECK(e && e->value == i + 1 && e == hmap__at(&m, i));
		CHECK(hmap__put(&m, (uint64_t[2]){ i << 12, i % 7 }) == e);
		CHECK(!hmap__get(&m, (uint64_t[2]){ i << 12, 8 }));
	}
	CHECK(m.n == N && hmap__at(&m, 0) == first && first->value == 1);
	hmap__clear(&m);
	CHECK(m.n == 0 && !hmap__get(&m, (uint64_t[2]){ 0, 0 }));
}

TEST_MAIN
