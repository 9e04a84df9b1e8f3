// SPDX-License-Identifier: GPL-2.0-or-later
// The events of the capture: unpacked from the page, decoded (user/timeline/columns.c describes them), and put into
// columns that are sorted by row and, in a row, by start.

const SLICE = 0, OPEN = 1, CLOSE = 2, INSTANT = 3, SAMPLE = 4;
const SKELETON = 0, CALL = 1, GPU = 2, MODULE = 3, MARK = 4, SEMANTIC = 5, PRESENTATION = 6, NVTX = 7;
const CLASSES = ['capture', 'API call', 'GPU', 'module load', 'mark', 'of the sidecar', 'shown once more', 'NVTX'];
const PROCESS = 0, THREAD = 1, GROUP = 2, LANE = 3, COUNTER = 4;
const ARG_INT = 1, ARG_BOOL = 2, ARG_POINTER = 3, ARG_VALUE = 4, ARG_TEXT = 5, ARG_DOUBLE = 6;
const NONE = 0xffffffff;

// Nothing in a name reorders, hides or breaks the text around it.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const clean = s => s.replace(UNSEEN, c => `\\u{${c.codePointAt(0).toString(16)}}`);

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const s = atob(text), b = new Uint8Array(s.length);
	for (let i = 0; i < b.length; i++)
		b[i] = s.charCodeAt(i);
	return b;
}

async function unpack() {
	if (typeof DecompressionStream === 'undefined')
		throw new Error('this browser cannot unpack the page (no DecompressionStream): use Chromium 80, Firefox 113, Safari 16.4 or newer');
	const stream = new DecompressionStream('deflate');
	const writer = stream.writable.getWriter(), reader = stream.readable.getReader();
	const feed = async () => {
		for (const part of document.querySelectorAll('script[type="application/octet-stream"]')) {
			const bytes = fromBase64(part.textContent);
			part.remove();
			await writer.write(bytes);
		}
		await writer.close();
	};
	const fed = feed().catch(e => writer.abort(e).catch(() => 0));
	const chunks = [];
	let n = 0;
	for (let r; !(r = await reader.read()).done; n += r.value.length)
		chunks.push(r.value);
	await fed;
	const all = new Uint8Array(n);
	n = 0;
	for (const c of chunks) {
		all.set(c, n);
		n += c.length;
	}
	return all;
}

class Reader {
	constructor(bytes, at = 0) {
		this.b = bytes;
		this.p = at;
	}
	num() {
		const b = this.b;
		let x = b[this.p++];
		if (x < 128)
			return x;
		let v = x & 127, m = 128;
		do {
			x = b[this.p++];
			v += (x & 127) * m;
			m *= 128;
		} while (x > 127);
		return v;
	}
	big() { // exact beyond 2^53
		let v = 0n, shift = 0n, x;
		do {
			x = this.b[this.p++];
			v |= BigInt(x & 127) << shift;
			shift += 7n;
		} while (x > 127);
		return v;
	}
	text() {
		const n = this.num();
		this.p += n;
		return clean(new TextDecoder().decode(this.b.subarray(this.p - n, this.p)));
	}
	texts() {
		const list = [''];
		for (let n = this.num(); n; n--)
			list.push(this.text());
		return list;
	}
	skip(n) {
		this.p += n;
		return this.b.subarray(this.p - n, this.p);
	}
}

const unzig = v => v % 2 ? -(v + 1) / 2 : v / 2;

class Growing {
	constructor() {
		this.n = 0;
		this.v = new Float64Array(256);
	}
	push(x) {
		if (this.n === this.v.length) {
			const v = new Float64Array(this.n * 2);
			v.set(this.v);
			this.v = v;
		}
		this.v[this.n++] = x;
	}
	done() {
		return this.v.subarray(0, this.n);
	}
}

function readHead(r) {
	const magic = new TextDecoder().decode(r.skip(14));
	if (magic !== 'gpubpf page 1\n')
		throw new Error('the data of this page is not what its script reads');
	const t = { about: {}, bytes: r.b };
	for (let key; (key = r.text());) {
		const n = r.num();
		t.about[key] = new TextDecoder().decode(r.skip(n));
	}
	t.keys = r.texts();
	t.names = r.texts();
	t.values = r.texts();
	t.tracks = [];
	for (let n = r.num(); n; n--)
		t.tracks.push({ kind: r.num(), parent: r.num() - 1, pid: r.num(), tid: r.num(), life: r.num(), unit: r.num(), name: r.text(),
			rows: [], instants: -1, samples: null, children: [] });
	t.presets = [];
	for (let n = r.num(); n; n--) {
		const bytes = r.num();
		t.presets.push({ at: r.p, end: r.p + bytes });
		r.skip(bytes);
	}
	return t;
}

// Depth in a track: calls inside calls are opened and closed, all else stands for itself.
function readEvents(t, r) {
	const room = r.num() + 64, b = r.b;
	const c = { start: new Float64Array(room), end: new Float64Array(room), row: new Uint32Array(room), name: new Uint32Array(room),
		head: new Uint8Array(room), timing: new Uint8Array(room), preset: new Uint32Array(room), work: new Uint32Array(room).fill(NONE),
		kernel: new Uint32Array(room), args: new Uint32Array(room) };
	const open = t.tracks.map(() => []), rows = [];
	let n = 0, head, events = 0;
	const rowOf = (track, depth) => {
		const k = t.tracks[track];
		if (depth < 0)
			return k.instants >= 0 ? k.instants : (k.instants = rows.push({ track, depth: 0, instants: true }) - 1);
		return k.rows[depth] ?? (k.rows[depth] = rows.push({ track, depth, instants: false }) - 1);
	};
	while ((head = b[r.p++]) !== 0xff) {
		const type = head & 7, cls = head >> 3 & 7, track = r.num(), start = unzig(r.num());
		if (head === undefined || track >= t.tracks.length)
			throw new Error('the data of this page ends early');
		if (type === SAMPLE) {
			const s = t.tracks[track].samples ??= { t: new Growing(), v: new Growing() };
			s.t.push(start);
			s.v.push(r.num());
			continue;
		}
		if (type === CLOSE) {
			const e = open[track].pop();
			c.end[e] = start;
			c.head[e] &= ~7;
			continue;
		}
		if (n === room)
			throw new Error('there are more events than the data says');
		c.head[n] = head;
		c.start[n] = start;
		c.end[n] = type === SLICE ? start + r.num() : type === OPEN ? Infinity : start;
		c.name[n] = r.num();
		c.timing[n] = r.num();
		c.preset[n] = r.num();
		if (head & 0xc0)
			c.work[n] = r.num();
		if (cls === CALL)
			c.kernel[n] = r.num();
		c.args[n] = r.p;
		const bytes = r.num();
		r.p += bytes;
		c.row[n] = rowOf(track, type === INSTANT ? -1 : open[track].length);
		if (type === OPEN)
			open[track].push(n);
		events += cls !== SKELETON;
		n++;
	}
	t.whole = r.num() === events;
	if (!t.whole)
		throw new Error('events are missing from the data of this page');
	t.rows = rows;
	return [c, n];
}

// Into the order of rows. Most rows come sorted.
function sortRows(t, c, n) {
	const from = new Uint32Array(t.rows.length + 1), order = new Uint32Array(n);
	for (let i = 0; i < n; i++)
		from[c.row[i] + 1]++;
	for (let r = 0; r < t.rows.length; r++)
		from[r + 1] += from[r];
	const at = from.slice();
	for (let i = 0; i < n; i++)
		order[at[c.row[i]]++] = i;
	for (let r = 0; r < t.rows.length; r++) {
		const part = order.subarray(from[r], from[r + 1]);
		let sorted = true;
		for (let i = 1; i < part.length && sorted; i++)
			sorted = c.start[part[i - 1]] <= c.start[part[i]];
		if (!sorted)
			part.sort((x, y) => c.start[x] - c.start[y] || x - y);
		t.rows[r].from = from[r];
		t.rows[r].to = from[r + 1];
	}
	for (const key in c) {
		const old = c[key], sorted = new old.constructor(n);
		for (let i = 0; i < n; i++)
			sorted[i] = old[order[i]];
		t[key] = sorted;
		delete c[key];
	}
	t.n = n;
	t.focus = t.about.focus_event === undefined ? -1 : order.indexOf(Number(t.about.focus_event));
}

function renumber(t) {
	const fresh = new Map();
	for (let i = 0; i < t.n; i++) {
		const w = t.work[i];
		if (w === NONE)
			continue;
		if (!fresh.has(w))
			fresh.set(w, fresh.size);
		t.work[i] = fresh.get(w);
	}
	return fresh.size;
}

function finish(t) {
	const n = t.n, busy = t.busy = new Float64Array(n + 1);
	let first = Infinity, last = -Infinity, works = 0;
	for (let i = 0; i < n; i++) {
		const cls = t.head[i] >> 3 & 7, end = t.end[i];
		busy[i + 1] = busy[i] + (end < Infinity ? end - t.start[i] : 0);
		if (t.work[i] !== NONE && t.work[i] >= works)
			works = t.work[i] + 1;
		if (cls === SKELETON)
			continue;
		if (t.start[i] < first)
			first = t.start[i];
		if (end > last && end < Infinity)
			last = end;
	}
	for (const k of t.tracks)
		if (k.samples) {
			k.samples = sampled(k.samples.t.done(), k.samples.v.done());
			first = Math.min(first, k.samples.t[0]);
			last = Math.max(last, k.samples.t[k.samples.t.length - 1]);
		}
	t.first = first < Infinity ? first : 0;
	t.last = last > t.first ? last : t.first + 1000;
	// which call asked for it, and what ran for a call
	if (works > 8 * n + 1024) // few of many calls are here: number them anew
		works = renumber(t);
	t.callOf = new Uint32Array(works).fill(NONE);
	const from = t.runsFrom = new Uint32Array(works + 1);
	for (let i = 0; i < n; i++) {
		const w = t.work[i];
		if (w >= works)
			continue;
		if (t.head[i] & 0x40)
			t.callOf[w] = i;
		else
			from[w + 1]++;
	}
	for (let w = 0; w < works; w++)
		from[w + 1] += from[w];
	const at = from.slice(), runs = t.runs = new Uint32Array(works ? from[works] : 0);
	for (let i = 0; i < n; i++)
		if (t.work[i] < works && !(t.head[i] & 0x40))
			runs[at[t.work[i]]++] = i;
}

// The highest of each 16, of each 16 of those, and so on: what a pixel shows costs the same at any zoom.
function sampled(t, v) {
	const levels = [v];
	while (levels[levels.length - 1].length > 16) {
		const below = levels[levels.length - 1], up = new Float64Array(Math.ceil(below.length / 16));
		for (let i = 0; i < below.length; i++)
			if (!(i & 15) || below[i] > up[i >> 4])
				up[i >> 4] = below[i];
		levels.push(up);
	}
	const top = levels[levels.length - 1].reduce((a, x) => Math.max(a, x), 0);
	return { t, v, levels, top };
}

function highest(s, i, j) { // of samples i … j - 1
	let top = 0;
	for (let level = 0; i < j; level++) {
		const v = s.levels[level];
		for (; i < j && (i & 15 || level + 1 === s.levels.length); i++)
			top = Math.max(top, v[i]);
		for (; i < j && j & 15; j--)
			top = Math.max(top, v[j - 1]);
		i >>= 4;
		j >>= 4;
	}
	return top;
}

function decode(bytes) {
	const r = new Reader(bytes), t = readHead(r), [c, n] = readEvents(t, r);
	sortRows(t, c, n);
	finish(t);
	for (const k of t.tracks) {
		k.about = k.instants >= 0 && !(t.head[t.rows[k.instants].from] >> 3 & 7); // the capture: no moment of it
		if (k.parent >= 0)
			t.tracks[k.parent].children.push(k);
	}
	return t;
}

function readArgs(t, at, end, to) {
	const r = new Reader(t.bytes, at);
	while (r.p < end) {
		const key = t.keys[r.num()], type = r.num();
		let v;
		if (type === ARG_TEXT)
			v = r.text();
		else if (type === ARG_VALUE)
			v = t.values[r.num()];
		else if (type === ARG_DOUBLE)
			v = String(new DataView(r.skip(8).slice().buffer).getFloat64(0, true));
		else
			v = r.big();
		if (type === ARG_INT)
			v = v & 1n ? -(v >> 1n) - 1n : v >> 1n;
		to.set(key, type === ARG_BOOL ? v !== 0n : type === ARG_POINTER ? '0x' + v.toString(16) : v);
	}
	return to;
}

// All that is known of an event beside its columns: Map of names to BigInt, boolean or text.
function argsOf(t, e) {
	const r = new Reader(t.bytes, t.args[e]), n = r.num(), to = new Map();
	const timing = t.presets[t.timing[e]], shared = t.presets[t.preset[e] - 1];
	if (shared)
		readArgs(t, shared.at, shared.end, to);
	readArgs(t, r.p, r.p + n, to);
	return readArgs(t, timing.at, timing.end, to);
}

// First of [from, to) whose value is ≥ x.
function lowerBound(v, x, from, to) {
	while (from < to) {
		const m = (from + to) >>> 1;
		if (v[m] < x)
			from = m + 1;
		else
			to = m;
	}
	return from;
}
