/** Names and an operator's words come from outside: no control character of theirs reaches a terminal. */
export const cleanWords = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
