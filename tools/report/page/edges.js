/* SPDX-License-Identifier: GPL-2.0-only */
/* Mark the edges of a box that hide some of its content, to show that it scrolls. */
"use strict";

/*
 * Minimum number of hidden pixels. Less than a pixel is a rounding error, because pages
 * can be zoomed.
 */
const LEAST_CUT = 1;

/*
 * Set data-more of the frame around @box to the edges that hide content. The frame has
 * the class "edges", and the style sheet draws the marks.
 */
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
