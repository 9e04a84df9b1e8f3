#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# install-tree.sh PROGRAM DOC PREFIX: puts program, man pages and completions under PREFIX.
set -euo pipefail
program=$1 doc=$2 prefix=$3

install -d "$prefix/bin"
install -m 755 "$program" "$prefix/bin/gpubpf"
(cd "$doc" && find . -type f ! -name '.*') | sed 's|^\./||' | while IFS= read -r file; do
	install -D -m 644 "$doc/$file" "$prefix/share/$file"
done
