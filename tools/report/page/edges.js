/* SPDX-License-Identifier: GPL-2.0-only */
/* Marks at the edges of a box where its content is cut, which show that it scrolls. */
"use strict";

/* Less than a pixel is a rounding error, because pages can be zoomed. */
const LEAST_CUT = 1;

/* The frame around @box has the class "edges"; the style draws the edges in data-more. */
function markEdges(box) {
	const right = box.scrollWidth - box.clientWidth - box.scrollLeft;
	const below = box.scrollHeight - box.clientHeight - box.scrollTop;

	box.parentNode.dataset.more = [
		box.scrollLeft > LEAST_CUT ? "left" : "", right > LEAST_CUT ? "right" : "",
		below > LEAST_CUT ? "below" : "",
	].join(" ").trim();
}

function watchEdges(box) {
	const sizes = new ResizeObserver(() => markEdges(box));

	sizes.observe(box);
	for (const child of box.children)
		sizes.observe(child);
	box.addEventListener("scroll", () => markEdges(box), { passive: true });
}
