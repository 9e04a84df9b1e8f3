// SPDX-License-Identifier: GPL-2.0-or-later
// What stands around the lanes: verdict, table of launch keys, details. All text goes in as text, never as markup.

const $ = id => document.getElementById(id);

function el(tag, cls, ...parts) {
	const e = document.createElement(tag);
	if (cls)
		e.className = cls;
	e.append(...parts);
	return e;
}

function chip(colour) {
	const i = document.createElement('i');
	i.style.background = colour;
	return i;
}

// ---- Verdict: the words of `gpubpf report`, all of them and no other ----

function showVerdict(t) {
	const lines = t.about.head.replace(/\n$/, '').split('\n').map(clean), first = lines.shift(), word = t.about.verdict;
	const cutAt = first.startsWith(word + ': ') ? word.length : 0;
	$('word').textContent = first.slice(0, cutAt);
	$('word').className = t.about.healthy ? 'good' : '';
	$('headline').replaceChildren(el('i', '', first.slice(cutAt, cutAt && cutAt + 2)), first.slice(cutAt && cutAt + 2));
	let kind = '';
	$('reasons').replaceChildren(...lines.map(line => {
		kind = /^ +→/.test(line) ? 'remedy' : /^ {2}missing:/.test(line) ? 'missing' : /^ {3}/.test(line) ? kind : '';
		return el('div', kind, line);
	}));
	$('verdict').open = !t.about.healthy;
}

// ---- Launch keys ----

const triple = (args, name) => args.has(name + '_x') ? `${args.get(name + '_x')}×${args.get(name + '_y')}×${args.get(name + '_z')}` : '';
const sum = (...v) => v.some(x => x === undefined) ? null : Number(v.reduce((a, x) => a + x, 0n));
const COLUMNS = [
	['name', 'Kernel', k => k.name, null],
	['grid', 'Grid', k => triple(k.args, 'grid') || k.args.get('direction') || '', null],
	['block', 'Block', k => triple(k.args, 'block'), null],
	['cluster', 'Cluster', k => triple(k.args, 'cluster'), null],
	['regs', 'Regs', k => sum(k.args.get('registers_per_thread')), fmtCount],
	['shared', 'Shared', k => sum(k.args.get('static_shared_bytes'), k.args.get('dynamic_shared_bytes')), fmtBytes],
	['count', 'Count', k => k.count, fmtCount],
	['untimed', 'No time', k => k.count - k.timed, fmtCount],
	['total', 'Total', k => k.timed ? k.total : null, fmtNs],
	['share', 'Share', (k, t) => k.timed && t.gpuTotal ? k.total / t.gpuTotal : null, v => `${(100 * v).toFixed(1)} %`],
	['mean', 'Mean', k => k.timed ? k.total / k.timed : null, fmtNs],
	['min', 'Min', k => k.timed ? k.min : null, fmtNs],
	['max', 'Max', k => k.timed ? k.max : null, fmtNs],
];
const RARE = new Set(['cluster', 'untimed']);
const FIRST_ROWS = 300;

class Table {
	constructor(t, keys, onPick) {
		this.t = t;
		this.keys = keys;
		this.onPick = onPick;
		this.sort = 'total';
		this.down = true;
		this.shown = FIRST_ROWS;
		this.picked = null;
		this.columns = COLUMNS.filter(([id, , get]) => !RARE.has(id) || keys.some(k => get(k, t)));
		$('table-title').textContent = 'GPU work by launch key';
		$('table-note').textContent = t.about.no_device ? 'no device observer: what ran on a GPU was not measured' :
			!keys.length ? 'no execution was recorded' : 'times are of executions that have valid times; a click steps through them';
		this.head();
		this.fill();
	}
	head() {
		const row = document.querySelector('#table thead tr');
		row.replaceChildren(...this.columns.map(([id, title, , fmt]) => {
			const th = el('th', (fmt ? '' : 'l') + (id === this.sort ? ' on' : ''), title + (id === this.sort ? (this.down ? ' ↓' : ' ↑') : ''));
			th.tabIndex = 0;
			th.onclick = () => {
				this.down = id === this.sort ? !this.down : !!fmt;
				this.sort = id;
				this.head();
				this.fill();
			};
			return th;
		}));
	}
	fill() {
		const [, , get] = this.columns.find(c => c[0] === this.sort), { t } = this, sign = this.down ? -1 : 1;
		const value = k => get(k, t) ?? -1;
		const list = this.keys.slice().sort((a, b) => {
			const x = value(a), y = value(b);
			return (x < y ? -sign : x > y ? sign : 0) || a.number - b.number;
		});
		const rows = list.slice(0, this.shown).map(k => this.row(k));
		if (list.length > this.shown) {
			const td = el('td', '', `${fmtCount(list.length - this.shown)} more`), tr = el('tr', 'more', td);
			td.colSpan = this.columns.length;
			tr.onclick = () => {
				this.shown *= 4;
				this.fill();
			};
			rows.push(tr);
		}
		document.querySelector('#table tbody').replaceChildren(...rows);
	}
	row(k) {
		const tr = el('tr', k === this.picked ? 'on' : '', ...this.columns.map(([id, , get, fmt]) => {
			const v = get(k, this.t);
			if (id === 'name') {
				const td = el('td', 'name', chip(k.colour), k.name);
				td.title = k.name;
				return td;
			}
			if (v === null) // R14: a time that nobody measured is not 0
				return ['total', 'share', 'mean', 'min', 'max'].includes(id) ? el('td', 'none', 'not measured') : el('td', 'none', '-');
			return el('td', fmt ? '' : 'l', fmt ? fmt(v) : v || '-');
		}));
		tr.tabIndex = 0;
		tr.onclick = () => this.onPick(k);
		return tr;
	}
	pick(k) {
		this.picked = k;
		this.fill();
	}
}

// ---- Details ----

const SHAPES = ['grid', 'block', 'cluster'];
const WORDS = { link: 'join with its call', timing_source: 'timing source', timing_quality: 'timing quality', clock_domain: 'clock' };

function valueText(key, v) {
	if (typeof v !== 'bigint')
		return String(v);
	if (/_per_second$/.test(key))
		return `${fmtBytes(Number(v))}/s`;
	if (/bytes/.test(key))
		return v < 1024n ? `${v} B` : `${fmtBytes(Number(v))} (${fmtCount(v)})`;
	if (/_ns$/.test(key) && v < 1n << 53n)
		return v < 1000n ? `${v} ns` : `${fmtNs(Number(v))} (${fmtCount(v)} ns)`;
	return /correlation|handle|crc|_id|graph|pid|thread/.test(key) ? `${v}` : fmtCount(v);
}

const exact = ns => Math.abs(ns) < 1000 ? fmtNs(ns) : `${fmtNs(ns)} (${fmtCount(Math.round(ns))} ns)`;

function wallText(t, at) {
	if (!t.about.wall_ns)
		return null;
	const ns = BigInt(t.about.wall_ns) + BigInt(Math.round(at)), date = new Date(Number(ns / 1000000n));
	return isNaN(date) ? null : date.toISOString().slice(0, 19).replace('T', ' ') + '.' + String(ns % 1000000000n).padStart(9, '0') + ' UTC';
}

// Label and text of all that is known of an event, in the order to show it.
function factsOf(t, e) {
	const type = t.head[e] & 7, cls = t.head[e] >> 3 & 7, args = argsOf(t, e), facts = [], start = t.start[e], end = t.end[e];
	const put = (k, v) => v !== null && v !== undefined && facts.push([k, v]);
	put('kind', CLASSES[cls]);
	put('where', trackPath(t, t.tracks[t.rows[t.row[e]].track]));
	if (t.kernel[e])
		put('kernel', t.values[t.kernel[e]]);
	put(type === INSTANT ? 'at' : 'start', exact(start));
	put('wall time', wallText(t, start));
	if (type === SLICE)
		put('duration', exact(end - start));
	if (type === OPEN)
		put('duration', 'not measured: had not returned');
	for (const [call, runs] of linksOf(t, e))
		if (runs.length === 1 && runs[0] === e)
			put('after the entry of its call', exact(start - t.start[call]));
	for (const name of SHAPES) {
		put(name, triple(args, name) || null);
		for (const axis of ['_x', '_y', '_z'])
			args.delete(name + axis);
	}
	if (cls === GPU && !args.has('link'))
		put(WORDS.link, 'joined');
	for (const [key, v] of args)
		put(WORDS[key] ?? key.replace(/_ns$/, '').replaceAll('_', ' '), valueText(key, v));
	return facts;
}

const OF_THE_TRACE = /^(clock_domain|timing_|verdict$|packet_families|gpu_time_is)/;

function manifestOf(t, e) {
	const args = [...argsOf(t, e)].filter(([key]) => !OF_THE_TRACE.test(key));
	return [['began', wallText(t, 0)], ...args.filter(([key]) => key !== 'wall_time').map(([key, v]) => [key.replaceAll('_', ' '), valueText(key, v)])].filter(f => f[1]);
}

function showDetails(s) {
	const { t, selected: e } = s, box = $('facts');
	if (s.range) {
		const [from, to] = [Math.min(...s.range), Math.max(...s.range)];
		box.replaceChildren(el('h3', '', 'Chosen time'), list([['from', exact(from)], ['to', exact(to)], ['length', exact(to - from)], ...inside(t, from, to)]),
			el('p', '', 'f shows it alone, Escape lets it go.'));
		return;
	}
	if (e < 0) {
		const about = t.head.findIndex((h, i) => !(h >> 3 & 7) && t.names[t.name[i]] === 'manifest');
		box.replaceChildren(el('p', '', 'Click a slice: what is known of it stands here, and an arrow leads from the call to what ran for it.'),
			...(about < 0 ? [] : [el('h3', '', 'This capture'), list(manifestOf(t, about))]));
		return;
	}
	const parts = [el('h3', '', chip(s.painter.colour(e)), t.names[t.name[e]])];
	for (const [call, runs] of linksOf(t, e)) {
		if (call !== e) {
			parts.push(go('→ its call', call, s));
		} else {
			for (let i = 0; i < Math.min(runs.length, 12); i++)
				parts.push(go(runs.length === 1 ? '→ what ran' : `→ ${i + 1}`, runs[i], s));
			if (runs.length > 12)
				parts.push(el('p', '', `and ${fmtCount(runs.length - 12)} more`));
		}
	}
	parts.push(list(factsOf(t, e)));
	box.replaceChildren(...parts);
}

// What began in a time, and for how much of it rows of GPU work were filled (each row for itself: they overlap).
function inside(t, from, to) {
	let calls = 0, runs = 0, ns = 0;
	for (const r of t.rows) {
		const cls = r.from < r.to && t.head[r.from] >> 3 & 7, i = lowerBound(t.start, from, r.from, r.to), j = lowerBound(t.start, to, i, r.to);
		if (cls === CALL)
			calls += j - i;
		if (cls !== GPU)
			continue;
		runs += j - i;
		ns += t.busy[j] - t.busy[i];
		if (i > r.from && t.end[i - 1] > from)
			ns += Math.min(t.end[i - 1], to) - from;
		if (j > i && t.end[j - 1] > to)
			ns -= t.end[j - 1] - to;
	}
	return [['calls begun', fmtCount(calls)], ...(t.about.no_device ? [] : [['GPU work begun', fmtCount(runs)], ['GPU time in it, all streams', exact(ns)]])];
}

function go(text, e, s) {
	const b = el('button', 'go', `${text}: ${cutText(s.t.names[s.t.name[e]], 44)}`);
	b.onclick = () => s.select(e, true);
	return b;
}

const cutText = (text, n) => text.length > n ? text.slice(0, n - 1) + '…' : text;

function list(facts) {
	const dl = document.createElement('dl');
	for (const [k, v] of facts)
		dl.append(el('dt', '', k), el('dd', '', v));
	return dl;
}

// ---- Help ----

const KEYS = [['w s, + −, Ctrl + wheel', 'zoom'], ['a d, ← →, drag', 'move in time'], ['↑ ↓, wheel', 'move up and down'], ['Shift + drag', 'choose a time and measure it'],
	['f, double click', 'show what is chosen'], ['0', 'the whole capture'], ['n p', 'next and previous of what was searched or picked in the table'],
	['c', 'from the call to what ran for it, and back'], ['/', 'search'], ['t', 'light or dark'], ['k', 'the lower part, or not'], ['Esc', 'let go'], ['?', 'this help']];
const LEGEND = [['kernels (a colour per name)', VIVID[0]], ['copies to the device', COPIES.h2d], ['copies to the host', COPIES.d2h], ['calls that launch', CALLS.launch],
	['calls that copy', CALLS.copy], ['calls that wait or ask', CALLS.wait], ['calls about memory', CALLS.memory], ['other calls', CALLS.other]];

function makeHelp() {
	const keys = document.createElement('dl'), legend = document.createElement('dl');
	for (const [k, what] of KEYS)
		keys.append(el('dt', '', el('kbd', '', k)), el('dd', '', what));
	for (const [what, colour] of LEGEND)
		legend.append(el('dt', '', chip(colour)), el('dd', '', what));
	const close = el('button', '', 'Close');
	close.onclick = () => $('help').close();
	$('help').replaceChildren(el('h2', '', 'Keys'), keys, el('h2', '', 'Colours'), legend, close,
		el('p', '', 'A column narrower than a pixel shows how much of its time is filled. Diamonds have no length: nobody measured one. A fading slice had not ended.'));
}
