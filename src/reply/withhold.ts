import type { Json } from '../domain/json.ts'

const mark = '[withheld]'

/** Shorter ones stand by chance in every other text, and say nothing alone. */
const minLength = 3

/**
 * A text without the values that must not leave the service: a model is told that something stood there, and not what.
 * A value is found whatever its case, and with spaces or dashes between its characters, as people write card numbers.
 */
export function withhold(text: string, values: readonly Json[]): string {
  const texts = values.filter((value) => typeof value === 'string' || typeof value === 'number')
  return [...new Set(texts.map((value) => String(value).replace(/[\s-]/g, '')))]
    .filter((value) => value.length >= minLength)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, value) => rest.replace(spellingsOf(value), mark), text)
}

function spellingsOf(value: string): RegExp {
  const characters = Array.from(
    value,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
  return new RegExp(characters.join('[\\s-]*'), 'giu')
}
