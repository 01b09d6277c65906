/* SPDX-License-Identifier: GPL-2.0-only */
/* Plot the one-way delays of a pair's messages, before and after correction. */
"use strict";

const delays = { pair: null, mode: "after", scale: null };

/* Merge the messages of both directions into one list, in order of time. */
function mergeWays(pair, value) {
	const rows = [];

	pair.ways.forEach((way, back) => {
		for (const point of pointsOf(way)) {
			const row = [point.time, null, null];

			row[1 + back] = value(point);
			rows.push(row);
		}
	});
	return rows.sort((a, b) => a[0] - b[0]);
}

function directionNames(pair) {
	const [a, b] = pair.hosts.map((host) => HOSTS[host].name);

	return [a + " → " + b, b + " → " + a];
}

function isCorrected(pair) {
	return pair.ways.every((way) => !way || way.corrected);
}

/* Explain how many of the messages are in the page. */
function shownOf(pair) {
	const shown = pair.ways.reduce((sum, way) => sum + pointsOf(way).length, 0);
	const all = pair.messages[0] + pair.messages[1];

	if (!shown)
		return " This page contains only the messages of the busiest pairs.";
	return shown < all ? ` The plot displays ${formatCount(shown)} of ${formatCount(all)} messages, ` +
		"including those with the smallest and the largest delay in each short interval." : "";
}

/* Delays of very different sizes are only visible on a logarithmic scale. */
function suitsLog(pair) {
	return pair.ways.every((way) => !way || way.min > 0) &&
		pair.ways.some((way) => way && way.max > 20 * way.median);
}

function canLog(rows) {
	return rows.every((row) => (row[1] === null || row[1] > 0) && (row[2] === null || row[2] > 0));
}

function showDelays() {
	const { pair } = delays;
	const mode = isCorrected(pair) ? delays.mode : "before";
	const rows = mergeWays(pair, (point) => point[mode]);
	const logs = canLog(rows);
	const log = logs && (delays.scale ? delays.scale === "log" : mode === "after" && suitsLog(pair));
	const names = directionNames(pair);
	const inverted = mode === "before" ? pair.before : pair.after;

	for (const input of byId("delays-mode").querySelectorAll("input")) {
		input.checked = input.value === mode;
		input.disabled = input.value === "after" && !isCorrected(pair);
	}
	for (const input of byId("delays-scale").querySelectorAll("input")) {
		input.checked = input.value === (log ? "log" : "linear");
		input.disabled = input.value === "log" && !logs;
	}
	byId("delays-say").textContent =
		(mode === "before" ? "Before correction, " : "After correction, ") +
		(inverted ? `${plural(inverted, "message")} ${inverted === 1 ? "was" : "were"}` :
			"no messages were") +
		" received before they were sent." + shownOf(pair) +
		(isCorrected(pair) ? "" : " These clocks could not be corrected: no messages connect them with the reference. Times are those of the sender, relative to the beginning of its trace.");
	legend("delays-legend", [
		[names[0], swatch("dot", "there")], [names[1], swatch("box", "back")],
		...(lateOf(pair).some(isUnusual) ? [["late message, listed below", swatch("ring", "quiet")]] : []),
	]);
	byId("delays-chart").dataset.mode = mode;
	plot("delays-chart", {
		labels: ["time"].concat(names), rows, log,
		series: { [names[0]]: marks("there", false), [names[1]]: marks("back", true) },
		ticks: durationTicks,
		say: `One-way delays of the messages between ${pair.name} over time, ${mode} correction`,
		describe: (row) => formatSeconds(row[0], 1e-6) + " s: " + names
			.map((name, i) => row[i + 1] === null ? null : name + " " +
				formatDuration(row[i + 1]) + sayLate(pair, i, row[0], row[i + 1], mode))
			.filter((text) => text).join(", "),
		chosen: isCorrected(pair) ? showInstant : null,
		under: (context, area, graph) => {
			drawZero(context, area, graph);
			drawRings(context, area, graph, pair, mode);
		},
	});
}

/* A message below this line was received before it was sent. */
function drawZero(context, area, graph) {
	const y = graph.toDomYCoord(0);

	if (!isFinite(y) || y < area.y || y > area.y + area.h)
		return;
	context.strokeStyle = colour("quiet");
	context.beginPath();
	context.moveTo(area.x, y);
	context.lineTo(area.x + area.w, y);
	context.stroke();
}

function setUpDelays() {
	onSwitch("delays-mode", (mode) => {
		delays.mode = mode;
		delays.scale = null;
		showDelays();
	});
	onSwitch("delays-scale", (scale) => {
		delays.scale = scale;
		showDelays();
	});
}
