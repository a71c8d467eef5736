/** Shown where a chart is wider than its frame: a phone has no scroll bars to tell it. */
export const ScrollHint = () => (
  <span class="scroll-hint">The chart is wider than what is seen of it: scroll it sideways.</span>
)
