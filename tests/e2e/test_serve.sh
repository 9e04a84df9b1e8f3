#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# `gpubpf timeline --serve` and `--open`: who may ask, for what, and that nothing listens any more at the end.
. tests/e2e/lib.sh

"$B/tests/tools/mkcapture" --calls 20000 "$T/cap" >/dev/null && "$GPUBPF" timeline -q "$T/cap" -o "$T/want" || {
	not_ok serve_scene "status $?"
	exit 1
}
"$GPUBPF" timeline -q --serve --serve-for 1ms "$T/cap" >/dev/null 2>"$T/err" || {
	grep -q 'without libevent' "$T/err" && { echo 'skip serve: libevent'; exit 0; }
}

run_path=$PATH
# start NAME ARG…: a server in the background; its address in $url, its process in $server
start()
{
	local name=$1
	shift
	rm -f "$T/$name.url"
	PATH=$run_path "$GPUBPF" timeline "$@" >"$T/$name.url" 2>"$T/$name.err" &
	server=$!
	wait_for 20 test -s "$T/$name.url"
	url=$(cat "$T/$name.url")
}

ask() # CASE [FILE]; adds to `bad`
{
	local out
	out=$(python3 tests/e2e/serve_check.py "$1" "$url" "${2:-$T/want}" 2>&1)
	[ -z "$out" ] || bad+=("$out")
}

# ends STATUS [NAME]: the server has ended, with this status, and nothing listens
ends()
{
	local got
	wait_for 10 bash -c "! kill -0 $server 2>/dev/null" || { bad+=("does not end"); kill -9 "$server"; }
	wait "$server"
	got=$?
	[ $got = "$1" ] || bad+=("status $got, not $1: $(cat "$T/$2.err")")
	ask gone
}

start all --serve "$T/cap"
for c in trace token host origin ranges methods full; do
	bad=()
	ask $c
	result serve_${c}_R51 "${bad[@]}"
done

serve_listens_on_loopback_alone()
{
	local bad=() port=${url%/*} hex
	port=${port%/*} port=${port##*:}
	hex=$(printf %04X "$port")
	# address in the order of its bytes in memory
	[ "$(awk -v p=":$hex" '$4 == "0A" && $2 ~ p "$" { print $2 }' /proc/net/tcp)" = "$(printf %08X $((0x0100007F))):$hex" ] ||
		bad+=("$(cat /proc/net/tcp)")
	[ ! -r /proc/net/tcp6 ] || ! awk '$4 == "0A" { print $2 }' /proc/net/tcp6 | grep ":$hex\$" || bad+=('IPv6')
	[ "$(wc -l <"$T/all.url")" = 1 ] || bad+=('more than one line')
	[[ $url =~ ^http://127\.0\.0\.1:[0-9]+/[a-z2-7]{26}/$ ]] || bad+=("$url")
	ls -l "/proc/$server/fd" | grep -q '(deleted)' || bad+=('the trace has a name')
	result serve_listens_on_loopback_alone_R51 "${bad[@]}"
}
serve_listens_on_loopback_alone

serve_ends_with_signals()
{
	local bad=() s
	kill -INT "$server"
	ends 0 all
	for s in TERM HUP; do
		start $s --serve "$T/cap"
		kill -$s "$server"
		ends 0 $s
	done
	# a client in the middle of it holds nobody up
	start busy --serve "$T/cap"
	python3 - "$url" <<'END' &
import socket, sys, time
from urllib.parse import urlsplit
u = urlsplit(sys.argv[1])
s = socket.create_connection((u.hostname, u.port))
s.sendall(f"GET {u.path}trace HTTP/1.1\r\nHost: {u.netloc}\r\n\r\n".encode())
s.recv(10)
time.sleep(20)
END
	local client=$!
	ask fetch
	kill -TERM "$server"
	ends 0 busy
	kill $client
	wait $client
	result serve_ends_with_signals_R51 "${bad[@]}"
}
serve_ends_with_signals

serve_ends_with_its_terminal()
{
	local bad=()
	python3 - "$GPUBPF" "$T/cap" "$T/tty" <<'END' >"$T/out" 2>&1 || bad+=("$(cat "$T/out")")
import os, pty, subprocess, sys, time
# in a session of its own that has no controlling terminal: no SIGHUP comes, the terminal just ends
lead, follow = pty.openpty()
p = subprocess.Popen([sys.argv[1], "timeline", "-q", "--serve", sys.argv[2]], stdin=follow, stderr=follow,
                     stdout=open(sys.argv[3], "wb"), start_new_session=True)
os.close(follow)
for _ in range(1000):
    if os.path.getsize(sys.argv[3]):
        break
    time.sleep(0.02)
assert p.poll() is None
os.close(lead)
sys.exit(p.wait(20))
END
	url=$(cat "$T/tty")
	ask gone
	result serve_ends_with_its_terminal_R51 "${bad[@]}"
}
serve_ends_with_its_terminal

serve_ends_in_time()
{
	local bad=()
	start time --serve --serve-for 300ms "$T/cap"
	ends 0 time
	result serve_ends_in_time_R51 "${bad[@]}"
}
serve_ends_in_time

serve_of_a_file()
{
	local bad=() f
	for f in pftrace pftrace.gz json; do
		start file --serve -o "$T/out.$f" "$T/cap"
		"$GPUBPF" timeline -q "$T/cap" -o "$T/again.$f"
		cmp -s "$T/out.$f" "$T/again.$f" || bad+=("$f")
		ask fetch "$T/again.$f"
		if [ $f = json ]; then
			# a new file of that name is another one; what is written into this one is seen
			mv "$T/out.json" "$T/moved" && echo >"$T/out.json"
			ask fetch "$T/again.$f"
			echo >>"$T/moved"
			ask changed
		fi
		kill "$server"
		ends 0 file
	done
	result serve_of_a_file_R51 "${bad[@]}"
}
serve_of_a_file

# A stand-in for the desktop's opener: says who it is and what it was given, and looks at the page as a browser does.
# Not in $T: another user has to reach it.
desk=$(mktemp -d /tmp/gpubpf-desk.XXXXXX)
trap 'rm -rf "$desk"' EXIT
mkdir "$desk/bin"
cat >"$desk/bin/xdg-open" <<'END'
#!/bin/sh
null=$(ls -l /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2 | grep -c /dev/null)
{ echo "$#" "$1"; id -u; id -G; echo "$HOME"; echo "$null"
  ps -o sid= -p $$ | grep -qx " *$$" && echo leader; } >"$OPENED.tmp" 2>&1
mv "$OPENED.tmp" "$OPENED"
END
chmod 755 "$desk" "$desk/bin" "$desk/bin/xdg-open"
mkdir -m 777 "$desk/shared"

serve_opens_a_browser()
{
	local bad=()
	export OPENED=$desk/shared/opened
	local run_path=$desk/bin:$PATH
	start open --open "$T/cap"
	wait_for 10 test -s "$OPENED" || bad+=('nothing was opened')
	[ "$(head -n 1 "$OPENED")" = "1 $url" ] || bad+=("$(cat "$OPENED")")
	[ "$(tail -n 2 "$OPENED" | tr '\n' ' ')" = '3 leader ' ] || bad+=("$(cat "$OPENED")")
	# what is no whole trace does not end it
	ask part
	kill -0 "$server" || bad+=('it ended before the trace was fetched')
	ask fetch
	ends 0 open
	grep -q 'was fetched' "$T/open.err" || bad+=("$(cat "$T/open.err")")
	# both: until it is told to end
	start both --open --serve -q "$T/cap"
	ask fetch
	ask fetch
	kill -0 "$server" || bad+=('--serve ended')
	kill "$server"
	ends 0 both
	[ ! -s "$T/both.err" ] || bad+=("quiet: $(cat "$T/both.err")")
	mkdir -p "$T/none"
	run_path=$T/none
	start none --open "$T/cap"
	wait_for 10 grep -q 'warning: no browser was opened (xdg-open: No such file' "$T/none.err" || bad+=("none: $(cat "$T/none.err")")
	ask fetch
	ends 0 none
	result serve_opens_a_browser_R51 "${bad[@]}"
}
serve_opens_a_browser

serve_opens_for_the_user_of_sudo()
{
	local bad=() run_path
	[ "$(id -u)" = 0 ] || { echo 'skip serve_opens_for_the_user_of_sudo: root'; return; }
	rm -f "$OPENED"
	run_path=$desk/bin:$PATH
	SUDO_UID=65534 SUDO_GID=65534 start sudo --open "$T/cap"
	wait_for 10 test -s "$OPENED" || bad+=('nothing was opened')
	[ "$(sed -n 2,4p "$OPENED" | tr '\n' ' ')" = "65534 65534 $(awk -F: '$3 == 65534 { print $6 }' /etc/passwd) " ] ||
		bad+=("$(cat "$OPENED")")
	kill "$server"
	ends 0 sudo
	result serve_opens_for_the_user_of_sudo_R51 "${bad[@]}"
}
serve_opens_for_the_user_of_sudo

# Links of the viewer: its own times, which clock pairs make of ours; the last pair is inside the second execution.
serve_focus()
{
	local bad=() kernel='<void f<int>(float&)> "x"'
	printf '%s\n' arm 'wall 1760000000000000000' "name 1 $kernel" 'wait 5000' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' \
		'ran kernel 2000 100000 name 1' 'wait 500000' 'wall 1760000000000600123' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0' 'seen launch' \
		'ran kernel 2000 300000 name 1' 'wait 100000' 'wall 1760000000000900456' 'wait 500000' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0x7 0 0' 'seen launch' \
		'ran kernel 0 0 name 1 stream 8 start 5000000 end 5001500' 'cuLaunchKernel 0x5000 1 1 1 32 1 1 0 0x7 0 0' 'seen launch' 'ran kernel 0 0 name 1 stream 9 start 5000000 end 5001500' 'wait 5000000' disarm | "$B/tests/tools/mkscene" "$T/clocks"
	for n in 1 2; do
		start focus --serve "$T/clocks" --focus-kernel "$kernel" --focus-occurrence $n
		printf '%s\n' kernel "$kernel" $n >"$T/focus"
		ask focus "$T/focus"
		kill "$server"
		ends 0 focus
		grep -q '^the view opens at visStart=1[0-9]*&visEnd=1[0-9]*&ts=1[0-9]*&dur=[0-9]*$' "$T/focus.err" || bad+=("$(cat "$T/focus.err")")
	done
	# two that begin and end together: seen, and not selected
	start twins --serve "$T/clocks" --focus-kernel "$kernel" --focus-occurrence 4
	printf '%s\n' twins >"$T/focus"
	ask focus "$T/focus"
	grep -q 'warning: 1 other events begin and end with' "$T/twins.err" || bad+=("$(cat "$T/twins.err")")
	kill "$server"
	ends 0 twins
	start time --serve -q "$T/clocks" --focus-from 1us --focus-to 400us
	printf '%s\n' time 1000 400000 >"$T/focus"
	ask focus "$T/focus"
	kill "$server"
	ends 0 time
	[ ! -s "$T/time.err" ] || bad+=("quiet: $(cat "$T/time.err")")
	# what a budget leaves out cannot be shown
	local kept=0 left=0
	"$B/tests/tools/mkdevice" --calls 600 "$T/many" >/dev/null
	kernel='kernel(float*, int)'
	for n in 1 9 21 33 50; do
		if "$GPUBPF" timeline -q --serve --serve-for 1ms --max-output-bytes 100K "$T/many" --focus-kernel "$kernel" --focus-occurrence $n \
			>"$T/out" 2>"$T/err"; then kept=1; else
			grep -q -- '--max-output-bytes left this execution of' "$T/err" && [ ! -s "$T/out" ] && left=1 || bad+=("$n: $(cat "$T/err")")
		fi
	done
	[ $kept$left = 11 ] || bad+=("budget: kept $kept, left out $left")
	"$GPUBPF" timeline -q --serve -o "$T/x.json" "$T/clocks" --focus-from 0 --focus-to 1us >"$T/out" 2>"$T/err"
	[ $? = 2 ] && grep -q "needs Perfetto's format" "$T/err" && [ ! -e "$T/x.json" ] || bad+=("chrome: $(cat "$T/err")")
	result serve_focus_R52 "${bad[@]}"
}
serve_focus

# What a build of the Perfetto UI is laid out like, and what is not to be served of it.
make_viewer() # FOLDER
{
	local v=$1/v9
	mkdir -p "$v/assets"
	printf '%s\n' '<!doctype html>' "<body data-perfetto_version='{\"canary\": \"v10\", \"stable\": \"v9\"}'>" >"$1/index.html"
	echo '{"resources": {"frontend_bundle.js": "sha256-a", "assets/logo.svg": "sha256-b"}, "version": "v9-abc.1"}' >"$v/manifest.json"
	echo 'say("hello")' >"$v/frontend_bundle.js"
	echo 'p { color: red }' >"$v/frontend.css"
	head -c 700001 /dev/urandom >"$v/trace_processor.wasm"
	echo font >"$v/assets/Roboto.woff2"
	echo '<svg/>' >"$v/assets/logo.svg"
	echo png >"$v/assets/logo-128.png"
	: >"$v/assets/empty.data"
	# none of these
	echo no >"$1/.hidden"
	echo no >"$v/.hidden"
	ln -s /etc/passwd "$v/passwd"
	ln -s frontend_bundle.js "$v/link.js"
	ln -s v9 "$1/linked"
	echo no >"$v/odd name.js"
	mkfifo "$v/pipe"
}
viewer_files='index.html v9/manifest.json v9/frontend_bundle.js v9/frontend.css v9/trace_processor.wasm v9/assets/Roboto.woff2 v9/assets/logo.svg
	v9/assets/logo-128.png v9/assets/empty.data'

serve_ui()
{
	local bad=() dir=$T/ui
	make_viewer "$dir"
	sed -i 's/"v9"/"v9-abc.1"/' "$dir/index.html" && mv "$dir/v9" "$dir/v9-abc.1"
	rm "$dir/linked" && ln -s v9-abc.1 "$dir/linked"
	start ui --serve --ui-dir "$dir" "$T/cap"
	echo "viewer: $dir/index.html, revision v9-abc.1, v9-abc.1/manifest.json with CRC-32C $(python3 - "$dir/v9-abc.1/manifest.json" <<'END'
import sys
crc = 0xffffffff
for b in open(sys.argv[1], "rb").read():
    crc ^= b
    for _ in range(8):
        crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
print(f"{crc ^ 0xffffffff:08x}")
END
	); 9 files, 684 KiB, as they are now; not served: 7 (hidden, links, names to be quoted)" | diff - <(head -n 1 "$T/ui.err") >"$T/diff" ||
		bad+=("$(cat "$T/diff")")
	echo later >"$dir/later.js"
	{ echo "$dir"; echo "${viewer_files//v9/v9-abc.1}"; } >"$T/list"
	ask ui "$T/list"
	grep -q warning "$T/ui.err" && bad+=("$(cat "$T/ui.err")")
	kill "$server"
	ends 0 ui
	# the page of a revision by itself, and an opener: the trace may be there before the viewer is
	mkdir "$T/pinned" && cp -r "$dir/v9-abc.1/." "$T/pinned" && sed 's/"stable": "[^"]*"/"filled_by_build_js": "."/' "$dir/index.html" >"$T/pinned/index.html"
	export OPENED=$desk/shared/opened
	local run_path=$desk/bin:$PATH
	start pinned --open --ui-dir "$T/pinned" -q "$T/cap"
	ask fetch
	ask fetch
	kill "$server"
	ends 0 pinned
	[ ! -s "$T/pinned.err" ] || bad+=("quiet: $(cat "$T/pinned.err")")
	rm "$T/pinned/assets/logo.svg"
	start less --serve --ui-dir "$T/pinned" "$T/cap"
	grep -q 'warning: .* lacks 1 files that its manifest lists, the first assets/logo.svg$' "$T/less.err" &&
		grep -q 'index.html, revision v9-abc.1, manifest.json with' "$T/less.err" || bad+=("$(cat "$T/less.err")")
	kill "$server"
	ends 0 less
	result serve_ui_R51 "${bad[@]}"
}
serve_ui

# Frozen at the start: whatever is not what it was is refused, counted and said.
serve_ui_changed()
{
	local bad=() dir=$T/changed n
	make_viewer "$dir"
	# written through a mapping whose page is dirty already: no time changes
	mkfifo "$T/go" "$T/done"
	python3 - "$dir/v9/trace_processor.wasm" "$T/go" "$T/done" <<'END' &
import mmap, sys
f = open(sys.argv[1], "r+b")
m = mmap.mmap(f.fileno(), 0)
m[600000] ^= 1
open(sys.argv[3], "w").close()
open(sys.argv[2]).read()
m[600001] ^= 1
open(sys.argv[3], "w").close()
END
	local writer=$!
	cat "$T/done"
	start changed --serve --ui-dir "$dir" "$T/cap"
	: >"$T/go"
	cat "$T/done"
	wait $writer
	echo v9/trace_processor.wasm >"$T/list"
	ask broken_off "$T/list"
	echo more >>"$dir/v9/frontend_bundle.js"
	cp "$dir/index.html" "$dir/new" && mv "$dir/new" "$dir/index.html"
	rm "$dir/v9/frontend.css"
	mv "$dir/v9/manifest.json" "$T/outside.json" && ln -s "$T/outside.json" "$dir/v9/manifest.json"
	touch "$dir/v9/assets/empty.data"
	echo 'index.html v9/frontend_bundle.js v9/frontend.css v9/manifest.json v9/assets/empty.data' >"$T/list"
	ask refused "$T/list"
	cp -r "$dir/v9/assets" "$T/assets" && rm -r "$dir/v9/assets" && ln -s "$T/assets" "$dir/v9/assets"
	echo 'v9/assets/logo.svg' >"$T/list"
	ask refused "$T/list"
	ask fetch
	kill "$server"
	ends 0 changed
	n=$(grep -c 'warning: .*/changed/.* was changed since the start, and is refused' "$T/changed.err")
	[ "$n" = 7 ] && grep -q 'warning: refused 7 requests for changed files' "$T/changed.err" || bad+=("$n: $(cat "$T/changed.err")")
	result serve_ui_changed_R51 "${bad[@]}"
}
serve_ui_changed

serve_ui_refuses()
{
	local bad=() how want
	while IFS='|' read -r how want; do
		rm -rf "$T/ui"
		make_viewer "$T/ui"
		(cd "$T/ui" && eval "$how")
		"$GPUBPF" timeline -q --serve --serve-for 1s --ui-dir "$T/ui" -o "$T/never" "$T/cap" >"$T/out" 2>"$T/err"
		[ $? = 1 ] && grep -qF -- "$want" "$T/err" && [ ! -s "$T/out" ] && [ ! -e "$T/never" ] || bad+=("$how: $(cat "$T/err" "$T/out")")
	done <<-END
		rm index.html|has no entry point, a file index.html (No such file or directory)
		mv index.html x.html; ln -s x.html index.html|has no entry point, a file index.html (it is a symbolic link)
		rm index.html; mkfifo index.html|has no entry point
		rm v9/manifest.json|has no revision manifest v9/manifest.json (No such file
		sed -i s/v9/v8/ index.html|has no revision manifest v8/manifest.json
		sed -i s/stable/other/ index.html|has no revision manifest manifest.json
		sed -i s,\"v9\",\"../ui/v9\", index.html|has no revision manifest manifest.json
		echo [] >v9/manifest.json|v9/manifest.json is no revision manifest
		echo '{"resources": {}' >v9/manifest.json|v9/manifest.json is no revision manifest
		mv v9 ../elsewhere.\$\$; ln -s ../elsewhere.\$\$ v9|is not in the directory itself
		rm -r * .hidden; cd ..; rmdir ui|No such file or directory
		mkdir -p a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a|holds more than a viewer
		truncate -s 1100M v9/frontend.css|holds more than a viewer
	END
	"$GPUBPF" timeline --ui-dir "$T" -o "$T/never" "$T/cap" 2>"$T/err"
	[ $? = 2 ] && grep -q -- '--ui-dir go with --serve' "$T/err" || bad+=("$(cat "$T/err")")
	result serve_ui_refuses_R51 "${bad[@]}"
}
serve_ui_refuses

serve_refuses()
{
	local bad=() args status want
	while IFS='|' read -r want status args; do
		# shellcheck disable=SC2086
		"$GPUBPF" timeline $args "$T/cap" >"$T/out" 2>"$T/err"
		[ $? = "$status" ] && grep -qF -- "$want" "$T/err" && [ ! -s "$T/out" ] || bad+=("$args: $(cat "$T/err")")
	done <<-END
		--serve|2|
		--serve|2|--port 80 -o $T/x
		--port takes|2|--serve --port 65536
		--serve-for takes|2|--serve --serve-for 0
		only a regular file|2|--serve -o -
		only a regular file|2|--serve -o /dev/null
	END
	"$GPUBPF" timeline --serve "$T/nothing" >"$T/out" 2>"$T/err"
	[ $? = 1 ] && [ ! -s "$T/out" ] || bad+=('no capture')
	start one --serve "$T/cap"
	local port=${url%/*}
	port=${port%/*} port=${port##*:}
	"$GPUBPF" timeline --serve --port "$port" -o "$T/never" "$T/cap" >"$T/out" 2>"$T/err"
	[ $? = 1 ] && grep -q "port $port is in use" "$T/err" && [ ! -e "$T/never" ] || bad+=("$(cat "$T/err")")
	kill "$server"
	ends 0 one
	start two --serve --port "$port" "$T/cap"
	[[ $url == http://127.0.0.1:$port/* ]] || bad+=("$url")
	kill "$server"
	ends 0 two
	"$GPUBPF" timeline --serve "$T/cap" >/dev/full 2>"$T/err"
	[ $? = 1 ] && grep -q 'standard output' "$T/err" || bad+=("full: $(cat "$T/err")")
	result serve_refuses_R51 "${bad[@]}"
}
serve_refuses
