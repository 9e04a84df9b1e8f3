#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# assemble.sh OUT.gz: the page's parts as one page, whose policy allows the script and the style that are in it and nothing else.
set -euo pipefail
here=${0%/*} out=$1
work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT

hash_of()
{
	# what stands between the tags begins with the end of their line
	{ echo; cat "$1"; } | sha256sum | cut -c 1-64 | tr a-f A-F | basenc --base16 -d | base64
}

{
	echo "(() => {"
	echo "'use strict';"
	cat "$here"/{data,rows,draw,panel,main}.js
	echo "})();"
} >"$work/js"
cp "$here/page.css" "$work/css"
sed -e "s|@CSS_HASH@|$(hash_of "$work/css")|" -e "s|@JS_HASH@|$(hash_of "$work/js")|" "$here/page.html" |
	sed -e "/^@CSS@$/{
r $work/css
d
}" -e "/^@JS@$/{
r $work/js
d
}" | gzip -9n >"$work/gz"
mv "$work/gz" "$out"
