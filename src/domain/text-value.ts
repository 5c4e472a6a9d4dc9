import { inToken, isInsideNumber } from './token-pattern.ts'

/** Longer ones are no value but a piece of prose. */
const maxLength = 200

const endsInToken = new RegExp(`[${inToken}]$`, 'u')
const startsInToken = new RegExp(`^[${inToken}]`, 'u')
const outerPunctuation = new RegExp(`^[^${inToken}]+|[^${inToken}]+$`, 'gu')
/** What joins two parts of one e-mail address, host name, path or number to each other. */
const joinedBefore = new RegExp(`[${inToken}][.@/\\\\+&]$`, 'u')
const joinedAfter = new RegExp(`^[.@/\\\\+&][${inToken}]`, 'u')

/**
 * Whether a value stands in a text, character for character and as whole tokens: `TXN-1` does not stand in `TXN-12`,
 * nor `1234` in `1234.56`, nor `example.com` in `ann@example.com`. Nothing is folded or normalised.
 */
export function standsInText(value: string, text: string): boolean {
  if (value.length > maxLength || !startsInToken.test(value) || !endsInToken.test(value)) {
    return false
  }
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    if (isWhole(text, at, at + value.length)) return true
  }
  return false
}

/**
 * Another value in the text that may be meant just as well, and that `accepts` allows: one of the same shape, such as
 * `TXN-B-07` beside `TXN-DUP-002`, or any other token of four or more characters with a digit. Who takes the one then
 * guesses. Of a value without digit or `@`, a plain word, nobody can say what else may be meant.
 */
export function findRival(
  value: string,
  text: string,
  accepts: (other: string) => boolean,
): string | undefined {
  if (!/[\p{N}@]/u.test(value)) return undefined
  for (const { 0: other, index } of text.matchAll(shapeOf(value))) {
    const isOther = other !== value && isWhole(text, index, index + other.length)
    if (isOther && accepts(other)) return other
  }
  for (const [chunk] of text.matchAll(/\S+/g)) {
    const other = chunk.replace(outerPunctuation, '')
    const isLikeId = other.length >= 4 && /\p{N}/u.test(other)
    if (isLikeId && !value.includes(other) && accepts(other)) return other
  }
  return undefined
}

/** Letters stand for letters and digits for digits, as many as there are. */
function shapeOf(value: string): RegExp {
  const parts = value.match(/[\p{L}\p{M}]+|\p{N}+|\s+|[^\p{L}\p{M}\p{N}\s]/gu) ?? []
  const source = parts.map((part) => {
    if (/^[\p{L}\p{M}]/u.test(part)) return String.raw`[\p{L}\p{M}]+`
    if (/^\p{N}/u.test(part)) return String.raw`\p{N}+`
    return /^\s/u.test(part) ? String.raw`\s+` : `\\u{${part.codePointAt(0)?.toString(16)}}`
  })
  // It starts where a token starts, so that a long run of letters is gone through once.
  return new RegExp(`(?<![${inToken}])${source.join('')}`, 'gu')
}

function isWhole(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(start - 3, 0), start)
  const after = text.slice(end, end + 3)
  return !(
    endsInToken.test(before) ||
    joinedBefore.test(before) ||
    startsInToken.test(after) ||
    joinedAfter.test(after) ||
    isInsideNumber(text, start, end)
  )
}
