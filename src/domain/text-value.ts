/** Letters, digits, marks, underscores and dashes of every script, and invisible characters, continue a token. */
export const inToken = String.raw`\p{L}\p{M}\p{N}_\p{Pd}\p{Cf}`

/** Longer ones are no value but a piece of prose. */
const maxLength = 200

const endsInToken = new RegExp(`[${inToken}]$`, 'u')
const startsInToken = new RegExp(`^[${inToken}]`, 'u')

const open = String.raw`\p{Ps}\p{Pi}\p{Pf}"'\x60*<#¿¡`
const closed = String.raw`\p{Pe}\p{Pi}\p{Pf}"'\x60*>.,:;!?…`
/** Full stops and the like of scripts that put no blank after them. */
const wide = '、。，；：！？'

/** How much is looked at on each side. What is wrapped in more punctuation than that is not whole. */
const reach = 12
/**
 * Before a value stand the beginning of the text, white space, a comma, colon or semicolon, a word and `#`, or an opening
 * bracket or quote that is not in the middle of a word.
 */
const mayStandBefore = new RegExp(
  String.raw`(?:^|[\s,:;…${wide}]|(?!‘)[\p{Ps}\p{Pi}]|(?:^|\s)\p{L}+#)[${open}]*$`,
  'u',
)
/**
 * After it stand white space or the end, with punctuation before that; a closing bracket or quote; or a comma and a word.
 */
const mayStandAfter = new RegExp(
  String.raw`^(?:[${closed}${wide}]*(?:$|\s)|[.,:;!?]*(?!’)[\p{Pe}\p{Pf}${wide}](?![\p{N}\p{M}\p{Pd}\p{Cf}'])|["\x60](?=\p{L})|[,;!?]+\p{L}{2}|['’]s(?:$|[\s.,:;!?]))`,
  'u',
)

/**
 * Whether a part of a text stands there for itself, and is no part of something longer: of a longer id or number, an
 * address, a path, a file, a code with an escape. One rule for all that is taken out of a text. It errs on the side of
 * "part": the customer is asked then.
 */
export function isWhole(text: string, start: number, end: number): boolean {
  // What is cut off on the left is some character, and not the beginning of the text.
  const before = (start > reach ? '\uFFFD' : '') + text.slice(Math.max(start - reach, 0), start)
  const after = text.slice(end, end + reach) + (text.length > end + reach ? '\uFFFD' : '')
  if (!mayStandBefore.test(before) || !mayStandAfter.test(after)) return false
  // 1234 is no value of its own in `1234.56`, `9,1234`, `12:1234` and `9'1234`.
  const continuesNumber =
    /\p{N}[.,:;'’]$/u.test(before) && /^\p{N}$/u.test(text.slice(start, start + 1))
  return !continuesNumber
}

/**
 * Whether a value stands in a text, character for character and whole: `TXN-1` does not stand in `TXN-12`, nor
 * `example.com` in `ann@example.com`. Nothing is folded or normalised.
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
