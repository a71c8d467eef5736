/** The chart as the gateway sends it, made of nothing but shapes and words. */

const SVG = 'http://www.w3.org/2000/svg'
const SHAPES = new Set([
  'svg',
  'g',
  'path',
  'polygon',
  'polyline',
  'ellipse',
  'line',
  'rect',
  'text',
  'title',
  'desc',
])
const TRAITS = new Set([
  ...['id', 'class', 'viewBox', 'role', 'aria-labelledby', 'transform', 'fill', 'stroke', 'stroke-width'],
  ...['stroke-dasharray', 'd', 'points', 'x', 'y', 'cx', 'cy', 'rx', 'ry', 'width', 'height', 'text-anchor'],
  ...['font-family', 'font-size', 'font-weight'],
])

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createHTML(text: string): string },
  ): { createHTML(text: string): string }
}

// the policy of the page lets nothing but this parse text; what comes out of it is copied piece by piece below
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy(
  'switchgear-chart',
  {
    createHTML: (text) => text,
  },
)

// colours come from the style sheet of the page, which knows its theme; the policy of the page lets no other style in
const OWN_STYLE = /<style>[^]*?<\/style>/g

/** undefined = it is no picture. */
export function readChart(text: string): SVGSVGElement | undefined {
  const plain = text.replaceAll(OWN_STYLE, '')
  const told = policy === undefined ? plain : policy.createHTML(plain)
  const { documentElement } = new DOMParser().parseFromString(told, 'image/svg+xml')
  const copy = copyOf(documentElement)
  return copy instanceof SVGSVGElement ? copy : undefined
}

function copyOf(element: Element): SVGElement | undefined {
  if (element.namespaceURI !== SVG || !SHAPES.has(element.localName)) return undefined
  const copy = document.createElementNS(SVG, element.localName) as SVGElement
  for (const { name, value } of element.attributes) if (TRAITS.has(name)) copy.setAttribute(name, value)
  for (const child of element.childNodes) {
    if (child instanceof Element) copy.append(copyOf(child) ?? '')
    else if (child.nodeType === Node.TEXT_NODE) copy.append(child.nodeValue ?? '')
  }
  return copy
}
