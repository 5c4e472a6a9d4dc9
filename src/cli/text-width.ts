import { stripVTControlCharacters } from 'node:util'

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** How many columns of a terminal a text takes: styles none, most characters one, East Asian ones and emoji two. */
export function textWidth(text: string): number {
  let width = 0
  for (const { segment } of segmenter.segment(stripVTControlCharacters(text))) {
    width += characterWidth(segment)
  }
  return width
}

/** The beginning of a text that takes at most `width` columns, and at least one character. */
export function sliceToWidth(text: string, width: number): string {
  let end = 0
  let taken = 0
  for (const { segment } of segmenter.segment(text)) {
    taken += characterWidth(segment)
    if (taken > width && end > 0) break
    end += segment.length
  }
  return text.slice(0, end)
}

/** The text in one line of at most `width` columns, an ellipsis standing for what was cut. */
export function cutToWidth(text: string, width: number): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return textWidth(line) <= width ? line : `${sliceToWidth(line, width - 1)}…`
}

function characterWidth(character: string): number {
  if (/^\p{Mark}/u.test(character)) return 0
  // The wide blocks of Unicode's East Asian Width, roughly: what terminals agree on.
  const isWide =
    /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/.test(
      character,
    ) || /\p{Emoji_Presentation}|\ufe0f|[\u{20000}-\u{3fffd}]/u.test(character)
  return isWide ? 2 : 1
}
