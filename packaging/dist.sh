#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dist.sh PROGRAM SHIM DOC TARBALL EPOCH: packs a release. The same inputs give the same bytes.
set -euo pipefail
program=$1 shim=$2 doc=$3 tarball=$4 epoch=$5
export LC_ALL=C

name=$(basename "$tarball" .tar.gz)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
top=$work/$name

packaging/install-tree.sh "$program" "$shim" "$doc" "$top"
for file in LICENSE LICENSE.BSD README.md; do
	[ ! -f "$file" ] || install -m 644 "$file" "$top/$file"
done
install -m 755 packaging/install.sh "$top/install.sh"
(cd "$top" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort | xargs sha256sum >SHA256SUMS)

mkdir -p "$(dirname "$tarball")"
tar --sort=name --format=gnu --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
	-C "$work" -cf - "$name" | gzip -9n >"$tarball.tmp"
mv "$tarball.tmp" "$tarball"
printf '%s  %s bytes  sha256 %s\n' "$tarball" "$(stat -c %s "$tarball")" "$(sha256sum "$tarball" | cut -d ' ' -f 1)"
