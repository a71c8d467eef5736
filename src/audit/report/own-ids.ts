/** Two pictures on one page must not share an id. */
export const withOwnIds = (svg: string, prefix: string): string =>
  svg.replaceAll(/ id="([^"]+)"/g, ` id="${prefix}-$1"`).replaceAll(
    /aria-labelledby="([^"]+)"/g,
    (_all, names: string) =>
      `aria-labelledby="${names
        .split(' ')
        .map((name) => `${prefix}-${name}`)
        .join(' ')}"`,
  )
