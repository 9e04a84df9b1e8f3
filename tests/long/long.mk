# SPDX-License-Identifier: GPL-2.0-or-later
# What takes long: an hour of records. `make test` runs the short form.
LONG := tests/long/test_memory.sh tests/long/test_exports.sh
EXTRA_TESTS += $(LONG)

test-long: $(B)/gpubpf sim tools ## a job of an hour's records, its memory and the recorder's; 10 million calls in every form of export
	@B='$(abspath $(B))' GPUBPF='$(abspath $(B))/gpubpf' SIM='$(abspath $(SIM))' tests/long/test_memory.sh hour
	@B='$(abspath $(B))' GPUBPF='$(abspath $(B))/gpubpf' SIM='$(abspath $(SIM))' tests/long/test_exports.sh 10000000
.PHONY: test-long
