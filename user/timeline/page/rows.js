// SPDX-License-Identifier: GPL-2.0-or-later
// Which lanes there are and where they stand, what things are called, and their colours.

const ROW = 19, GROUP_ROW = 24, COUNTER_ROW = 40, GAP = 3;

// Of kernels: told apart on light and dark, and readable under white.
const VIVID = ['#4a76cf', '#c96a2b', '#3a9268', '#b04f78', '#7f62c3', '#1f8fa3', '#a8821c', '#64872d', '#a856a0', '#56789f', '#9d5d3c', '#3c9488'];
const SOFT = ['#6d83b8', '#8a76b5', '#5f93a8', '#a0789c', '#77947a', '#a88a68'];
const CALLS = { launch: '#7189b3', copy: '#5f9a95', wait: '#bf7d72', memory: '#b39a5e', other: '#8d95a1' };
const COPIES = { h2d: '#2f9e83', d2h: '#d08a2e', d2d: '#7f9a3a', other: '#7d8f6a' };

function hash(s) {
	let h = 2166136261;
	for (let i = 0; i < s.length; i++)
		h = Math.imul(h ^ s.charCodeAt(i), 16777619);
	return (h ^ h >>> 15) >>> 0;
}

function colourOf(cls, name) {
	if (cls === GPU && name.startsWith('memcpy '))
		return COPIES[name.slice(7)] ?? COPIES.other;
	if (cls === GPU && name === 'memset')
		return '#85909f';
	if (cls === GPU || cls === PRESENTATION)
		return VIVID[hash(name) % VIVID.length];
	if (cls === MARK || cls === SKELETON)
		return '#cf5f4a';
	if (cls === NVTX || cls === SEMANTIC)
		return SOFT[hash(name) % SOFT.length];
	if (cls === MODULE)
		return '#8878a8';
	return /Launch/i.test(name) ? CALLS.launch : /Memcpy|Memset|copy|^set$/.test(name) ? CALLS.copy : /Synchronize|Wait|Query/.test(name) ? CALLS.wait :
		/Alloc|Free|MemPool/.test(name) ? CALLS.memory : CALLS.other;
}

// "void at::native::vectorized<4, F>(int, F)" in a narrow slice: "vectorized".
function shortName(name) {
	if (name.startsWith('<'))
		return name;
	let depth = 0, out = '';
	for (const c of name.replace(/^(void|static|int|float|auto) /, '').replace(/\(anonymous namespace\)::/g, '')) {
		if (c === '<')
			depth++;
		else if (c === '>')
			depth--;
		else if (c === '(' && !depth)
			break;
		else if (!depth)
			out += c;
	}
	return out.split('::').pop().trim() || name;
}

function trackLabel(t, k) {
	if (k.kind === PROCESS)
		return `${k.name || 'process'} ${k.pid}${k.life ? ` (life ${k.life + 1} of this pid)` : ''}`;
	if (k.kind === THREAD)
		return `thread ${k.tid}`;
	const row = / ?overlapping (\d+)$/.exec(k.name);
	return row ? `⤷ overlapping ${row[1]}` : k.name || 'no name';
}

function trackPath(t, k) {
	const parent = k.parent >= 0 ? trackPath(t, t.tracks[k.parent]) + ' › ' : '';
	return parent + trackLabel(t, k);
}

// GPUs come before threads, and what is about the capture last.
function order(k) {
	return k.kind === PROCESS ? 0 : k.kind === GROUP ? 1 : k.kind === COUNTER ? 2 : k.kind === THREAD || k.name.startsWith('NVTX') ? 3 : 4;
}

function shows(k) {
	return !k.about && (k.rows.length || k.instants >= 0 || k.samples || k.children.some(shows));
}

function makeLanes(t, closed) {
	const lanes = [];
	let y = 0;
	const add = (k, level, height) => {
		const lane = { track: k, level, y, height, label: trackLabel(t, k), parent: k.children.some(shows), closed: closed.has(k) };
		lanes.push(lane);
		y += height;
		return lane;
	};
	const visit = (k, level) => {
		if (!shows(k))
			return;
		const has = k.rows.length || k.instants >= 0;
		const lane = add(k, level, k.samples ? COUNTER_ROW : has ? Math.max(1, k.rows.length) * ROW + GAP : GROUP_ROW);
		lane.group = !has && !k.samples;
		if (lane.closed)
			return;
		const inner = k.children.filter(shows).sort((a, b) => order(a) - order(b)), only = inner.filter(c => c.kind === GROUP);
		if (k.kind === GROUP && only.length === 1) { // a device's only context needs no line of its own
			lane.label += ' · ' + only[0].name;
			inner.splice(0, 1, ...only[0].children.sort((a, b) => order(a) - order(b)));
		}
		inner.forEach(c => visit(c, level + 1));
	};
	t.tracks.filter(k => k.parent < 0).sort((a, b) => order(a) - order(b)).forEach(k => visit(k, 0));
	lanes.total = y + 12;
	return lanes;
}

// ---- Numbers for people ----

function three(v) {
	return v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2);
}

function fmtNs(ns) {
	const a = Math.abs(ns), sign = ns < 0 ? '−' : '';
	return sign + (a < 1000 ? `${Math.round(a)} ns` : a < 999500 ? `${three(a / 1e3)} µs` : a < 999.5e6 ? `${three(a / 1e6)} ms` : `${three(a / 1e9)} s`);
}

function fmtBytes(n) {
	const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
	let u = 0;
	for (; n >= 1023.5 && u < 6; u++)
		n /= 1024;
	return `${u ? three(n) : n} ${units[u]}`;
}

const fmtCount = n => n.toString().replace(/\B(?=(\d{3})+$)/g, ',');

// A moment of the capture, as exact as the view: so many ns per pixel.
function fmtAt(ns, step) {
	const [unit, of] = Math.abs(ns) >= 1e9 || step >= 1e8 ? ['s', 1e9] : Math.abs(ns) >= 1e6 || step >= 1e5 ? ['ms', 1e6] : ['µs', 1e3];
	const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(of / Math.max(step, 1)) - 1e-9)));
	return `${(ns / of).toFixed(digits)} ${unit}`;
}

// ---- Launch keys ----

// What ran, by launch key: copies and sets by what their records share. Untimed ones count and are in no time (R18, R19).
function tally(t) {
	const byKey = new Map(), rowOfPreset = new Map();
	t.keyOf = new Uint32Array(t.n).fill(NONE);
	const find = e => {
		const name = t.names[t.name[e]], set = t.presets[t.preset[e] - 1], args = set ? readArgs(t, set.at, set.end, new Map()) : new Map();
		const key = [name, ...[...args].filter(([k]) => k !== 'local_bytes_per_thread')].join('\0'); // R24
		let k = byKey.get(key);
		if (!k) {
			k = { number: byKey.size, name, args, colour: colourOf(GPU, name), count: 0, timed: 0,
				total: 0, min: Infinity, max: 0 };
			byKey.set(key, k);
		}
		return k;
	};
	for (let e = 0; e < t.n; e++) {
		if ((t.head[e] >> 3 & 7) !== GPU)
			continue;
		const mix = t.preset[e] ? t.preset[e] : -t.name[e];
		let k = rowOfPreset.get(mix);
		if (!k)
			rowOfPreset.set(mix, k = find(e));
		t.keyOf[e] = k.number;
		k.count++;
		let ns = t.end[e] - t.start[e];
		if ((t.head[e] & 7) === INSTANT) {
			const args = argsOf(t, e);
			if (!args.get('no_free_row')) // those have times, and no room to be drawn
				continue;
			ns = Number(args.get('duration_ns'));
		}
		k.timed++;
		k.total += ns;
		k.min = Math.min(k.min, ns);
		k.max = Math.max(k.max, ns);
	}
	const keys = [...byKey.values()];
	t.gpuTotal = keys.reduce((sum, k) => sum + k.total, 0);
	return keys;
}
