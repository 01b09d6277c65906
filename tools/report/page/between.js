/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plot the clocks of a pair against each other, and the messages from which they are
 * estimated. Messages in one direction lie above the difference of the clocks, messages
 * in the other direction below it.
 */
"use strict";

/* Approximate maximum number of corners of an envelope, for clocks with curvature. */
const MAX_CORNERS = 64;

/*
 * Return the difference of two clocks (second minus first), minus a straight line from
 * its begin to its end, and its error bounds.
 */
function differenceOf(pair) {
	const curves = pair.hosts.map((host) => curveOf(HOSTS[host]));

	if (!curves[0] || !curves[1])
		return null;
	const from = Math.max(curves[0][0].time, curves[1][0].time);
	const to = Math.min(curves[0][curves[0].length - 1].time, curves[1][curves[1].length - 1].time);
	const inside = (time) => time >= from && time <= to;
	const times = [...new Set(curves.flat().map((p) => p.time).filter(inside).concat([from, to]))];
	const sum = (a, b) => a === null || b === null ? null : a + b;
	const at = (time, quantity, host) => along(curves[host], time, quantity);

	if (!(to > from))
		return null;
	const points = times.sort((a, b) => a - b).map((time) => ({
		time,
		value: at(time, "offset", 0) - at(time, "offset", 1),
		below: sum(at(time, "below", 0), at(time, "above", 1)),
		above: sum(at(time, "above", 0), at(time, "below", 1)),
	}));
	const first = points[0], last = points[points.length - 1];
	const slope = (last.value - first.value) / (last.time - first.time);

	for (const point of points)
		point.value -= first.value + slope * (point.time - first.time);
	return points;
}

/*
 * Select the messages with the smallest delays from a list of [time, delay] in order of
 * time. No other message's delay is smaller by more than @slope times the time between
 * them.
 */
function lowest(points, slope) {
	const sweep = (order) => {
		let least = Infinity, last = 0;

		for (const i of order) {
			const [time, delay] = points[i];

			least += Math.abs(time - last) * slope;
			last = time;
			if (delay > least)
				high[i] = true;
			least = Math.min(least, delay);
		}
	};
	const numbers = points.map((_, i) => i);
	const high = [];

	sweep(numbers);
	sweep(numbers.reverse());
	return points.filter((_, i) => !high[i]);
}

/*
 * Return a line through the lowest messages of one direction (sign 1) or the other
 * direction (-1).
 */
function envelopeOf(points, sign, curve) {
	const span = curve[curve.length - 1].time - curve[0].time;
	const median = quantileOf(points.map((p) => p[1]), 0.5);
	const bends = curve.some((p) => Math.abs(p.value) > Math.abs(median) / 20);
	const number = bends ? Math.min(MAX_CORNERS, curve.length, points.length / 50) : 1;
	const corners = lowest(points, number * Math.abs(median) / span)
		.map(([time, delay]) => ({ time, delay }));

	if (!corners.length)
		return [];
	const between = curve.map((p) => p.time).filter((time) =>
		time > corners[0].time && time < corners[corners.length - 1].time);

	return corners.map((p) => p.time).concat(between).sort((a, b) => a - b).map((time) =>
		[time, along(curve, time, "value") + sign * along(corners, time, "delay")]);
}

function quantileOf(values, share) {
	return values.length ? values.sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] : 0;
}

function showBetween(pair) {
	const curve = isCorrected(pair) ? differenceOf(pair) : null;
	const names = directionNames(pair);
	const clouds = pair.ways.map((way) => pointsOf(way).map((p) => [p.time, p.after]));
	const above = ([time, delay]) => [time, along(curve, time, "value") + delay];
	const below = ([time, delay]) => [time, along(curve, time, "value") - delay];
	const columns = ["time", names[0], names[1], "envelope above", "envelope below",
		"difference of the clocks"];
	const row = (column, [x, y]) => Object.assign([x, null, null, null, null, null], { [column]: y });
	const rows = !curve ? [] : [
		...clouds[0].map((p) => row(1, above(p))), ...clouds[1].map((p) => row(2, below(p))),
		...envelopeOf(clouds[0], 1, curve).map((p) => row(3, p)),
		...envelopeOf(clouds[1], -1, curve).map((p) => row(4, p)),
		...curve.map((p) => row(5, [p.time, p.value])),
	].sort((a, b) => a[0] - b[0]);
	/* The gap between the directions matters, so late messages are initially out of view. */
	const values = (curve || []).map((p) => p.value);
	const high = Math.max(...values) + 2 * quantileOf(clouds[0].map((p) => p[1]), 0.5);
	const low = Math.min(...values) - 2 * quantileOf(clouds[1].map((p) => p[1]), 0.5);

	byId("between").hidden = !curve;
	legend("between-legend", [
		[names[0], swatch("dot", "there")], [names[1], swatch("box", "back")],
		["envelopes", swatch("line", "quiet")], ["difference of the clocks", swatch("line", "curve")],
		["error bound", swatch("band", "band")],
	]);
	plot("between-chart", {
		labels: columns, rows,
		series: {
			[columns[1]]: marks("there", false), [columns[2]]: marks("back", true),
			[columns[3]]: line("quiet", 1.25, [5, 3]), [columns[4]]: line("quiet", 1.25, [5, 3]),
			[columns[5]]: line("curve", 2),
		},
		range: high > low ? [low, high] : null,
		ticks: durationTicks,
		say: `The difference of the clocks of ${pair.name}, between the messages of both directions`,
		describe: (at) => formatSeconds(at[0], 1e-6) + " s: " + columns.slice(1)
			.map((name, i) => at[i + 1] === null ? null : name + " " + formatDuration(at[i + 1]))
			.filter((text) => text).join(", "),
		chosen: showInstant,
		under: (context, area, graph) => fillBand(context, graph, curve.map((p) =>
			[p.time, p.below === null ? null : p.value - p.below,
			 p.above === null ? null : p.value + p.above])),
	});
}
