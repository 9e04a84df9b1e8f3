# SPDX-License-Identifier: GPL-2.0-or-later
# What takes long: an hour of records. `make test` runs the short form.
LONG := tests/long/test_memory.sh
EXTRA_TESTS += $(LONG)

test-long: $(B)/gpubpf sim ## run a job of an hour's records, in minutes: its memory and the recorder's stay flat
	@B='$(abspath $(B))' GPUBPF='$(abspath $(B))/gpubpf' SIM='$(abspath $(SIM))' tests/long/test_memory.sh hour
.PHONY: test-long
