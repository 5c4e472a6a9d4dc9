/** One thing that a text contains, and how much it says about what the text is for. */
export interface TextFeature {
  readonly name: string
  readonly count: number
  /** 0 to 1, before counting. */
  readonly weight: number
}

/** Relative weights of the three kinds of feature. docs/search.md has the measurement. */
const weights = { word: 1, pair: 0.4, characters: 0.35 } as const

/** Function words count about half: they still tell a question from a complaint, so leaving them out costs recall. */
const functionWordWeight = 0.55

const functionWords = new Set(
  (
    'a about all also am an and any are as at be been but by can could did do does for from get got had has have he ' +
    'hello help her here hey hi him his how i if in into is it its just know let like may me might must my need no ' +
    'not now of off ok okay on one or our out please she should so some such tell than thank thanks that the their ' +
    'them then there these they this those to too up us very want was we were what when where which who why will ' +
    'with would you your'
  ).split(' '),
)

/**
 * Stands for every order number, transaction id and the like: what has three digits in a row. Which one it is says
 * nothing about what the message is for.
 */
const anyId = '0000'

/** A run of the scripts that write no space between words. */
const unspacedRun =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu

/**
 * The features of a text: its words and pairs of neighbouring words, lightly stemmed, and the runs of 3 and 4
 * characters in each word, which match across spelling mistakes and endings. Each name once, in no particular order.
 *
 * Texts that a reader takes for the same have the same features: compatibility forms, case, accents and invisible
 * characters are folded. A text without a single word or emoji has one feature of its own, so that nothing is empty.
 */
export function textFeatures(text: string): readonly TextFeature[] {
  const features = new Map<string, { name: string; count: number; weight: number }>()
  const add = (name: string, weight: number): void => {
    const known = features.get(name)
    if (known === undefined) features.set(name, { name, count: 1, weight })
    else known.count += 1
  }

  let previous = { stem: '', weight: 1 }
  for (const word of wordsOf(text)) {
    const weight = isFunctionWord(word) ? functionWordWeight : 1
    const stem = stemOf(word)
    add(`w ${stem}`, weights.word * weight)
    add(`p ${previous.stem} ${stem}`, weights.pair * Math.sqrt(previous.weight * weight))
    for (const run of characterRuns(word)) add(`c ${run}`, weights.characters * weight)
    previous = { stem, weight }
  }
  if (features.size === 0) add('nothing', 1)
  return [...features.values()]
}

function wordsOf(text: string): readonly string[] {
  const folded = text
    .normalize('NFKD')
    .toLowerCase()
    // Accents of Latin, Greek and Cyrillic only: the marks of other scripts are part of their spelling.
    .replace(/[\u0300-\u036f]|\p{Cf}|\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFC')
    // "can't" and "cant" are one word.
    .replace(/(?<=\p{L})['’](?=\p{L})/gu, '')
    .replace(unspacedRun, ' $& ')
  const tokens =
    folded.match(/\p{Extended_Pictographic}|[\p{L}\p{M}\p{N}]+(?:[-_][\p{L}\p{M}\p{N}]+)*/gu) ?? []
  return tokens.flatMap((token) => {
    if (/\p{Nd}{3}/u.test(token)) return anyId
    return token.search(unspacedRun) >= 0 ? characterPairs(token) : token.split(/[-_]/)
  })
}

/** About what a word is long where none is marked: `返金して` → `返金`, `金し`, `して`. */
function characterPairs(word: string): readonly string[] {
  const characters = [...word]
  if (characters.length < 3) return [word]
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}

function isFunctionWord(word: string): boolean {
  // Hiragana alone mostly writes endings and particles.
  return functionWords.has(word) || word === anyId || /^\p{Script=Hiragana}+$/u.test(word)
}

function characterRuns(word: string): readonly string[] {
  const characters = [...`<${word}>`]
  const runs: string[] = []
  for (let length = 3; length <= 4; length += 1) {
    for (let start = 0; start + length <= characters.length; start += 1) {
      runs.push(characters.slice(start, start + length).join(''))
    }
  }
  return runs
}

/**
 * Takes the commonest English endings off, so that "refunds", "refunded" and "refunding" meet. It need not find a true
 * root, only the same one; words of other alphabets stay as they are.
 */
export function stemOf(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  return word
    .replace(/ies$/, 'y')
    .replace(/(?<![su])s$/, '')
    .replace(/(?<=...)(?:ing|ed)$/, '')
    .replace(/(?<=....)(?:ation|ion|ment|ly)$/, '')
    .replace(/([bdfgklmnprtvz])\1$/, '$1')
    .replace(/(?<=..)e$/, '')
    .replace(/(?<=..)y$/, 'i')
}
