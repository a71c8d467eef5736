/** Names and an operator's words come from outside: no control character of theirs reaches a terminal. */
export const cleanWords = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')

/** {@link cleanWords} for a whole text, whose line ends and tabs are its own. */
export const cleanLines = (text: string): string => text.replaceAll(/[^\n\t]+/g, cleanWords)
