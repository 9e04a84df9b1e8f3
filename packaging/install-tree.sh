#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# install-tree.sh PROGRAM SHIM DOC PREFIX: puts program, shim, man pages and completions under PREFIX.
set -euo pipefail
program=$1 shim=$2 doc=$3 prefix=$4

install -d "$prefix/bin"
install -m 755 "$program" "$prefix/bin/gpubpf"
# Under its name only when whole, as a new file: running processes keep the one that they have mapped.
install -d "$prefix/lib/gpubpf"
install -m 755 "$shim" "$prefix/lib/gpubpf/.libgpubpf-shim.so.new"
mv -f "$prefix/lib/gpubpf/.libgpubpf-shim.so.new" "$prefix/lib/gpubpf/libgpubpf-shim.so"
(cd "$doc" && find . -type f ! -name '.*') | sed 's|^\./||' | while IFS= read -r file; do
	install -D -m 644 "$doc/$file" "$prefix/share/$file"
done
