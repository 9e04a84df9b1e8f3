// SPDX-License-Identifier: GPL-2.0-or-later
// State, input, and the way from the file to the first frame.

const LEAST_PER = 0.002; // ns of a pixel, at most zoom

class State {
	constructor(t) {
		this.t = t;
		this.canvas = $('lanes');
		this.overview = $('overview');
		this.painter = new Painter(t);
		this.closed = new Set();
		this.view = { t0: t.first, per: 1, y: 0 };
		this.selected = -1;
		this.range = null;
		this.hits = null;
		this.held = new Set();
		this.frames = 0;
		this.relane();
		this.keys = tally(t);
		this.table = new Table(t, this.keys, k => this.pickKey(k));
	}
	relane() {
		this.lanes = makeLanes(this.t, this.closed);
		this.laneOf = new Map(this.lanes.map(l => [l.track, l]));
	}
	room() {
		return Math.max(50, this.canvas.clientWidth - LABELS);
	}
	// Asks for a frame; many askings make one.
	redraw() {
		if (this.asked)
			return;
		this.asked = true;
		requestAnimationFrame(() => {
			this.asked = false;
			this.draw();
		});
	}
	draw() {
		const { t, view } = this, all = t.last - t.first, room = this.room();
		view.per = Math.min(Math.max(view.per, LEAST_PER), 1.06 * all / room);
		view.t0 = Math.min(Math.max(view.t0, t.first - 0.9 * room * view.per), t.last - 0.1 * room * view.per);
		view.y = Math.max(0, Math.min(view.y, this.lanes.total - this.canvas.clientHeight + RULER));
		drawLanes(this);
		drawOverview(this);
		$('range').textContent = `${fmtAt(view.t0, view.per * 10)} … ${fmtAt(view.t0 + room * view.per, view.per * 10)}, ${fmtNs(room * view.per)}`;
		this.frames++;
	}
	zoom(factor, x) {
		const { view } = this, at = view.t0 + x * view.per, all = this.t.last - this.t.first;
		view.per = Math.min(Math.max(view.per * factor, LEAST_PER), 1.06 * all / this.room());
		view.t0 = at - x * view.per;
		this.redraw();
	}
	pan(px) {
		this.view.t0 += px * this.view.per;
		this.redraw();
	}
	show(from, to) {
		const room = this.room();
		this.view.per = Math.max((to - from) / room, LEAST_PER);
		this.view.t0 = from;
		this.redraw();
	}
	all() {
		const { t } = this, more = 0.01 * (t.last - t.first);
		this.show(t.first - more, t.last + more);
	}
	select(e, reveal) {
		this.selected = e;
		this.range = null;
		if (e >= 0 && reveal)
			this.reveal(e);
		showDetails(this);
		this.redraw();
	}
	reveal(e) {
		const { t, view } = this, room = this.room(), start = t.start[e], length = Math.min(t.end[e], t.last) - start;
		for (let k = t.tracks[t.rows[t.row[e]].track]; k; k = t.tracks[k.parent])
			this.closed.delete(k);
		this.relane();
		if (length > 0 && length < 6 * view.per)
			view.per = Math.max(length / 40, LEAST_PER);
		if (start < view.t0 || start + Math.min(length, room * view.per * 0.5) > view.t0 + room * view.per)
			view.t0 = start + Math.min(length, room * view.per * 0.8) / 2 - room * view.per / 2;
		const p = placeOf(this, e), h = this.canvas.clientHeight;
		if (p && (p.y < RULER + 8 || p.y + p.h > h - 8))
			view.y += p.y - h / 2;
	}
	focus() {
		const { t, selected: e } = this;
		if (this.range)
			this.show(Math.min(...this.range), Math.max(...this.range));
		else if (e >= 0) {
			const length = Math.max(Math.min(t.end[e], t.last) - t.start[e], 100);
			this.show(t.start[e] - length, t.start[e] + 2 * length);
		}
	}
	// What the page was made to show first.
	open() {
		const range = this.t.about.focus_ns?.split(' ').map(Number);
		if (!range) {
			this.all();
			return;
		}
		if (this.t.focus >= 0) {
			this.select(this.t.focus, true);
		} else {
			this.range = range;
			showDetails(this);
		}
		this.show(...range);
	}
	follow() {
		for (const [call, runs] of linksOf(this.t, this.selected))
			this.select(call === this.selected ? runs[0] : call, true);
	}
	inside(from, to) {
		return inside(this.t, from, to);
	}
	// The middle of an event on the canvas, for who tests the page.
	spot(e) {
		const { t, view } = this, p = placeOf(this, e), end = Math.min(t.end[e], t.last);
		return p && [LABELS + ((t.start[e] + end) / 2 - view.t0) / view.per, p.y + Math.min(p.h, ROW) / 2];
	}
	// ---- What n and p step through: events, rising in each row ----
	setHits(hits, what) {
		this.hits = hits;
		this.what = what;
		$('prev').disabled = $('next').disabled = !hits?.length;
		this.tell();
		this.redraw();
	}
	tell() {
		const { hits, t, selected: e } = this;
		if (!hits) {
			$('found').textContent = '';
			return;
		}
		const at = e >= 0 ? lowerBound(hits, e, 0, hits.length) : hits.length;
		let rank = 0;
		if (e >= 0 && hits[at] === e)
			this.eachRow((from, to) => {
				rank += this.firstAfter(from, to, t.start[e], e) - from;
			});
		$('found').textContent = !hits.length ? 'nothing found' : (rank ? `${fmtCount(rank)} of ` : '') + fmtCount(hits.length);
	}
	eachRow(fn) {
		let at = 0;
		for (const r of this.t.rows) {
			const to = lowerBound(this.hits, r.to, at, this.hits.length);
			if (to > at)
				fn(at, to);
			at = to;
		}
	}
	// The first of hits [from, to) that comes after an event of that start: by time, then by number.
	firstAfter(from, to, start, e) {
		const { hits, t } = this;
		while (from < to) {
			const m = (from + to) >>> 1, s = t.start[hits[m]];
			if (s < start || (s === start && hits[m] <= e))
				from = m + 1;
			else
				to = m;
		}
		return from;
	}
	step(forward) {
		const { hits, t, view } = this;
		if (!hits?.length)
			return;
		const e = this.selected, start = e >= 0 ? t.start[e] : view.t0 + (forward ? 0 : this.room() * view.per), self = e >= 0 ? e : -1;
		let best = -1, far = -1;
		const later = (a, b) => t.start[a] - t.start[b] || a - b;
		this.eachRow((from, to) => {
			let i = this.firstAfter(from, to, start, self);
			if (!forward)
				i -= e >= 0 && hits[i - 1] === e ? 2 : 1;
			if (i >= from && i < to && (best < 0 || (later(hits[i], best) < 0) === forward))
				best = hits[i];
			const edge = hits[forward ? from : to - 1];
			if (far < 0 || (later(edge, far) < 0) === forward)
				far = edge;
		});
		this.select(best >= 0 ? best : far, true);
		this.tell();
	}
	search(text) {
		const { t } = this, want = text.trim().toLowerCase();
		this.table.pick(null);
		if (!want) {
			this.setHits(null);
			return;
		}
		const has = s => s.toLowerCase().includes(want), names = t.names.map(has), kernels = t.values.map(has);
		kernels[0] = false;
		this.setHits(this.gather(e => (names[t.name[e]] || kernels[t.kernel[e]]) && (t.head[e] >> 3 & 7) !== SKELETON), text);
	}
	pickKey(k) {
		if (this.table.picked === k) {
			this.step(true);
			return;
		}
		$('search').value = '';
		this.table.pick(k);
		this.setHits(this.gather(e => this.t.keyOf[e] === k.number), k.name);
		this.selected = -1;
		this.step(true);
	}
	gather(wanted) {
		let n = 0;
		const { t } = this, found = new Uint32Array(t.n);
		for (let e = 0; e < t.n; e++)
			if (wanted(e))
				found[n++] = e;
		return found.slice(0, n);
	}
	release() {
		if (this.range) {
			this.range = null;
		} else if (this.hits) {
			$('search').value = '';
			this.table.pick(null);
			this.setHits(null);
		} else {
			this.selected = -1;
		}
		showDetails(this);
		this.redraw();
	}
}

// ---- Input ----

const HELD = { w: 1, s: 1, a: 1, d: 1, ArrowLeft: 1, ArrowRight: 1, ArrowUp: 1, ArrowDown: 1, '+': 1, '=': 1, '-': 1 };

function move(s, key, part) {
	const middle = s.pointer ?? s.room() / 2, step = 0.035 * part;
	if (key === 'w' || key === '+' || key === '=')
		s.zoom(1 - step, middle);
	else if (key === 's' || key === '-')
		s.zoom(1 / (1 - step), middle);
	else if (key === 'a' || key === 'ArrowLeft')
		s.pan(-s.room() * step * 0.6);
	else if (key === 'd' || key === 'ArrowRight')
		s.pan(s.room() * step * 0.6);
	else
		s.view.y += (key === 'ArrowUp' ? -9 : 9) * part;
	s.redraw();
}

function animate(s) {
	let last = performance.now();
	const frame = now => {
		const part = Math.min(3, (now - last) / 16.7);
		last = now;
		for (const key of s.held)
			move(s, key, part);
		s.moving = s.held.size > 0;
		if (s.moving)
			requestAnimationFrame(frame);
	};
	s.moving = true;
	requestAnimationFrame(frame);
}

function setTheme(s, dark) {
	document.documentElement.classList.toggle('dark', dark);
	readInk();
	s?.redraw();
}

const isDark = () => document.documentElement.classList.contains('dark');

function onKey(s, ev) {
	const typing = ev.target === $('search');
	if (ev.key === 'Enter' && /^T[RH]$/.test(ev.target.tagName)) {
		ev.target.click();
	} else if (typing && ev.key === 'Enter') {
		s.step(!ev.shiftKey);
	} else if (typing && ev.key === 'Escape') {
		s.release();
		s.canvas.focus();
	} else if (typing || ev.ctrlKey || ev.metaKey || ev.altKey || $('help').open) {
		return;
	} else if (HELD[ev.key.length === 1 ? ev.key.toLowerCase() : ev.key]) {
		const key = ev.key.length === 1 ? ev.key.toLowerCase() : ev.key, fresh = !s.held.has(key);
		s.held.add(key);
		if (fresh)
			move(s, key, 4);
		if (!s.moving)
			animate(s);
	} else {
		const act = { '/': () => $('search').focus(), '?': () => $('help').showModal(), n: () => s.step(true), p: () => s.step(false), f: () => s.focus(),
			0: () => s.all(), Home: () => s.all(), c: () => s.follow(), t: () => setTheme(s, !isDark()), Escape: () => s.release(),
			k: () => { $('panel').hidden = !$('panel').hidden; s.redraw(); } }[ev.key];
		if (!act)
			return;
		act();
	}
	ev.preventDefault();
}

function tooltip(s, ev, e, lane) {
	const tip = $('tip');
	tip.hidden = e < 0 && !lane;
	if (tip.hidden)
		return;
	if (lane)
		tip.replaceChildren(trackPath(s.t, lane.track));
	else
		tip.replaceChildren(...tipOf(s.t, e));
	tip.style.left = Math.min(ev.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
	tip.style.top = (ev.clientY + 22 + tip.offsetHeight > innerHeight ? ev.clientY - tip.offsetHeight - 10 : ev.clientY + 18) + 'px';
}

function tipOf(t, e) {
	const type = t.head[e] & 7;
	const time = type === SLICE ? fmtNs(t.end[e] - t.start[e]) : type === OPEN ? 'had not returned' : CLASSES[t.head[e] >> 3 & 7] + ', a moment';
	return [cutText(t.names[t.name[e]], 300), el('span', '', time + (t.kernel[e] ? ` · ${cutText(t.values[t.kernel[e]], 200)}` : ''))];
}

function pointers(s) {
	const c = s.canvas;
	let drag = null;
	const at = ev => s.view.t0 + (ev.offsetX - LABELS) * s.view.per;
	c.onpointerdown = ev => {
		c.focus({ preventScroll: true });
		c.setPointerCapture(ev.pointerId);
		drag = { x: ev.offsetX, y: ev.offsetY, t0: s.view.t0, sy: s.view.y, moved: false, from: ev.shiftKey || ev.offsetY < RULER ? at(ev) : null };
		$('tip').hidden = true;
	};
	c.onpointermove = ev => {
		s.pointer = ev.offsetX >= LABELS ? ev.offsetX - LABELS : null;
		if (!drag) {
			const { e, lane } = pick(s, ev.offsetX, ev.offsetY);
			tooltip(s, ev, e, ev.offsetX < LABELS ? lane : null);
			s.redraw();
			c.style.cursor = e >= 0 || (ev.offsetX < LABELS && lane?.parent) ? 'pointer' : ev.offsetX < LABELS ? 'default' : 'grab';
			return;
		}
		drag.moved ||= Math.abs(ev.offsetX - drag.x) + Math.abs(ev.offsetY - drag.y) > 3;
		if (drag.moved && drag.from !== null) {
			s.range = [drag.from, at(ev)];
			showDetails(s);
		} else if (drag.moved) {
			s.view.t0 = drag.t0 - (ev.offsetX - drag.x) * s.view.per;
			s.view.y = drag.sy - (ev.offsetY - drag.y);
			c.style.cursor = 'grabbing';
		}
		s.redraw();
	};
	c.onpointerup = ev => {
		if (drag && !drag.moved) {
			const { e, lane } = pick(s, ev.offsetX, ev.offsetY);
			if (ev.offsetX < LABELS && lane?.parent) {
				s.closed.has(lane.track) ? s.closed.delete(lane.track) : s.closed.add(lane.track);
				s.relane();
				s.redraw();
			} else if (ev.offsetX >= LABELS) {
				s.select(e, false);
				s.tell();
			}
		}
		drag = null;
	};
	c.onpointercancel = () => { drag = null; };
	c.onpointerleave = () => { $('tip').hidden = true; s.pointer = null; s.redraw(); };
	c.ondblclick = () => s.focus();
	c.addEventListener('wheel', ev => {
		ev.preventDefault();
		const unit = ev.deltaMode ? 20 : 1;
		if (ev.ctrlKey || ev.metaKey) {
			s.zoom(Math.exp(Math.max(-60, Math.min(60, ev.deltaY * unit)) * 0.005), Math.max(0, ev.offsetX - LABELS));
			return;
		}
		s.pan((ev.shiftKey ? ev.deltaY : ev.deltaX) * unit);
		s.view.y += ev.shiftKey ? 0 : ev.deltaY * unit;
	}, { passive: false });
	const jump = ev => {
		if (!ev.buttons)
			return;
		const room = s.overview.clientWidth - LABELS, all = s.t.last - s.t.first;
		s.view.t0 = s.t.first + (ev.offsetX - LABELS) / room * all - s.room() * s.view.per / 2;
		s.redraw();
	};
	s.overview.onpointerdown = ev => { s.overview.setPointerCapture(ev.pointerId); jump(ev); };
	s.overview.onpointermove = jump;
	$('split').onpointerdown = ev => $('split').setPointerCapture(ev.pointerId);
	$('split').onpointermove = ev => {
		if (ev.buttons) {
			$('panel').style.height = Math.max(0, Math.min(innerHeight - 260, innerHeight - ev.clientY)) + 'px';
			s.redraw();
		}
	};
}

function listen(s) {
	let wait = 0;
	pointers(s);
	addEventListener('keydown', ev => onKey(s, ev));
	addEventListener('keyup', ev => s.held.delete(ev.key.length === 1 ? ev.key.toLowerCase() : ev.key));
	addEventListener('blur', () => s.held.clear());
	new ResizeObserver(() => s.redraw()).observe(s.canvas);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', ev => setTheme(s, ev.matches));
	$('search').oninput = () => {
		clearTimeout(wait);
		wait = setTimeout(() => s.search($('search').value), 120);
	};
	$('prev').onclick = () => s.step(false);
	$('next').onclick = () => s.step(true);
	$('in').onclick = () => s.zoom(0.6, s.room() / 2);
	$('out').onclick = () => s.zoom(1 / 0.6, s.room() / 2);
	$('all').onclick = () => s.all();
	$('theme').onclick = () => setTheme(s, !isDark());
	$('keys').onclick = () => $('help').showModal();
}

// What a test asks: what was read, and how long frames take.
async function selfTest(s, loaded) {
	const { t } = s, count = cls => { let n = 0; for (let e = 0; e < t.n; e++) n += (t.head[e] >> 3 & 7) === cls; return n; };
	const measure = async fn => {
		const draw = [], frame = [];
		for (let i = 0, last = 0; i < 40; i++) {
			await new Promise(requestAnimationFrame);
			const before = performance.now();
			fn(i);
			s.draw();
			draw.push(performance.now() - before);
			if (last)
				frame.push(before - last);
			last = before;
		}
		const told = v => ({ median: v.sort((a, b) => a - b)[v.length >> 1], worst: v[v.length - 1] });
		return { draw: told(draw), frame: told(frame) };
	};
	const frames = {};
	if (location.hash === '#selftest-frames') {
		for (const [name, share] of [['whole', 1], ['tenth', 0.1], ['thousandth', 0.001]]) {
			s.show(t.first, t.first + (t.last - t.first) * share);
			frames[name] = await measure(i => { s.view.t0 += 7 * s.view.per * (i % 2 ? 1 : 1.5); });
		}
		s.all();
	}
	return { loaded_ms: loaded, frames_ms: frames, events: t.n, calls: count(CALL), gpu: count(GPU), rows: t.rows.length, lanes: s.lanes.length,
		head: t.about.head, verdict: t.about.verdict, gpu_ns: t.gpuTotal,
		keys: s.keys.map(k => ({ name: k.name, grid: triple(k.args, 'grid'), count: k.count, timed: k.timed, total: k.total, min: k.timed ? k.min : null, max: k.timed ? k.max : null })) };
}

async function start() {
	const loading = $('loading');
	try {
		const bytes = await unpack(), s = new State(decode(bytes));
		setTheme(s, matchMedia('(prefers-color-scheme: dark)').matches);
		showVerdict(s.t);
		makeHelp();
		loading.hidden = true;
		$('app').hidden = false;
		document.title = `gpubpf timeline: ${s.t.about.verdict}`;
		s.setHits(null);
		showDetails(s);
		s.open();
		s.draw();
		listen(s);
		s.canvas.focus({ preventScroll: true });
		if (location.hash.startsWith('#selftest')) {
			// the second frame begins when the first is on the screen
			await new Promise(requestAnimationFrame);
			await new Promise(requestAnimationFrame);
			const told = el('pre', '', JSON.stringify(await selfTest(s, performance.now())));
			told.id = 'selftest';
			told.hidden = true;
			globalThis.gpubpf = s;
			document.body.append(told);
		}
	} catch (e) {
		loading.textContent = `This page cannot be shown: ${e.message}`;
		throw e;
	}
}
start();
