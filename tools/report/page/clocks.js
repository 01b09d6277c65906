/* SPDX-License-Identifier: GPL-2.0-only */
/* Plot the offset and skew of a host's clock relative to the reference. */
"use strict";

const clocks = { host: null, mode: "bends" };

function straightPart(curve) {
	const first = curve[0], last = curve[curve.length - 1];
	const slope = last.time > first.time ? (last.offset - first.offset) / (last.time - first.time) : 0;

	return (p) => first.offset + slope * (p.time - first.time);
}

function drawSteps(context, area, graph, host) {
	context.strokeStyle = colour("back");
	context.setLineDash([4, 3]);
	for (const step of host.steps) {
		const x = graph.toDomXCoord(stepTime(host, step));

		context.beginPath();
		context.moveTo(x, area.y);
		context.lineTo(x, area.y + area.h);
		context.stroke();
	}
	context.setLineDash([]);
}

/* Draw knots if they can be distinguished. */
function drawKnots(context, area, graph, knots) {
	const [from, to] = graph.xAxisRange();
	const inside = knots.filter(([time]) => time >= from && time <= to);

	if (inside.length * 10 > area.w)
		return;
	context.fillStyle = colour("curve");
	for (const [time, value] of inside) {
		context.beginPath();
		context.arc(graph.toDomXCoord(time), graph.toDomYCoord(value), 3, 0, 2 * Math.PI);
		context.fill();
	}
}

/* Say the standard deviation at a time in s, if the method computed it. */
function sayDeviation(curve, seconds) {
	const deviation = along(curve, seconds, "deviation");

	if (!curve.some((p) => p.deviation !== null))
		return "";
	return `, standard deviation ${deviation === null ? "unknown" : formatDuration(deviation)}`;
}

function showOffset(host, curve) {
	const straight = clocks.mode === "bends" ? straightPart(curve) : () => 0;
	const value = (p) => p.offset - straight(p);
	const low = (p) => p.below === null ? null : value(p) - p.below;
	const high = (p) => p.above === null ? null : value(p) + p.above;
	const isOffset = clocks.mode === "whole";

	plot("offset-chart", {
		labels: ["time", "offset", "not below", "not above"],
		rows: curve.map((p) => [p.time, value(p), low(p), high(p)]),
		series: { offset: line("curve", 2), "not below": line("accurate", 1),
			"not above": line("accurate", 1) },
		ticks: durationTicks,
		say: `Offset of the clock of ${host.name} from the reference over time, with the error bound`,
		describe: (row) => `${formatSeconds(row[0], 1e-6)} s: ` +
			(isOffset ? `${formatBig(host.offset)} s ` : "") +
			`${isOffset && row[1] >= 0 ? "+ " : ""}${formatDuration(row[1])}, within ` +
			`${row[2] === null ? "unknown" : formatDuration(row[2] - row[1])} and ` +
			`${row[3] === null ? "unknown" : "+" + formatDuration(row[3] - row[1])}` +
			sayDeviation(curve, row[0]),
		under: (context, area, graph) => {
			fillBand(context, graph, curve.map((p) => [p.time, low(p), high(p)]));
			fillBand(context, graph, curve.map((p) => p.deviation === null ?
				[p.time, null, null] :
				[p.time, value(p) - p.deviation, value(p) + p.deviation]), "deviation");
			drawSteps(context, area, graph, host);
			drawKnots(context, area, graph,
				  curve.filter((p) => p.isEdge).map((p) => [p.time, value(p)]));
		},
	});
	byId("clocks-say").textContent = isOffset ?
		`Relative to ${formatBig(host.offset)} s, the offset at the beginning.` :
		"Relative to the straight line from the beginning to the end, so that curvature and bound are visible.";
}

/* Return the mean skew from the begin to the end, in ppm. */
function meanSkew(curve) {
	const first = curve[0], last = curve[curve.length - 1];

	return last.time > first.time ?
		(last.offset - first.offset) / (last.time - first.time) / 1e3 : 0;
}

function showSkew(host, curve) {
	/* A rate applies from one segment boundary to the next. */
	const rows = curve.map((p) => [p.time, p.skew]);
	/* A rate that applies only briefly results from rounded times. */
	const least = (curve[curve.length - 1].time - curve[0].time) / 1000;
	const lasting = curve.filter((p, i) => i + 1 < curve.length && curve[i + 1].time - p.time > least);
	const skews = (lasting.length ? lasting : curve).map((p) => p.skew);
	const mean = meanSkew(curve), within = host.skewWithin;
	const band = isFinite(within) && within > 0 ? [mean - within, mean + within] : [];
	const low = Math.min(...skews, ...band), high = Math.max(...skews, ...band);
	const room = Math.max(0.02, (high - low) * 0.1);

	legend("skew-legend", [["skew", swatch("line", "curve")],
		...(band.length ? [["bound of the mean skew", swatch("band", "band")]] : [])]);
	byId("skew-say").textContent = host.isReference ? "" :
		`On average ${formatPpm(mean, within)}.` +
		(band.length ? " Drag up or down in the plot to zoom in." : "");

	plot("skew-chart", {
		labels: ["time", "skew"], rows,
		series: { skew: { ...line("curve", 2), stepPlot: true } },
		range: [low - room, high + room],
		ticks: ppmTicks,
		say: `Skew of the clock of ${host.name} against the reference over time, with the bound of its mean`,
		describe: (row) => `${formatSeconds(row[0], 1e-6)} s: ${formatPpm(row[1])}`,
		under: (context, area, graph) => {
			if (band.length)
				fillBand(context, graph, [curve[0], curve[curve.length - 1]]
					.map((p) => [p.time, ...band]));
			drawSteps(context, area, graph, host);
			drawKnots(context, area, graph,
				  curve.filter((p) => p.isEdge).map((p) => [p.time, p.skew]));
		},
	});
}

function showClock() {
	const { host } = clocks;
	const curve = curveOf(host) || [];

	legend("clocks-legend", [
		["offset", swatch("line", "curve")], ["error bound", swatch("band", "band")],
		...(curve.some((p) => p.deviation !== null) ?
			[["standard deviation", swatch("band", "deviation")]] : []),
		...(curve.some((p) => p.isEdge) ? [["knot", swatch("dot", "curve")]] : []),
		...(host.steps.length ? [["step", swatch("dash", "back")]] : []),
	]);
	if (curve.length) {
		showOffset(host, curve);
		showSkew(host, curve);
	} else {
		byId("clocks-say").textContent = `The clock of ${host.name} could not be corrected.`;
		legend("skew-legend", []);
		byId("skew-say").textContent = "";
		for (const id of ["offset-chart", "skew-chart"])
			plot(id, { rows: [], say: "nothing" });
	}
	showSteps(curve.length ? host : { ...host, steps: [] });
}

function chooseHost(host) {
	byId("host-choice").value = host.index;
	clocks.host = host;
	showClock();
}

function setUpClocks() {
	const choice = byId("host-choice");
	const usual = HOSTS.find((host) => host.known && !host.isReference) || HOSTS[0];

	choice.replaceChildren(...HOSTS.map((host) =>
		make("option", { value: host.index }, host.name + (host.isReference ? " (reference)" : ""))));
	choice.addEventListener("change", () => {
		chooseHost(HOSTS[choice.value]);
		tellAddress("clocks");
	});
	onAddress("clocks", {
		look: setView, window: shownView,
		chosen: () => ({ host: clocks.host.name }),
		choose: (told) => {
			const host = HOSTS.find((one) => one.name === told.get("host"));

			if (host && host !== clocks.host)
				chooseHost(host);
		},
	});
	onSwitch("clocks-mode", (mode) => {
		clocks.mode = mode;
		showClock();
	});
	chooseHost(usual);
}
