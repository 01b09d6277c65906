/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The critical path of a thread: a chart with a row for each thread on the path, and
 * sums. Times are in ns since the begin of the path.
 */
"use strict";

/* Count of the numbers that describe a piece in the array (report/path.c). */
const WIDTH_OF_PIECE = 10;
const MINORS = 1 << 20;	/* 2^MINORBITS in the kernel's encoding of devices */

function pieceAt(data, index) {
	const at = index * WIDTH_OF_PIECE;
	const [thread, kind, reason, , , bound, other, detail, open] =
		data.pieces.slice(at, at + WIDTH_OF_PIECE);

	return { thread, kind: data.labels[kind], reason: data.reasons[reason],
		begin: data.begins[index], end: data.ends[index], bound, other, detail, open };
}

function threadName(data, number) {
	const [, tid, name] = data.threads[number];

	return tid === undefined ? "interrupts" : `${name || "?"} (${tid})`;
}

function hostOf(data, number) {
	return data.hosts[data.threads[number][0]];
}

/* Describe the detail of a piece, as "by hog (12)", "from db, chain (99)" or "device 8:1". */
function detailOf(data, piece) {
	if (piece.kind === "unknown" || piece.reason)
		return piece.reason;
	if (piece.kind === "disk")
		return `device ${Math.floor(piece.detail / MINORS)}:${piece.detail % MINORS}`;
	if (piece.kind === "interrupt")
		return `number ${piece.detail}`;
	if (piece.other < 0)
		return piece.kind === "preempted" ? "by none: its CPU was waking up" : "";
	const other = threadName(data, piece.other);

	return piece.kind === "preempted" ? `by ${other}` :
		`from ${hostOf(data, piece.other)}, ${other}`;
}

/* Return a row for each thread, in the order in which the path reaches the threads. */
function pathRows(data) {
	const sizes = new Uint32Array(data.threads.length);
	const rows = new Map();
	let now = 0;

	data.begins = new Float64Array(data.count);
	data.ends = new Float64Array(data.count);
	for (let i = 0; i < data.count; i++) {
		sizes[data.pieces[i * WIDTH_OF_PIECE]]++;
		data.begins[i] = now += data.pieces[i * WIDTH_OF_PIECE + 3];
		data.ends[i] = now += data.pieces[i * WIDTH_OF_PIECE + 4];
	}
	data.places = new Uint32Array(data.count);
	for (let i = 0; i < data.count; i++) {
		const thread = data.pieces[i * WIDTH_OF_PIECE];
		const size = sizes[thread];

		if (!rows.has(thread))
			rows.set(thread, { host: hostOf(data, thread), name: threadName(data, thread),
				size: 0, begin: new Float64Array(size), end: new Float64Array(size),
				span: new Uint32Array(size) });
		const row = rows.get(thread);

		data.places[i] = row.size;
		row.begin[row.size] = data.begins[i];
		row.end[row.size] = data.ends[i];
		row.span[row.size++] = i;
	}
	data.rowOf = rows;
	return [...rows.values()];
}

/* Read the path. Return null if the page has no path. */
function readPath(text) {
	const read = JSON.parse(text);

	if (!read)
		return null;
	const { pieces, meaning } = read;
	const data = {
		pieces, count: pieces.length / WIDTH_OF_PIECE, begin: BigInt(meaning.begin_ns),
		length: meaning.length, who: meaning.who, hosts: meaning.hosts,
		labels: meaning.kinds, reasons: meaning.reasons, threads: meaning.threads,
		charges: meaning.charges,
	};

	data.rows = pathRows(data);
	/* Draw arrows to narrow pieces, too: these arrows are vertical and take no space. */
	data.leastArrow = 1;
	data.label = (row, at) => pieces[row.span[at] * WIDTH_OF_PIECE + 1];
	/* Return an arrow from the previous piece of the path. */
	data.arrow = (row, at) => {
		const before = row.span[at] - 1;

		return before < 0 ? null : {
			row: data.rowOf.get(pieces[before * WIDTH_OF_PIECE]),
			begin: row.begin[at], end: row.begin[at],
		};
	};
	/* Return the piece before or after this one, which may belong to any thread. */
	data.follow = (row, at, step) => {
		const index = row.span[at] + step;

		return index < 0 || index >= data.count ? [row, at] :
			[data.rowOf.get(pieces[index * WIDTH_OF_PIECE]), data.places[index]];
	};
	data.describe = (row, at) => {
		const piece = pieceAt(data, row.span[at]), detail = detailOf(data, piece);

		return `${row.host}, ${row.name}: ${piece.kind}${detail ? ` ${detail}` : ""}, for ` +
			formatDuration(piece.end - piece.begin) +
			(piece.bound < 0 ? "" : ` ± ${formatDuration(piece.bound)}`) +
			`, from ${formatInstant(data.begin + BigInt(piece.begin))} on` +
			(piece.open ? "; the error bounds do not reveal which end was first" : "") + ".";
	};
	return data;
}

/* ---- tables ------------------------------------------------------------ */

/* Merge sums that have the same text. */
function mergeSums(sums) {
	const merged = new Map();

	for (const sum of sums) {
		const key = `${sum.thread} ${sum.kind} ${sum.detail}`, other = merged.get(key);

		if (other) {
			other.times += sum.times;
			other.total += sum.total;
			other.longest = Math.max(other.longest, sum.longest);
		} else {
			merged.set(key, sum);
		}
	}
	return [...merged.values()];
}

function pathSums(data) {
	const { pieces } = data, sums = new Map();

	for (let i = 0; i < data.count; i++) {
		const at = i * WIDTH_OF_PIECE;
		/*
		 * The key consists of all properties of a sum, so that equal pieces use
		 * the same sum.
		 */
		const key = `${pieces[at]} ${pieces[at + 1]} ${pieces[at + 2]} ${pieces[at + 6]} ` +
			pieces[at + 7];
		const lasts = data.ends[i] - data.begins[i];
		let sum = sums.get(key);

		if (!sum) {
			const piece = pieceAt(data, i);

			sum = { thread: piece.thread, kind: piece.kind, detail: detailOf(data, piece),
				times: 0, total: 0, longest: 0 };
			sums.set(key, sum);
		}
		sum.times++;
		sum.total += lasts;
		sum.longest = Math.max(sum.longest, lasts);
	}
	return mergeSums([...sums.values()]).sort((a, b) => b.total - a.total);
}

function showPathSums(data) {
	byId("path-sums").replaceChildren(makeTable([
		{ head: "host", cell: (sum) => hostOf(data, sum.thread) },
		{ head: "thread", cell: (sum) => threadName(data, sum.thread) },
		{ head: "what", cell: (sum) => sum.kind },
		{ head: "times", number: true, cell: (sum) => formatCount(sum.times),
		  order: (sum) => sum.times },
		{ head: "total", number: true, cell: (sum) => formatDuration(sum.total),
		  order: (sum) => sum.total },
		{ head: "part", number: true,
		  cell: (sum) => fixed(100 * sum.total / data.length, 1) + " %",
		  order: (sum) => sum.total },
		{ head: "longest", number: true, cell: (sum) => formatDuration(sum.longest),
		  order: (sum) => sum.longest },
		{ head: "", cell: (sum) => sum.detail },
	], pathSums(data), { caption: "Time on the path, by thread and kind", visible: true }));
}

/*
 * Return the threads in tree order, with the CPU time of each thread and of all threads
 * below it.
 */
function accountOf(data) {
	const rows = data.charges.map(([thread, parent]) => ({ thread, parent, self: 0, total: 0,
		children: [] }));
	const running = data.labels.indexOf("running");
	const list = [];

	for (let i = 0; i < data.count; i++) {
		const at = i * WIDTH_OF_PIECE;

		if (data.pieces[at + 1] === running)
			rows[data.pieces[at + 9]].self += data.pieces[at + 4];
	}
	/* A waiting thread has a lower number than the thread that it waits for. */
	for (const row of rows.slice().reverse()) {
		row.total += row.self;
		if (row.parent >= 0) {
			rows[row.parent].total += row.total;
			rows[row.parent].children.push(row);
		}
	}
	const stack = rows.length ? [[rows[0], 0]] : [];
	while (stack.length) {
		const [row, depth] = stack.pop();

		list.push({ ...row, depth });
		stack.push(...row.children.map((child) => [child, depth + 1]));
	}
	return list;
}

function showAccount(data) {
	byId("path-account").replaceChildren(makeTable([
		{ head: "charged", cell: (row) => "\u2003".repeat(Math.min(row.depth, 20)) +
			threadName(data, row.thread) },
		{ head: "host", cell: (row) => hostOf(data, row.thread) },
		{ head: "CPU itself", number: true, cell: (row) => formatDuration(row.self) },
		{ head: "on its behalf", number: true,
		  cell: (row) => formatDuration(row.total - row.self) },
		{ head: "CPU in all", number: true, cell: (row) => formatDuration(row.total) },
	], accountOf(data), { caption: "CPU time charged to threads", visible: true }));
}

/* ---- the view ---------------------------------------------------------- */

function setUpPath() {
	const data = readPath(byId("path-data").textContent);

	if (!data || !data.count) {
		hideSection("path");
		return;
	}
	const readout = byId("path-readout"), box = byId("path-chart");
	const gantt = new Gantt(data, box, box.querySelector("canvas"), box.querySelector("div"), () => {
		Object.assign(box.dataset, { from: gantt.from, to: gantt.to });
		byId("path-window").textContent = `From ${formatInstant(data.begin +
			BigInt(Math.round(gantt.from)))} on, for ${formatDuration(gantt.to - gantt.from)}`;
		tellAddress("path");
		if (gantt.chosen)
			readout.textContent = data.describe(gantt.rows[gantt.chosen[0]], gantt.chosen[1]);
	});

	byId("path-say").textContent = `${hostOf(data, data.who)}, ${threadName(data, data.who)}: ` +
		`${formatDuration(data.length)} from ${formatInstant(data.begin)} on, in ` +
		`${plural(data.count, "segment")} of ${plural(data.rows.length, "thread")}.`;
	gantt.explain(byId("path-legend"));
	listenToGantt(gantt, document.querySelectorAll("#path [data-move]"), readout);
	/*
	 * Convert between the chart's time and the axes of the page, which are in seconds
	 * since its base.
	 */
	const ahead = Number(data.begin - BASE) / 1e9;

	onAddress("path", {
		look: (from, to) => gantt.look((from - ahead) * 1e9, (to - ahead) * 1e9),
		window: () => gantt.from === gantt.whole[0] && gantt.to === gantt.whole[1] ? null :
			[gantt.from / 1e9 + ahead, gantt.to / 1e9 + ahead],
	});
	showPathSums(data);
	showAccount(data);
	gantt.draw();
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => gantt.later());
}
