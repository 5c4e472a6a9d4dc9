/**
 * A text as a reader takes it in: what looks alike is alike. Made only to find what might be meant; what is taken from a
 * text is taken as it stands there.
 */
export interface FoldedText {
  readonly text: string
  /** The part of the source, as UTF-16 offsets, that a part of `text` stands for. */
  sourceOf(start: number, end: number): readonly [start: number, end: number]
}

/**
 * Letters that look like Latin capitals, digits or dashes, of the scripts in which whole ids can be written so. Capitals
 * only, without marks: the rest is brought there first.
 */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  [
    ['АВЕЅІЈКМНОРСТУҮХԀԚԜҺЗ', 'ABESIJKMHOPCTYYXDQWH3'],
    ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ', 'ABEZHIKMNOPTYXCJ'],
    ['ՕՍႽᎠᎡᎢᎪᎫᎬᎳᎷᎻᏃᏔᏕᏙᏚᏞᏟᏢᏦᏴ', 'OUSDRTAJEWMHZWSVSLCPKB'],
    ['ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ', 'BPDTGKJCZFMNLSRVHWXYAEIOU'],
    ['ǀ∣ƧƼØ', 'II25O'],
    ['_−⁃˗➖ー', '------'],
    ['\u2044\u2215\u2800', '// '],
  ].flatMap(([from = '', to = '']) => [...from].map((letter, at) => [letter, to[at] ?? ''])),
)

const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}]|(?!\s)\p{Cc}/u

// What one character becomes is asked again and again; a text has few different ones.
const folded = new Map<string, string>()
const maxFolded = 10_000

/**
 * Folds a text: compatibility forms, capitals, look-alike letters of other scripts to Latin, digits of every script to
 * ASCII, all dashes, minus signs and underscores to `-`, all white space to blanks; marks and what is invisible is left
 * out.
 */
export function foldText(source: string): FoldedText {
  // Most texts are plain, and then nothing moves.
  if (/^[\t-\r -~]*$/.test(source)) {
    const text = source.toUpperCase().replace(/\s/g, ' ').replace(/_/g, '-')
    return { text, sourceOf: (start, end) => [start, end] }
  }
  const parts: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  let at = 0
  for (const character of source) {
    const part = foldCharacter(character)
    for (let unit = 0; unit < part.length; unit += 1) {
      starts.push(at)
      ends.push(at + character.length)
    }
    at += character.length
    parts.push(part)
  }
  return mapped(parts.join(''), starts, ends)
}

/** The letters and digits of a folded text alone, `between` where there is anything else between two of them. */
export function lettersOf(whole: FoldedText, between: '' | ' '): FoldedText {
  const parts: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  let last = 0
  for (const { 0: run, index } of whole.text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const gap = last === 0 ? '' : between
    for (let unit = 0; unit < gap.length + run.length; unit += 1) {
      const place = unit < gap.length ? last : index + unit - gap.length
      const [start, end] = whole.sourceOf(place, place + 1)
      starts.push(start)
      ends.push(end)
    }
    parts.push(gap, run)
    last = index + run.length
  }
  return mapped(parts.join(''), starts, ends)
}

function mapped(text: string, starts: readonly number[], ends: readonly number[]): FoldedText {
  return { text, sourceOf: (start, end) => [starts[start] ?? 0, ends[end - 1] ?? 0] }
}

function foldCharacter(character: string): string {
  if (/^[!-^`{-~]$/.test(character)) return character
  if (/^[a-z]$/.test(character)) return character.toUpperCase()
  const known = folded.get(character)
  if (known !== undefined) return known
  if (folded.size >= maxFolded) folded.clear()
  const form = Array.from(character.normalize('NFKD').toUpperCase().normalize('NFKD'), foldPart)
  folded.set(character, form.join(''))
  return form.join('')
}

function foldPart(part: string): string {
  if (invisible.test(part)) return ''
  if (/^\s$/u.test(part)) return ' '
  const known = lookAlikes.get(part)
  if (known !== undefined) return known
  if (/^\p{Pd}$/u.test(part)) return '-'
  return /^\p{Nd}$/u.test(part) ? digitOf(part) : part
}

/** Digits of a script stand in a row of ten, and what stands before a row is no digit, but for further rows. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String((code - zero) % 10)
}
