import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findTokens } from '../../src/domain/token-pattern.ts'

const transaction = '^TXN-[A-Z]+-[0-9]{3}$'

function find(pattern: string, text: string): readonly string[] | undefined {
  return findTokens(pattern, text, 10)
}

function everyText(alphabet: string, maxLength: number): readonly string[] {
  if (maxLength === 0) return ['']
  const shorter = everyText(alphabet, maxLength - 1)
  const longest = shorter.filter((text) => text.length === maxLength - 1)
  return [...shorter, ...longest.flatMap((text) => [...alphabet].map((letter) => text + letter))]
}

describe('findTokens', () => {
  it.each([
    ['alone', 'TXN-DUP-002'],
    ['at the end of a sentence', 'I was charged twice for TXN-DUP-002.'],
    ['in brackets and quotes', 'my payment ("TXN-DUP-002") failed'],
    ['after a colon or hash', 'id:#TXN-DUP-002'],
    ['among other letters and scripts', '注文「TXN-DUP-002」です'],
  ])('finds a token %s', (_, text) => {
    expect(find(transaction, text)).toEqual(['TXN-DUP-002'])
  })

  it('finds different values in the order of the text, each once, whatever separates them', () => {
    const text = 'TXN-B-002,TXN-A-001; TXN-B-002 TXN-C-003\nTXN-A-001'

    expect(find(transaction, text)).toEqual(['TXN-B-002', 'TXN-A-001', 'TXN-C-003'])
  })

  it('stops at the limit', () => {
    expect(findTokens(transaction, 'TXN-A-001 TXN-A-002 TXN-A-003', 2)).toHaveLength(2)
  })

  it.each([
    ['a longer number', 'TXN-DUP-0021'],
    ['letters before', 'MYTXN-DUP-002'],
    ['a dash after', 'TXN-DUP-002-X'],
    ['a dash before', 'X-TXN-DUP-002'],
    ['an underscore', 'TXN-DUP-002_old'],
    ['a letter with an accent', 'éTXN-DUP-002'],
    ['an address around it', 'TXN-DUP-002@example.com'],
    ['a path around it', 'https://shop.example/TXN-DUP-002'],
    ['a short form of another one after it', 'TXN-DUP-002/003'],
    ['an escape after it', 'TXN-DUP-002%20'],
    ['a typographic dash after', 'TXN-DUP-002\u20113'],
    ['an invisible character and more', 'TXN-DUP-002\u200b5'],
    ['another case', 'txn-dup-002'],
    ['typographic dashes', 'TXN\u2011DUP\u2011002'],
    ['full-width digits', 'TXN-DUP-００２'],
    ['an invisible character inside', 'TXN-D\u200bUP-002'],
  ])('takes nothing from a token with %s', (_, text) => {
    expect(find(transaction, text)).toEqual([])
  })

  it('prefers the alternative that is a whole token', () => {
    expect(find('^(TXN-[0-9]{3}|TXN-[0-9]{4})$', 'TXN-1234')).toEqual(['TXN-1234'])
  })

  it('takes no part of a longer number', () => {
    expect(find('^[0-9]{4,8}$', 'I paid 1234.56 or 12,3456 for 998877, and 5555.')).toEqual([
      '998877',
      '5555',
    ])
  })

  it('strips anchors wherever they stand', () => {
    expect(find('^ORD-[0-9]+$|^\\AINV-[0-9]+\\z', 'ORD-1 and INV-2')).toEqual(['ORD-1', 'INV-2'])
  })

  it.each([
    ['a word of letters', '^[A-Za-z0-9]{4,}$'],
    ['any word character', '^\\w+$'],
    ['a word by one alternative', '^([0-9]{6}|[a-z]{6})$'],
    ['a word once the number is left out', '^ORDER[0-9]*$'],
    ['anything but white space', '^[^\\s]{6}$'],
    ['any character', '^.{6}$'],
    ['Unicode letters', '^é{5}$'],
    ['a range that holds letters', '^[+-z]{6}$'],
    ['fewer than four characters', '^[A-Z][0-9]{1,9}$'],
    ['the empty text', ''],
    ['fewer than four by one alternative', '^(A-1|A-2345)$'],
  ])('does not use a pattern that may match %s', (_, pattern) => {
    expect(find(pattern, 'refund ORDER A1 A-1 A-2345 ABC123 123456')).toBeUndefined()
  })

  it.each([
    ['lookahead', '^(?=TXN)TXN-[0-9]{4}$'],
    ['a back reference', '^(TXN)-\\1-[0-9]{4}$'],
    ['a POSIX class', '^TXN-[[:digit:]]{4}$'],
    ['a Unicode class', '^TXN-\\p{L}{4}$'],
    ['inline flags', '^(?i)txn-[0-9]{4}$'],
    ['nonsense', '^TXN-([0-9]{4}$'],
  ])('does not use a pattern with %s', (_, pattern) => {
    expect(find(pattern, 'TXN-1234')).toBeUndefined()
  })

  it.each([
    ['groups', '^(?:TXN|ORD)-([0-9]{2}){2}$', 'ORD-1234'],
    ['classes with dashes, brackets and escapes', '^[-0-9\\]]{2}[\\d.]{2}[0-9-]$', '-1.22'],
    ['escaped punctuation', '^INV\\/\\d{4}$', 'INV/2024'],
    ['lazy and open repeats', '^A-\\d{2,}?$', 'A-123'],
    ['a word boundary inside', '^AB\\b-\\d{4}$', 'AB-1234'],
    ['an address', '^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$', 'ann@example.org'],
  ])('reads patterns with %s', (_, pattern, value) => {
    expect(find(pattern, `It is ${value}, please`)).toEqual([value])
  })

  it('never throws, whatever the pattern and the text', () => {
    const pattern = fc.string({
      unit: fc.constantFrom(...'^$()[]{}|\\*+?.,-:=!<>0129ABz_ \u00e9💳'),
      maxLength: 30,
    })
    fc.assert(
      fc.property(pattern, fc.string({ unit: 'binary' }), (source, text) => {
        findTokens(source, text, 3)
      }),
      { numRuns: 2000 },
    )
  })

  it('uses no pattern that matches a word of letters or fewer than four characters', () => {
    const atom = fc.constantFrom(
      ...[
        'A',
        '1',
        '-',
        '.',
        '\\d',
        '\\w',
        '\\W',
        '\\-',
        '[A-B]',
        '[0-1]',
        '[^-]',
        '[-A]',
        '[A-]',
        '[^A-B]',
      ],
      ...['(A|1)', '(?:-|AB)', '[\\d-]', '[^\\d]', '[1-A]', '(A*|-)', '(?:^)', '(?:$)', '(?:\\b)'],
    )
    const repeat = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,3}', '{3,}', '+?')
    const sequence = fc
      .array(fc.tuple(atom, repeat), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.flat().join(''))
    const pattern = fc
      .array(sequence, { minLength: 1, maxLength: 2 })
      .map((alternatives) => `^(?:${alternatives.join('|')})$`)
    const letters = everyText('AB', 7).filter((text) => text.length > 3)
    const short = everyText('AB1-', 3)
    let used = 0
    fc.assert(
      fc.property(pattern, (source) => {
        if (find(source, '') === undefined) return
        used += 1
        const matches = new RegExp(source)
        expect([...letters, ...short].filter((text) => matches.test(text))).toEqual([])
      }),
      { numRuns: 3000 },
    )
    expect(used).toBeGreaterThan(300)
  })

  it('finds every value that is written between separators', () => {
    const value = fc.stringMatching(/^TXN-[A-Z]{1,4}-[0-9]{3}$/)
    const separator = fc.constantFrom(' ', ', ', '; ', '\n', ' (', ',', ' "', '. ')
    fc.assert(
      fc.property(fc.array(fc.tuple(value, separator), { maxLength: 10 }), (parts) => {
        const text = parts.map((part) => part.join('')).join('')

        expect(find(transaction, text)).toEqual([...new Set(parts.map(([id]) => id))])
      }),
    )
  })

  it.each([
    ['one value over and over', transaction, 'TXN-A-001 '],
    ['one value over and over in one word', transaction, 'TXN-A-001,'],
    ['almost a value', transaction, 'TXN-AAAA-00'],
    ['a pattern that looks ahead to the end', '^A-12(?:.*Z)?$', 'A-12,'],
    ['nested repeats', '^(?:[0-9-]*-)*[0-9]{4}$', '1-'],
    ['an address', '^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$', 'a@a'],
  ])('takes bounded time on 1 MiB of %s', (_, pattern, unit) => {
    const text = unit.repeat(Math.ceil(2 ** 20 / unit.length))
    const start = performance.now()

    findTokens(pattern, text, 2)

    // Quadratic time would be minutes.
    expect(performance.now() - start).toBeLessThan(8000)
  })
})
