// SPDX-License-Identifier: GPL-2.0-or-later
// The canvases. No frame looks at more events than there are pixels: what is narrower than one is found by binary search,
// and shows how much of the pixel's time it fills.

const LABELS = 216, RULER = 24, FONT = '11.5px system-ui, "Segoe UI", "Noto Sans", sans-serif';
let ink = {};

function readInk() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ['bg', 'panel', 'lane', 'line', 'text', 'muted', 'accent', 'group', 'grid', 'over', 'bad'])
		ink[name] = style.getPropertyValue('--' + name).trim();
}

function fit(canvas) {
	const dpr = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight, ctx = canvas.getContext('2d', { alpha: false });
	if (canvas.width !== Math.round(w * dpr) || canvas.height !== Math.round(h * dpr)) {
		canvas.width = Math.round(w * dpr);
		canvas.height = Math.round(h * dpr);
	}
	ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
	ctx.font = FONT;
	ctx.textBaseline = 'middle';
	return [ctx, w, h];
}

const widths = new Map();
function textWidth(ctx, s) {
	let w = widths.get(s);
	if (w === undefined) {
		if (widths.size > 20000)
			widths.clear();
		widths.set(s, w = ctx.measureText(s).width);
	}
	return w;
}

// s, or as much of it as there is room for; '' when that says nothing.
function cut(ctx, s, room) {
	if (s.length > 400)
		s = s.slice(0, 400);
	if (textWidth(ctx, s) <= room)
		return s;
	let n = Math.floor(s.length * room / textWidth(ctx, s)) - 1;
	while (n > 1 && textWidth(ctx, s.slice(0, n) + '…') > room)
		n--;
	return n > 1 ? s.slice(0, n) + '…' : '';
}

class Painter {
	constructor(t) {
		this.t = t;
		this.colours = t.names.map(() => []);
		this.shorts = t.names.map(shortName);
	}
	colour(e) {
		const name = this.t.name[e], cls = this.t.head[e] >> 3 & 7;
		return this.colours[name][cls] ??= colourOf(cls, this.t.names[name]);
	}
	// view: t0 (ns at the left end of the lanes), per (ns of a pixel), y (scrolled)
	row(ctx, row, y, h, view, w, hits) {
		const { start, end, busy } = this.t, { t0, per } = view, t1 = t0 + w * per;
		let i = lowerBound(start, t0, row.from, row.to);
		if (i > row.from && end[i - 1] > t0)
			i--;
		let runX = 0, runEnd = -1, runColour = '', runAlpha = -1;
		const flush = () => {
			if (runEnd > runX) {
				ctx.globalAlpha = runAlpha / 8;
				ctx.fillStyle = runColour;
				ctx.fillRect(runX, y, runEnd - runX, h);
			}
			runEnd = -1;
		};
		while (i < row.to && start[i] < t1) {
			const from = start[i];
			let length = Math.min(end[i], this.t.last) - from;
			if (length < 1.5 * per) {
				// those that begin in this pixel
				const bin = Math.floor(from / per), until = (bin + 1) * per;
				let step = 1, j = i + 1;
				while (j < row.to && start[j] < until) {
					j += step;
					step *= 2;
				}
				j = lowerBound(start, until, Math.max(i + 1, j - step), Math.min(j, row.to));
				if (j - 1 > i && Math.min(end[j - 1], this.t.last) - start[j - 1] >= 1.5 * per)
					j--;
				const share = Math.min(1, (busy[j] - busy[i]) / per);
				const hit = !hits || lowerBound(hits, i, 0, hits.length) < lowerBound(hits, j, 0, hits.length);
				const x = bin - t0 / per, colour = this.colour(hit && hits ? hits[lowerBound(hits, i, 0, hits.length)] : i);
				const alpha = hit ? (hits ? 8 : 3 + Math.round(5 * share)) : 1;
				if (runEnd >= x - 1e-6 && runColour === colour && runAlpha === alpha) {
					runEnd = Math.max(runEnd, x + 1);
				} else {
					flush();
					runX = x;
					runEnd = x + 1;
					runColour = colour;
					runAlpha = alpha;
				}
				i = j;
				continue;
			}
			flush();
			const hit = !hits || hits[lowerBound(hits, i, 0, hits.length)] === i;
			this.slice(ctx, i, (from - t0) / per, (from + length - t0) / per, y, h, w, hit);
			i++;
		}
		flush();
		ctx.globalAlpha = 1;
	}
	slice(ctx, e, x0, x1, y, h, w, hit) {
		const open = this.t.end[e] === Infinity, cls = this.t.head[e] >> 3 & 7;
		const left = Math.max(x0, -2), right = Math.min(x1, w + 2), gap = x1 - x0 > 4 ? 0.75 : 0;
		ctx.globalAlpha = (hit ? 1 : 0.18) * (cls === PRESENTATION ? 0.55 : 1);
		ctx.fillStyle = this.colour(e);
		if (open) { // how long it took is not known
			const fade = ctx.createLinearGradient(left, 0, Math.max(right, left + 1), 0);
			fade.addColorStop(0, ctx.fillStyle);
			fade.addColorStop(1, 'transparent');
			ctx.fillStyle = fade;
		}
		ctx.fillRect(left, y, Math.max(right - left - gap, 0.75), h);
		if (right - left > 26) {
			ctx.fillStyle = '#fff';
			const room = right - Math.max(left, 0) - 9, name = this.t.names[this.t.name[e]];
			const text = textWidth(ctx, name.slice(0, 400)) <= room ? name : cut(ctx, this.shorts[this.t.name[e]], room);
			if (text)
				ctx.fillText(text, Math.max(left, 0) + 4, y + h / 2 + 0.5);
		}
	}
	instants(ctx, row, y, h, view, w, hits) {
		const { start } = this.t, { t0, per } = view, t1 = t0 + w * per;
		let i = lowerBound(start, t0 - 4 * per, row.from, row.to);
		while (i < row.to && start[i] < t1) {
			const x = (start[i] - t0) / per, j = lowerBound(start, start[i] + 3 * per, i + 1, row.to);
			const hit = !hits || lowerBound(hits, i, 0, hits.length) < lowerBound(hits, j, 0, hits.length);
			ctx.globalAlpha = hit ? 1 : 0.25;
			ctx.fillStyle = this.colour(i);
			ctx.beginPath();
			ctx.moveTo(x, y + h - 2);
			ctx.lineTo(x - 3.5, y + h / 2);
			ctx.lineTo(x, y + 2);
			ctx.lineTo(x + 3.5, y + h / 2);
			ctx.fill();
			i = j;
		}
		ctx.globalAlpha = 1;
	}
	samples(ctx, k, y, h, view, w) {
		const s = k.samples, { t0, per } = view, scale = s.top ? (h - 8) / s.top : 0;
		let i = lowerBound(s.t, t0, 0, s.t.length) - 1;
		ctx.fillStyle = ctx.strokeStyle = ink.accent;
		ctx.beginPath();
		ctx.moveTo(0, y + h);
		for (let x = 0; x < w; x++) {
			// the value that the pixel begins with, and what follows in it
			const j = lowerBound(s.t, t0 + (x + 1) * per, Math.max(i, 0), s.t.length);
			const top = j > i ? highest(s, Math.max(i, 0), j) : 0, v = y + h - top * scale;
			ctx.lineTo(x, v);
			ctx.lineTo(x + 1, v);
			i = j - 1;
		}
		ctx.lineTo(w, y + h);
		ctx.globalAlpha = 0.22;
		ctx.fill();
		ctx.globalAlpha = 0.9;
		ctx.lineWidth = 1;
		ctx.stroke();
		ctx.globalAlpha = 1;
	}
}

function unitText(unit, v) {
	return unit === 1 ? fmtBytes(v) : unit === 2 ? fmtBytes(v) + '/s' : fmtCount(v);
}

function niceStep(least) {
	const p = 10 ** Math.floor(Math.log10(least)), m = least / p;
	return Math.max(1, (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10) * p);
}

function drawRuler(ctx, view, w, h) {
	const step = niceStep(view.per * 110), end = view.t0 + (w - LABELS) * view.per;
	ctx.fillStyle = ink.panel;
	ctx.fillRect(0, 0, w, RULER);
	for (let at = Math.ceil(view.t0 / step) * step; at < end; at += step) {
		const x = Math.round(LABELS + (at - view.t0) / view.per) + 0.5;
		ctx.fillStyle = ink.grid;
		ctx.fillRect(x - 0.5, RULER, 1, h - RULER);
		ctx.fillStyle = ink.line;
		ctx.fillRect(x - 0.5, RULER - 6, 1, 6);
		ctx.fillStyle = ink.muted;
		ctx.fillText(fmtAt(at, step), x + 4, RULER / 2);
	}
	ctx.fillStyle = ink.line;
	ctx.fillRect(0, RULER - 0.5, w, 1);
}

function drawLabel(ctx, lane, y, w) {
	const x = 10 + lane.level * 13;
	ctx.fillStyle = lane.group ? ink.group : ink.bg;
	ctx.fillRect(0, y, LABELS, lane.height);
	if (lane.parent) {
		ctx.fillStyle = ink.muted;
		ctx.beginPath();
		const c = y + Math.min(lane.height, GROUP_ROW) / 2;
		if (lane.closed) {
			ctx.moveTo(x, c - 4);
			ctx.lineTo(x + 6, c);
			ctx.lineTo(x, c + 4);
		} else {
			ctx.moveTo(x - 1, c - 3);
			ctx.lineTo(x + 7, c - 3);
			ctx.lineTo(x + 3, c + 3);
		}
		ctx.fill();
	}
	ctx.fillStyle = lane.group || lane.track.kind === THREAD || lane.level === 0 ? ink.text : ink.muted;
	ctx.fillText(cut(ctx, lane.label, LABELS - x - 18), x + 12, y + Math.min(lane.height, GROUP_ROW) / 2 + 0.5);
	if (lane.track.samples) {
		ctx.fillStyle = ink.muted;
		ctx.fillText('up to ' + unitText(lane.track.unit, lane.track.samples.top), x + 12, y + GROUP_ROW + 4);
	}
	ctx.fillStyle = ink.line;
	ctx.fillRect(0, y + lane.height - 1, w, 1);
}

// Where an event is: its lane's top and its own, or of what it is folded into. Canvas coordinates.
function placeOf(s, e) {
	const row = s.t.rows[s.t.row[e]];
	let k = s.t.tracks[row.track], lane, inside = true;
	while (!(lane = s.laneOf.get(k)) && k.parent >= 0) {
		k = s.t.tracks[k.parent];
		inside = false;
	}
	if (!lane)
		return null;
	return { lane, y: RULER + lane.y - s.view.y + (inside ? row.depth * ROW : 0), h: inside ? ROW : lane.height };
}

function drawLanes(s) {
	const [ctx, w, h] = fit(s.canvas), { view, painter, t } = s, room = w - LABELS;
	ctx.fillStyle = ink.bg;
	ctx.fillRect(0, 0, w, h);
	drawRuler(ctx, view, w, h);
	ctx.save();
	ctx.beginPath();
	ctx.rect(0, RULER, w, h - RULER);
	ctx.clip();
	for (const lane of s.lanes) {
		const y = RULER + lane.y - view.y;
		if (y + lane.height < RULER || y > h)
			continue;
		if (lane.group) {
			ctx.fillStyle = ink.group;
			ctx.fillRect(0, y, w, lane.height);
		}
		ctx.save();
		ctx.beginPath();
		ctx.rect(LABELS, y, room, lane.height);
		ctx.clip();
		ctx.translate(LABELS, 0);
		lane.track.rows.forEach((r, depth) => painter.row(ctx, t.rows[r], y + depth * ROW + 2, ROW - 2, view, room, s.hits));
		if (lane.track.instants >= 0)
			painter.instants(ctx, t.rows[lane.track.instants], y + 1, ROW, view, room, s.hits);
		if (lane.track.samples)
			painter.samples(ctx, lane.track, y, lane.height - 1, view, room);
		ctx.restore();
		drawLabel(ctx, lane, y, w);
	}
	ctx.fillStyle = ink.line;
	ctx.fillRect(LABELS - 1, RULER, 1, h);
	ctx.beginPath();
	ctx.rect(LABELS, RULER, room, h - RULER);
	ctx.clip();
	drawSelection(ctx, s, w, h);
	ctx.restore();
	if (s.pointer !== null && s.pointer !== undefined)
		drawPointer(ctx, s, w, h);
}

// The moment under the pointer.
function drawPointer(ctx, s, w, h) {
	const x = LABELS + s.pointer, text = fmtAt(s.view.t0 + s.pointer * s.view.per, s.view.per), room = textWidth(ctx, text) + 10;
	ctx.globalAlpha = 0.35;
	ctx.fillStyle = ink.text;
	ctx.fillRect(x, RULER, 1, h);
	ctx.globalAlpha = 1;
	const left = Math.max(LABELS, Math.min(x - room / 2, w - room));
	ctx.fillRect(left, 3, room, RULER - 6);
	ctx.fillStyle = ink.bg;
	ctx.fillText(text, left + 5, RULER / 2 + 0.5);
}

function drawSelection(ctx, s, w, h) {
	const { view, t } = s, x = at => LABELS + (at - view.t0) / view.per;
	if (s.range) {
		const [a, b] = [x(Math.min(...s.range)), x(Math.max(...s.range))];
		ctx.globalAlpha = 0.16;
		ctx.fillStyle = ink.accent;
		ctx.fillRect(a, RULER, b - a, h);
		ctx.globalAlpha = 1;
		ctx.fillRect(a, RULER, 1, h);
		ctx.fillRect(b, RULER, 1, h);
	}
	if (s.selected < 0)
		return;
	for (const [call, runs] of linksOf(t, s.selected))
		for (const e of runs)
			drawArrow(ctx, s, call, e, x);
	const p = placeOf(s, s.selected);
	if (!p)
		return;
	const a = x(t.start[s.selected]), b = x(Math.min(t.end[s.selected], t.last));
	ctx.strokeStyle = ink.text;
	ctx.lineWidth = 2;
	ctx.strokeRect(Math.max(a, LABELS - 4) - 0.5, p.y + 1.5, Math.max(Math.min(b, w + 4) - Math.max(a, LABELS - 4), 2) + 1, Math.min(p.h, ROW) - 1.5);
}

// The call of what ran, or what ran for the call: [[call, [executions]]].
function linksOf(t, e) {
	const w = t.work[e];
	if (w === NONE)
		return [];
	if (t.head[e] & 0x40)
		return [[e, t.runs.subarray(t.runsFrom[w], t.runsFrom[w + 1])]];
	return t.callOf[w] === NONE ? [] : [[t.callOf[w], [e]]];
}

function drawArrow(ctx, s, call, e, x) {
	const from = placeOf(s, call), to = placeOf(s, e);
	if (!from || !to)
		return;
	const x0 = x(s.t.start[call]), x1 = x(s.t.start[e]), y0 = from.y + ROW / 2, y1 = to.y + Math.min(to.h, ROW) / 2, bend = Math.max(24, Math.abs(x1 - x0) / 2);
	if (Math.max(x0, x1) < LABELS - 2000 || Math.min(x0, x1) > 8000)
		return;
	ctx.strokeStyle = ctx.fillStyle = ink.accent;
	ctx.lineWidth = 1.5;
	ctx.beginPath();
	ctx.moveTo(x0, y0);
	ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
	ctx.stroke();
	ctx.beginPath();
	ctx.moveTo(x1, y1);
	ctx.lineTo(x1 - 7, y1 - 4);
	ctx.lineTo(x1 - 7, y1 + 4);
	ctx.fill();
}

// How busy the GPUs were, or the threads where nothing of a GPU is known; made once for a width.
function overviewOf(s, w) {
	const { t } = s, per = (t.last - t.first) / w, gpu = t.rows.some(r => r.from < r.to && (t.head[r.from] >> 3 & 7) === GPU);
	const share = new Float64Array(w);
	for (const r of t.rows) {
		if (r.from === r.to || r.instants || r.depth || (t.head[r.from] >> 3 & 7) !== (gpu ? GPU : CALL))
			continue;
		let i = lowerBound(t.start, t.first, r.from, r.to);
		for (let x = 0; x < w; x++) {
			const a = t.first + x * per, b = a + per, j = lowerBound(t.start, b, i, r.to);
			let ns = t.busy[j] - t.busy[i];
			if (i > r.from && t.end[i - 1] > a)
				ns += Math.min(t.end[i - 1], b) - a;
			if (j > i && t.end[j - 1] > b)
				ns -= t.end[j - 1] < Infinity ? t.end[j - 1] - b : 0;
			share[x] = Math.max(share[x], Math.min(1, ns / per));
			i = j;
		}
	}
	return { w, share, gpu };
}

function drawOverview(s) {
	const [ctx, w, h] = fit(s.overview), { t, view } = s, room = w - LABELS;
	if (room < 1)
		return;
	if (s.busy?.w !== room)
		s.busy = overviewOf(s, room);
	ctx.fillStyle = ink.bg;
	ctx.fillRect(0, 0, w, h);
	ctx.fillStyle = ink.over;
	for (let x = 0; x < room; x++)
		ctx.fillRect(LABELS + x, h - 4 - s.busy.share[x] * (h - 10), 1, s.busy.share[x] * (h - 10));
	ctx.fillStyle = ink.muted;
	ctx.fillText(s.busy.gpu ? 'GPU, busiest stream' : 'API calls, busiest thread', 12, h / 2 - 8);
	ctx.fillText(`whole capture: ${fmtNs(t.last - t.first)}`, 12, h / 2 + 8);
	const all = (t.last - t.first) / room, a = LABELS + (view.t0 - t.first) / all, b = a + room * view.per / all;
	ctx.globalAlpha = 0.55;
	ctx.fillStyle = ink.panel;
	ctx.fillRect(LABELS, 0, Math.max(0, a - LABELS), h);
	ctx.fillRect(b, 0, Math.max(0, w - b), h);
	ctx.globalAlpha = 1;
	ctx.fillStyle = ink.accent;
	ctx.fillRect(Math.max(a, LABELS), 0, Math.max(2, Math.min(b, w) - Math.max(a, LABELS)), 2);
	ctx.fillRect(Math.max(a, LABELS), h - 2, Math.max(2, Math.min(b, w) - Math.max(a, LABELS)), 2);
}

// What is under a point of the lanes: an event, or -1.
function pick(s, x, y) {
	const lane = s.lanes.find(l => y >= RULER + l.y - s.view.y && y < RULER + l.y - s.view.y + l.height);
	if (!lane || x < LABELS || y < RULER)
		return { lane, e: -1 };
	const { t, view } = s, at = view.t0 + (x - LABELS) * view.per, slack = 3 * view.per;
	const inside = y - RULER - lane.y + view.y, depth = Math.floor((inside - 1) / ROW);
	const near = r => {
		if (r === undefined || r < 0)
			return -1;
		const row = t.rows[r];
		let best = -1, distance = slack, i = lowerBound(t.start, at, row.from, row.to);
		for (let j = Math.max(row.from, i - 2); j < Math.min(row.to, i + 2); j++) {
			const d = at < t.start[j] ? t.start[j] - at : Math.max(0, at - Math.min(t.end[j], t.last));
			if (d < distance || (d === 0 && distance === 0)) {
				best = j;
				distance = d;
			}
		}
		return best;
	};
	const instant = depth === 0 ? near(lane.track.instants) : -1, e = near(lane.track.rows[depth]);
	return { lane, at, e: instant >= 0 && (e < 0 || at < t.start[e] || at > t.end[e] || Math.abs(t.start[instant] - at) < slack) ? instant : e };
}
