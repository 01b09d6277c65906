/* SPDX-License-Identifier: GPL-2.0-only */
/* Plots over time. All plots display the same interval. */
"use strict";

const CHARTS = new Map();

const WHOLE = HOSTS.reduce(([from, to], host) => {
	const curve = curveOf(host) || [];

	return curve.length ? [Math.min(from, curve[0].time),
		Math.max(to, curve[curve.length - 1].time)] : [from, to];
}, [0, 1e-6]);

let view = whole();
let following = false;

function whole() {
	const edge = (WHOLE[1] - WHOLE[0]) * 0.01;

	return [WHOLE[0] - edge, WHOLE[1] + edge];
}

function setView(from, to) {
	const least = (WHOLE[1] - WHOLE[0]) * 1e-9 + 1e-9;

	if (!(to - from >= least))
		return;
	view = [from, to];
	following = true;
	for (const chart of CHARTS.values())
		if (chart.graph)
			chart.graph.updateOptions({ dateWindow: view });
	following = false;
}

function zoomView(factor, share) {
	const length = (view[1] - view[0]) * factor;
	const from = view[0] + (view[1] - view[0]) * share - length * share;
	const limit = whole();

	if (length >= limit[1] - limit[0])
		setView(limit[0], limit[1]);
	else
		setView(from, from + length);
}

function moveView(share) {
	const step = (view[1] - view[0]) * share;

	setView(view[0] + step, view[1] + step);
}

function resetView() {
	for (const chart of CHARTS.values())
		if (chart.graph)
			chart.graph.updateOptions({ valueRange: chart.spec.range || null }, true);
	const limit = whole();

	setView(limit[0], limit[1]);
}

/* Actions of the buttons and keys of a plot. */
const MOVES = {
	out: { sign: MINUS, say: "zoom out", keys: ["-"], move: () => zoomView(2, 0.5) },
	in: { sign: "+", say: "zoom in", keys: ["+", "="], move: () => zoomView(0.5, 0.5) },
	earlier: { sign: "◂", say: "earlier", keys: ["ArrowLeft"], move: () => moveView(-0.25) },
	later: { sign: "▸", say: "later", keys: ["ArrowRight"], move: () => moveView(0.25) },
	all: { sign: "all", say: "all of the time", keys: ["0", "Home"], move: resetView },
};

function addMoves(box, target, moves) {
	box.replaceChildren(...Object.entries(moves).map(([name, { sign, say, move }]) => {
		const button = make("button", { type: "button", title: say, "aria-label": say,
			"data-move": name }, sign);

		button.addEventListener("click", () => {
			move();
			tellAddress(viewOf(target));
		});
		return button;
	}));
	target.addEventListener("keydown", (event) => {
		const found = Object.values(moves).find(({ keys }) => keys.includes(event.key));

		if (!found || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		found.move();
		tellAddress(viewOf(target));
	});
}

/* Return the interval that all plots display, or null if they display everything. */
function shownView() {
	const [from, to] = whole();

	return view[0] === from && view[1] === to ? null : view;
}

/* Scroll the page with one finger, and zoom with two fingers. */
function twoFingers(name) {
	const act = Dygraph.defaultInteractionModel[name];

	return (event, graph, context) => {
		if (event.touches.length > 1 || context.isZooming || name === "touchend")
			act(event, graph, context);
	};
}

function interaction(element) {
	return {
		...Dygraph.defaultInteractionModel,
		touchstart: twoFingers("touchstart"),
		touchmove: (event, graph, context) => {
			if (event.touches.length > 1)
				Dygraph.defaultInteractionModel.touchmove(event, graph, context);
		},
		dblclick: () => {
			resetView();
			tellAddress(viewOf(element));
		},
	};
}

function ticker(ticks, spacing, isLog) {
	return (min, max, pixels) => ticks(min, max, Math.max(2, Math.floor(pixels / spacing)), isLog);
}

/*
 * Draw the plot of an element. @spec has these members: labels and rows, as for dygraphs;
 * series, how each series is drawn; ticks of the values; log, whether their scale is
 * logarithmic; range, the initial range of the values, or null; describe(row), which
 * returns the line below; chosen(seconds), called on a click; under(context, area,
 * graph), which draws below everything; and say, a description for people who cannot see
 * the plot.
 */
function plot(id, spec) {
	const element = byId(id), readout = byId(id.replace("chart", "readout"));
	const chart = CHARTS.get(id) || {};

	if (chart.graph)
		chart.graph.destroy();
	element.replaceChildren();
	element.setAttribute("aria-label", spec.say);
	element.dataset.points = spec.rows.length;
	chart.spec = spec;
	CHARTS.set(id, chart);
	readout.textContent = "";
	if (!spec.rows.length) {
		chart.graph = null;
		element.append(make("p", { class: "quiet" }, "Nothing to draw."));
		return;
	}
	chart.graph = new Dygraph(element, spec.rows, {
		labels: spec.labels,
		series: spec.series,
		legend: "never",
		logscale: spec.log || false,
		dateWindow: view,
		valueRange: spec.range || null,
		xRangePad: 0,
		yRangePad: 8,
		rightGap: 12,
		axisLineColor: colour("line"),
		gridLineColor: colour("grid"),
		gridLineWidth: 1,
		highlightCircleSize: 4,
		axes: {
			x: { ticker: ticker(timeTicks, 85), axisLabelWidth: 84 },
			y: { ticker: ticker(spec.ticks, 45, spec.log), axisLabelWidth: 76 },
		},
		interactionModel: interaction(element),
		underlayCallback: spec.under || null,
		clickCallback: spec.chosen ? (event, x) => spec.chosen(x) : null,
		highlightCallback: (event, x, points, row) =>
			readout.textContent = spec.describe(spec.rows[row]),
		unhighlightCallback: () => readout.textContent = "",
		drawCallback: (graph) => {
			const [from, to] = graph.xAxisRange();
			const [low, high] = graph.yAxisRange();

			Object.assign(element.dataset, { from, to, low, high });
			if (!following && (from !== view[0] || to !== view[1])) {
				setView(from, to);
				tellAddress(viewOf(element));
			}
		},
	});
}

/* Draw points as marks: a dot for one direction, a box for the other. */
function marks(name, isBox) {
	const fill = colour(name);

	return {
		color: fill,
		drawPoints: true,
		strokeWidth: 0,
		pointSize: 2,
		drawPointCallback: isBox ? (graph, series, context, x, y) => {
			context.fillStyle = fill;
			context.fillRect(x - 1.75, y - 1.75, 3.5, 3.5);
		} : undefined,
	};
}

function line(name, width, pattern) {
	return {
		color: colour(name), strokeWidth: width, strokePattern: pattern || null,
		drawPoints: false, connectSeparatedPoints: true,
	};
}

/* Fill the area between two curves, given as points [x, low, high], with a named colour. */
function fillBand(context, graph, points, name = "band") {
	const at = (x, y) => [graph.toDomXCoord(x), graph.toDomYCoord(y)];
	let drawn = [];
	const close = () => {
		if (drawn.length > 1) {
			context.beginPath();
			drawn.forEach(([x, low]) => context.lineTo(...at(x, low)));
			drawn.reverse().forEach(([x, , high]) => context.lineTo(...at(x, high)));
			context.fill();
		}
		drawn = [];
	};

	context.fillStyle = colour(name);
	for (const point of points)
		if (point[1] === null || point[2] === null)
			close();
		else
			drawn.push(point);
	close();
}

/* Redraw canvases when colours change between light and dark. */
function redrawOnColours(all) {
	window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
}
