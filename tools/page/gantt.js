/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A chart of rows over time. Its data has these members: rows, each with host, name,
 * size, and the begin and end of its spans in order of time; labels; label(row, at),
 * which returns the number of a span's label; arrow(row, at), which returns the arrow to
 * a span as { row, begin, end }, or null; and describe(row, at), which returns a
 * sentence.
 *
 * Only visible rows are drawn. If several spans of a row fall on one pixel, only the
 * first one is drawn. The time for a frame therefore depends on the size of the window,
 * not on the number of spans.
 */
"use strict";

const ROW = 22, AXIS = 24, GAP = 3;
/*
 * A span that is narrower than this many pixels has no arrow, unless it is selected or
 * its data has another .leastArrow. Chosen.
 */
const LEAST_ARROW = 6;
/*
 * Colours of Okabe and Ito, which colour-blind people can distinguish. Waiting has a
 * lighter colour.
 */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
	"#8c6bb1", "#b2a100"];
const WAITING = "#9aa4b1";

/* Assign a colour to each name, so that a state has the same colour on all hosts. */
function colours(labels) {
	const given = new Map();

	for (const label of labels)
		if (!given.has(label))
			given.set(label, /^(wait|runnable|queued)/.test(label) ? WAITING :
				COLOURS[given.size % COLOURS.length]);
	return given;
}

/* Return the interval from the first begin to the last end. */
function extent(rows) {
	let from = Infinity, to = -Infinity;

	for (const row of rows)
		if (row.size) {
			from = Math.min(from, row.begin[0]);
			to = Math.max(to, row.end[row.size - 1]);
		}
	return from < to ? [from, to] : [0, 1];
}

/* Return the first span of a row that ends after a time. */
function firstAfter(row, time) {
	let low = 0, high = row.size;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (row.end[middle] > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

class Gantt {
	constructor(data, box, canvas, space, told) {
		this.data = data;
		this.box = box;
		this.canvas = canvas;
		this.space = space;
		this.told = told;	/* called when the window or the selection changes */
		this.colours = colours(data.labels);
		this.byLabel = data.labels.map((label) => this.colours.get(label));
		this.show(data.rows);
		[this.from, this.to] = this.whole = extent(data.rows);
		this.chosen = null;	/* [row, span] that is selected, or null */
		box.addEventListener("scroll", () => this.later());
		new ResizeObserver(() => this.later()).observe(box);
	}

	show(rows) {
		this.rows = rows;
		this.places = new Map(rows.map((row, i) => [row, i]));
		this.space.style.height = rows.length * ROW + "px";
		/* The style limits the height to most of the screen. */
		this.box.style.height = Math.max(rows.length, 3) * ROW + AXIS + 2 + "px";
		this.later();
	}

	/* Redraw at most once per displayed frame. */
	later() {
		if (!this.waiting)
			requestAnimationFrame(() => this.draw());
		this.waiting = true;
	}

	look(from, to) {
		const least = 10, most = this.whole[1] - this.whole[0];
		const length = Math.min(Math.max(to - from, least), most);
		const start = Math.min(Math.max(from, this.whole[0]), this.whole[1] - length);

		this.from = start;
		this.to = start + length;
		this.later();
		this.told();
	}

	left() {
		return Math.min(180, this.box.clientWidth * 0.3);
	}

	timeAt(x) {
		const left = this.left();

		return this.from + (x - left) / (this.box.clientWidth - left) *
			(this.to - this.from);
	}

	/* Return the span at a position as [row, span], or null. */
	find(x, y) {
		const row = Math.floor((y - AXIS + this.box.scrollTop) / ROW);
		const slack = 2 * (this.to - this.from) / this.box.clientWidth;

		if (y < AXIS || x < this.left() || row >= this.rows.length)
			return null;
		const time = this.timeAt(x), of = this.rows[row];
		const at = firstAfter(of, time - slack);

		return at < of.size && of.begin[at] <= time + slack ? [row, at] : null;
	}

	/*
	 * Return the time to zoom in on, which is the end of the selected state if it is
	 * visible.
	 */
	middle() {
		const end = this.chosen ? this.rows[this.chosen[0]].end[this.chosen[1]] : NaN;

		return end > this.from && end < this.to ? end : (this.from + this.to) / 2;
	}

	/* Fill in the legend of colours. */
	explain(legend) {
		for (const [label, colour] of this.colours) {
			const entry = document.createElement("span"), box = document.createElement("i");

			box.style.background = colour;
			entry.append(box, label);
			legend.append(entry);
		}
	}

	choose(found) {
		this.chosen = found;
		this.later();
		this.told();
	}

	draw() {
		const width = this.box.clientWidth, height = this.box.clientHeight;
		const ratio = window.devicePixelRatio || 1;
		const style = getComputedStyle(document.documentElement);
		const pen = this.canvas.getContext("2d");

		this.waiting = false;
		this.canvas.width = width * ratio;
		this.canvas.height = height * ratio;
		this.canvas.style.width = width + "px";
		this.canvas.style.height = height + "px";
		this.space.style.marginTop = AXIS - height + "px";
		this.ink = style.getPropertyValue("--ink");
		this.quiet = style.getPropertyValue("--quiet");
		this.grid = style.getPropertyValue("--grid");
		this.paper = style.getPropertyValue("--paper");
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		pen.clearRect(0, 0, width, height);
		pen.font = "12px system-ui, sans-serif";
		pen.textBaseline = "middle";
		this.drawn = 0;
		this.arrows = [];
		const first = Math.floor(this.box.scrollTop / ROW);
		const last = Math.min(this.rows.length,
			first + Math.ceil((height - AXIS) / ROW) + 1);
		for (let i = first; i < last; i++)
			this.drawRow(pen, this.rows[i], i, AXIS + i * ROW - this.box.scrollTop, width);
		for (const arrow of this.arrows)
			this.drawArrow(pen, ...arrow, width);
		this.drawAxis(pen, width, height);
		this.box.dataset.arrows = this.arrows.length;
		this.box.dataset.drawn = this.drawn;
		this.box.dataset.rows = this.rows.length;
	}

	drawRow(pen, row, number, y, width) {
		const left = this.left(), scale = (width - left) / (this.to - this.from);
		let at = firstAfter(row, this.from), x = left;

		while (at < row.size && row.begin[at] < this.to) {
			const x0 = Math.max(left, left + (row.begin[at] - this.from) * scale);
			const x1 = Math.min(width, left + (row.end[at] - this.from) * scale);
			const chosen = this.chosen && this.chosen[0] === number &&
				this.chosen[1] === at;
			const label = this.data.label(row, at);

			pen.fillStyle = this.byLabel[label];
			pen.fillRect(x0, y + GAP, Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0)),
				ROW - 2 * GAP);
			if (chosen) {
				pen.strokeStyle = this.ink;
				pen.lineWidth = 2;
				pen.strokeRect(x0, y + GAP - 1, Math.max(2, x1 - x0),
					ROW - 2 * GAP + 2);
			}
			if (x1 - x0 > 50) {
				pen.fillStyle = "#fff";
				pen.fillText(this.data.labels[label], x0 + 4, y + ROW / 2,
					x1 - x0 - 8);
			}
			this.drawn++;
			if (chosen || x1 - x0 > (this.data.leastArrow ?? LEAST_ARROW))
				this.addArrow(row, number, at, chosen);
			/* Continue with the next span that reaches another pixel. */
			x = Math.max(Math.ceil(x1), Math.floor(x0) + 1);
			at = Math.max(at + 1, firstAfter(row, this.from + (x - left) / scale));
		}
		pen.fillStyle = this.paper;
		pen.fillRect(0, y, left, ROW);
		pen.fillStyle = this.ink;
		pen.fillText(`${row.host} ${row.name}`, 6, y + ROW / 2, left - 12);
	}

	addArrow(row, number, at, chosen) {
		const arrow = this.data.arrow(row, at);
		const place = arrow ? this.places.get(arrow.row) : undefined;

		/*
		 * Within one row, no arrow is needed, because one span ends where the
		 * next begins.
		 */
		if (place !== undefined && place !== number)
			this.arrows.push([place, arrow.begin, number, arrow.end, chosen]);
	}

	drawArrow(pen, from, begin, to, end, chosen, width) {
		const left = this.left(), scale = (width - left) / (this.to - this.from);
		const middle = (row) => AXIS + (row + 0.5) * ROW - this.box.scrollTop;
		const x0 = left + (begin - this.from) * scale, y0 = middle(from);
		const x1 = left + (end - this.from) * scale, y1 = middle(to);
		const length = Math.hypot(x1 - x0, y1 - y0);
		const dx = (x1 - x0) / length * 7, dy = (y1 - y0) / length * 7;

		pen.save();
		pen.beginPath();
		pen.rect(left, AXIS, width - left, this.box.clientHeight - AXIS);
		pen.clip();
		pen.strokeStyle = pen.fillStyle = this.ink;
		pen.lineWidth = chosen ? 2.5 : 1;
		pen.beginPath();
		pen.moveTo(x0, y0);
		pen.lineTo(x1, y1);
		pen.stroke();
		pen.beginPath();
		pen.moveTo(x1, y1);
		pen.lineTo(x1 - dx - dy / 2, y1 - dy + dx / 2);
		pen.lineTo(x1 - dx + dy / 2, y1 - dy - dx / 2);
		pen.fill();
		pen.restore();
	}

	drawAxis(pen, width, height) {
		const left = this.left(), span = this.to - this.from;
		const rough = span / Math.max(2, (width - left) / 110);
		const power = 10 ** Math.floor(Math.log10(rough));
		const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);

		pen.fillStyle = this.paper;
		pen.fillRect(0, 0, width, AXIS);
		for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
			const x = left + (t - this.from) / span * (width - left);

			pen.fillStyle = this.grid;
			pen.globalAlpha = 0.6;
			pen.fillRect(x, AXIS, 1, height - AXIS);
			pen.globalAlpha = 1;
			pen.fillStyle = this.quiet;
			pen.fillText((t / 1e9).toFixed(Math.max(0, 9 - Math.floor(
				Math.log10(step)))).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") +
				" s", Math.min(x + 3, width - 60), AXIS / 2);
		}
		if (this.drag) {
			pen.globalAlpha = 0.2;
			pen.fillStyle = this.ink;
			pen.fillRect(Math.min(...this.drag), AXIS,
				Math.abs(this.drag[1] - this.drag[0]), height - AXIS);
			pen.globalAlpha = 1;
		}
	}
}
