/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The measured data. A JavaScript number is a double, which cannot represent the ns since
 * an epoch exactly. Times are therefore BigInt, or seconds after BASE, the first instant.
 */
"use strict";

const DATA = JSON.parse(document.getElementById("data").textContent);
const RESULT = DATA.result;
const WAYS = (DATA.ways || []).filter((way) => way.messages > 0);

function big(integer) {
	return BigInt(integer);
}

/* ---- hosts ------------------------------------------------------------- */

/* Return the index of the last element that is not after a time, in a list in order of time. */
function indexAt(list, time, from) {
	let low = 0, high = list.length - 1;

	while (low < high) {
		const middle = (low + high + 1) >> 1;

		if (from(list[middle]) <= time)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

function readHost(json, index) {
	const segments = (json.segments || []).map((s) => ({
		from: big(s.from_ns), to: big(s.to_ns), offset: big(s.offset_ns), rate: s.rate,
	}));
	const bound = json.bound_ns || {};
	const knots = (bound.knots || []).map((k) => ({
		time: big(k[0]), below: k[1], above: k[2],
	}));
	const deviation = json.deviation_ns || {};
	const deviations = (deviation.knots || []).map((k) => ({
		time: big(k[0]), size: k[1] === null ? null : Number(k[1]),
	}));
	const seen = json.first_ns !== null && json.first_ns !== undefined;

	return {
		index, segments, knots, deviations, seen,
		name: json.name,
		quality: json.quality,
		isReference: json.name === RESULT.reference,
		packets: Number(json.packets),
		island: json.island,
		skewWithin: json.skew_within_ppm,
		bound: bound.median === undefined ? {} : bound,
		deviation: deviation.median,
		first: seen ? big(json.first_ns) : 0n,
		last: seen ? big(json.last_ns) : 0n,
		steps: json.steps || [],
		steering: json.steering || {},
		stack: json.stack_ns || {},
		traces: json.traces || [],
		known: segments.length > 0,
	};
}

function segmentAt(host, time) {
	return host.segments[indexAt(host.segments, time, (s) => s.from)];
}

/* Return the value to add to a time of the host, in ns as a BigInt. */
function offsetAt(host, time) {
	const segment = segmentAt(host, time);

	return segment.offset + BigInt(Math.round((segment.rate - 1) * Number(time - segment.from)));
}

const HOSTS = RESULT.hosts.map(readHost);

const BASE = HOSTS.reduce((first, host) => {
	if (!host.seen || !host.known)
		return first;
	const time = host.first + offsetAt(host, host.first);

	return first === null || time < first ? time : first;
}, null) || 0n;

/* Convert an instant on the reference clock to seconds after BASE. */
function secondsOf(ns) {
	return Number(ns - BASE) / 1e9;
}

/*
 * Return the bound at a time. It is linear between two knots. Before and after all knots,
 * it is that of the nearest knot, which suffices here.
 */
function boundAt(host, time) {
	const knots = host.knots;

	if (!knots.length)
		return { below: null, above: null };
	const at = indexAt(knots, time, (k) => k.time);
	const a = knots[at], b = knots[at + 1];

	if (!b || time <= a.time)
		return a;
	const share = Number(time - a.time) / Number(b.time - a.time);
	const mix = (p, q) => p === null || q === null ? null : p + (q - p) * share;

	return { below: mix(a.below, b.below), above: mix(a.above, b.above) };
}

/*
 * Return the standard deviation at a time, or null if it is unknown. It is linear between two
 * knots, and at most as large as the error bound.
 */
function deviationAt(host, time) {
	const knots = host.deviations, { below, above } = boundAt(host, time);
	const bound = below === null || above === null ? Infinity : Math.max(below, above);

	if (!knots.length || time < knots[0].time || time > knots[knots.length - 1].time)
		return null;
	const at = indexAt(knots, time, (k) => k.time);
	const a = knots[at], b = time > a.time ? knots[at + 1] : a;

	if (a.size === null || b.size === null)
		return null;
	const share = a === b ? 0 : Number(time - a.time) / Number(b.time - a.time);

	return Math.min(a.size + (b.size - a.size) * share, bound);
}

/* Return the times that a clock skipped when it was stepped forward. */
function leftOut(host) {
	return host.steps.filter((step) => Number(step.offset_ns) > 0)
		.map((step) => [big(step.time_ns), big(step.time_ns) + big(step.offset_ns)]);
}

/* Remove points that would make a plot go from right to left. */
function onlyLater(points) {
	const kept = [];

	for (const point of points.reverse())
		if (!kept.length || point.time <= kept[kept.length - 1].time)
			kept.push(point);
	return kept.reverse();
}

/*
 * Return the host's clock as a curve, which is exact between its points. The time is in
 * s, the offset in ns minus the first offset. The error bounds below and above, and the
 * standard deviation are included.
 */
function curveOf(host) {
	if (host.curve || !host.known || !host.seen)
		return host.curve;
	const gaps = leftOut(host);
	const inside = (time) => time > host.first && time < host.last &&
		!gaps.some(([before, after]) => time > before && time < after);
	const edges = host.segments.slice(1).map((s) => s.from).filter(inside);
	const isEdge = new Set(edges);
	const times = edges.concat(host.knots.map((k) => k.time).filter(inside),
				   host.deviations.map((k) => k.time).filter(inside),
				   gaps.flat().filter(inside), [host.first, host.last]);

	times.sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
	host.offset = offsetAt(host, host.first);
	host.curve = onlyLater(times.filter((time, i) => !i || time !== times[i - 1]).map((time) => {
		const offset = offsetAt(host, time);
		const { below, above } = boundAt(host, time);

		return {
			time: secondsOf(time + offset),
			offset: Number(offset - host.offset),
			skew: (segmentAt(host, time).rate - 1) * 1e6,
			below, above, isEdge: isEdge.has(time),
			deviation: deviationAt(host, time),
		};
	}));
	return host.curve;
}

/* Return a quantity of a curve at a time in s, or null where the curve has no value. */
function along(curve, seconds, quantity) {
	const at = indexAt(curve, seconds, (p) => p.time);
	const a = curve[at], b = curve[at + 1];

	if (!b || seconds <= a.time || a[quantity] === null || b[quantity] === null)
		return a[quantity];
	return a[quantity] + (b[quantity] - a[quantity]) * (seconds - a.time) / (b.time - a.time);
}

/* ---- pairs ------------------------------------------------------------- */

const NUMBERS = new Map(HOSTS.map((host) => [host.name, host.index]));

function wayBetween(from, to) {
	return WAY_OF.get(from + ">" + to);
}

const WAY_OF = new Map(WAYS.map((way) => [way.from + ">" + way.to, way]));

const PAIRS = (RESULT.pairs || []).map((json, index) => {
	const hosts = json.hosts.map((name) => NUMBERS.get(name));

	return {
		index, hosts,
		name: json.hosts[0] + " – " + json.hosts[1],
		quality: json.quality,
		messages: json.messages.map(Number),
		smallest: json.min_delay_ns,
		before: Number(json.inversions.before),
		after: Number(json.inversions.after),
		ways: [wayBetween(hosts[0], hosts[1]), wayBetween(hosts[1], hosts[0])],
	};
});

const HAS_MESSAGES = DATA.ways !== null;

/*
 * Return the messages of a direction that are in the page. Uncorrected messages are
 * displayed from the start of the sender's trace.
 */
function pointsOf(way) {
	if (!way || way.points || !way.time)
		return way && way.points || [];
	const base = way.corrected ? BASE : HOSTS[way.from].first;
	const first = Number(big(way.time_base) - base) / 1e9, before = Number(way.before_base);

	way.points = way.time.map((ns, i) => ({
		time: first + Number(ns) / 1e9,
		before: before + Number(way.before[i]),
		after: Number(way.after[i]),
	}));
	return way.points;
}
