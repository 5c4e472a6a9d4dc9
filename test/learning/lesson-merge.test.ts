import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Lesson, LessonLine } from '../../src/learning/lesson.ts'
import { lessonCandidates } from '../../src/learning/lesson-candidates.ts'
import { compareLessons, mergeLessons } from '../../src/learning/lesson-merge.ts'

const never = () => undefined
const harmful = (content: string): LessonLine => ({ kind: 'harmful', content })
const helpful = (content: string): LessonLine => ({ kind: 'helpful', content })
const lesson = (line: LessonLine, uses = 0, lastScore: number | null = null): Lesson => ({
  ...{ ...line, uses, lastScore, isByHand: false },
})
/** What stays, as `Avoid: a 2 0.5`. */
const shown = (lessons: readonly Lesson[]) =>
  lessons.map(({ content, uses, lastScore }) => `${content} ${uses} ${lastScore}`)

describe('what a run teaches', () => {
  it.each([
    [
      0.9,
      ['rate limits'],
      'CRISPR is\na tool',
      ['Avoid: rate limits', 'Worked well: CRISPR is a tool'],
    ],
    [0.8, [], 'fine', ['Worked well: fine']],
    [0.79, [], 'fine', []],
    [0.2, ['a1', 'b1', 'c1', 'd1'], 'bad', ['Avoid: a1', 'Avoid: b1', 'Avoid: c1']],
    [0.2, ['', ' \n', '…', 'b1'], 'bad', ['Avoid: b1']],
    [1, [], ' \n\t', []],
    [1, [], '👍', ['Worked well: 👍']],
    [1, [], 'a\u2028b\u202Ec\r\n\r\nd', ['Worked well: a bc d']],
    [0, ['避免\n退款'], '', ['Avoid: 避免 退款']],
  ])('of score %d and issues %j: %j', (score, issues, answer, contents) => {
    const lines = lessonCandidates({ score, issues }, answer)

    expect(lines.map(({ content }) => content)).toEqual(contents)
    expect(
      lines.every(({ kind, content }) => content.startsWith('Avoid') === (kind === 'harmful')),
    ).toBe(true)
  })

  it('cuts the answer to 200 characters and an issue to the length of a line', () => {
    const [issue, answer] = lessonCandidates(
      { score: 1, issues: ['i'.repeat(600)] },
      'x'.repeat(600),
    )

    expect(issue?.content).toBe(`Avoid: ${'i'.repeat(493)}`)
    expect(answer?.content).toBe(`Worked well: ${'x'.repeat(200)}`)
    const [cut] = lessonCandidates({ score: 1, issues: [] }, `${'x'.repeat(199)}😀`)
    expect(cut?.content).toBe(`Worked well: ${'x'.repeat(199)}`)
  })
})

describe('merging', () => {
  it('appends what is new without uses and without a score', () => {
    const { lessons } = mergeLessons<Lesson>(
      [],
      [harmful('Avoid: a'), helpful('b')],
      0.9,
      never,
      30,
    )

    expect(shown(lessons)).toEqual(['Avoid: a 0 null', 'b 0 null'])
  })

  it('counts what comes up again, whatever its case, and notes the score of the run', () => {
    const entries = [lesson(harmful('Avoid: rate limits'), 2, 0.9), lesson(helpful('ok'))]

    const { lessons } = mergeLessons(entries, [harmful('AVOID: Rate Limits')], 0.3, never, 30)

    expect(shown(lessons)).toEqual(['Avoid: rate limits 3 0.3', 'ok 0 null'])
  })

  it.each([
    ['Avoid: rate limits', 'Avoid: rate limits of the API'],
    ['Avoid: rate limits of the API', 'Avoid: rate limits'],
  ])('keeps the words that were there: %s / %s', (known, candidate) => {
    const { lessons } = mergeLessons([lesson(harmful(known))], [harmful(candidate)], 1, never, 30)

    expect(shown(lessons)).toEqual([`${known} 1 1`])
  })

  it.each([
    ['Avoid: refunds above 10', 'Avoid: refunds above 100'],
    ['Avoid: refunds above 10', 'Avoid: refunds above 10.50'],
    ['0 refunds', '100 refunds'],
  ])('cuts no number in two: %s / %s', (known, candidate) => {
    const { lessons } = mergeLessons([lesson(harmful(known))], [harmful(candidate)], 1, never, 30)

    expect(lessons).toHaveLength(2)
  })

  it('never joins the two kinds', () => {
    const alike = () => 1
    const { lessons } = mergeLessons([lesson(harmful('refund'))], [helpful('refund')], 1, alike, 30)

    expect(shown(lessons)).toEqual(['refund 0 null', 'refund 0 null'])
  })

  it('means the equal line before a contained one, and that before a similar one', () => {
    const entries = ['Avoid: ab', 'Avoid: abc', 'x'].map((content) => lesson(harmful(content)))
    const similar = ({ content }: LessonLine) => (content === 'x' ? 1 : undefined)
    const usesOf = (candidate: string) =>
      mergeLessons(entries, [harmful(candidate)], 1, similar, 30)
        .lessons.filter(({ uses }) => uses === 1)
        .map(({ content }) => content)

    expect(usesOf('Avoid: abc')).toEqual(['Avoid: abc'])
    expect(usesOf('Avoid: a')).toEqual(['Avoid: ab'])
    expect(usesOf('y')).toEqual(['x'])
  })

  it('means the most similar of several', () => {
    const entries = ['one', 'two', 'three'].map((content) => lesson(harmful(content)))
    const similarity = new Map([
      ['one', 0.7],
      ['two', 0.9],
      ['three', 0.8],
    ])

    const { lessons } = mergeLessons(
      entries,
      [harmful('four')],
      0.5,
      ({ content }) => similarity.get(content),
      30,
    )

    expect(shown(lessons)).toEqual(['two 1 0.5', 'one 0 null', 'three 0 null'])
  })

  it('counts a line once in a run, however often the run says it', () => {
    const said = [
      harmful('Avoid: a'),
      harmful('avoid: A'),
      harmful('Avoid: b'),
      harmful('Avoid: b'),
    ]

    const { lessons } = mergeLessons([lesson(harmful('Avoid: a'))], said, 0.5, never, 30)

    expect(shown(lessons)).toEqual(['Avoid: a 1 0.5', 'Avoid: b 0 null'])
  })

  it('drops by uses, then by last score; of those that never came up again the oldest', () => {
    const entries = [
      lesson(helpful('used'), 3, 0.1),
      lesson(helpful('better'), 1, 0.9),
      lesson(helpful('worse'), 1, 0.2),
      lesson(helpful('newer')),
      lesson(helpful('oldest')),
    ]
    const keep = (most: number) =>
      shown(mergeLessons(entries, [helpful('fresh')], 1, never, most).lessons)

    expect(keep(5)).toEqual([
      'used 3 0.1',
      'better 1 0.9',
      'worse 1 0.2',
      'fresh 0 null',
      'newer 0 null',
    ])
    expect(keep(2)).toEqual(['used 3 0.1', 'better 1 0.9'])
  })

  it('drops what a person wrote last', () => {
    const byHand = { ...lesson(helpful('by hand')), isByHand: true }

    const { lessons, dropped } = mergeLessons(
      [lesson(helpful('used'), 9, 1), lesson(helpful('less used'), 8, 1), byHand],
      [],
      1,
      never,
      2,
    )

    expect(shown(lessons)).toEqual(['used 9 1', 'by hand 0 null'])
    expect(shown(dropped)).toEqual(['less used 8 1'])
  })
})

const content = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...'aAbB 12é') })
const line = fc.record({
  kind: fc.constantFrom('helpful', 'harmful'),
  content,
}) as fc.Arbitrary<LessonLine>
const score = fc.double({ min: 0, max: 1, noNaN: true })
const entry = fc
  .record({ line, uses: fc.nat(4), last: fc.option(score), isByHand: fc.boolean() })
  .map(
    ({ line: own, uses, last, isByHand }): Lesson => ({ ...own, uses, lastScore: last, isByHand }),
  )
const stored = fc.array(entry, { maxLength: 20 }).map((list) => list.toSorted(compareLessons))
const candidates = fc.array(line, { maxLength: 6 })
const most = fc.integer({ min: 1, max: 20 })
/** Some relation, the same both ways. */
const similar = (a: LessonLine, b: LessonLine) =>
  a.content.length === b.content.length ? a.content.length / 12 : undefined

describe('however lines and candidates are', () => {
  it('never more than maxEntries stay, in order, and nothing is there twice', () => {
    fc.assert(
      fc.property(stored, candidates, score, most, (entries, said, at, maxEntries) => {
        const { lessons, dropped } = mergeLessons(entries, said, at, similar, maxEntries)

        expect(lessons.length).toBeLessThanOrEqual(maxEntries)
        expect(lessons).toEqual(lessons.toSorted(compareLessons))
        const from = lessons.flatMap((one) => (one.from === undefined ? [] : [one.from]))
        expect(new Set([...from, ...dropped]).size).toBe(entries.length)
        expect(from.length + dropped.length).toBe(entries.length)
        if (dropped.length > 0) expect(lessons).toHaveLength(maxEntries)
      }),
    )
  })

  it('no line that stays has other words, or fewer uses than before, or more than one more', () => {
    fc.assert(
      fc.property(stored, candidates, score, most, (entries, said, at, maxEntries) => {
        for (const { from, ...now } of mergeLessons(entries, said, at, similar, maxEntries)
          .lessons) {
          if (from === undefined) {
            expect(now).toMatchObject({ uses: 0, lastScore: null, isByHand: false })
            continue
          }
          expect(now).toMatchObject({ kind: from.kind, content: from.content })
          expect([from.uses, from.uses + 1]).toContain(now.uses)
          expect(now.lastScore).toBe(now.uses > from.uses ? at : from.lastScore)
        }
      }),
    )
  })

  it('with room enough every candidate is there, as itself or in a line of its kind', () => {
    fc.assert(
      fc.property(stored, candidates, score, (entries, said, at) => {
        const { lessons, dropped } = mergeLessons(entries, said, at, never, 200)

        expect(dropped).toEqual([])
        for (const { kind, content: words } of said) {
          const text = words.toLowerCase()
          const has = lessons.some(
            (one) =>
              one.kind === kind &&
              (one.content.toLowerCase().includes(text) ||
                text.includes(one.content.toLowerCase())),
          )
          expect(has).toBe(true)
        }
      }),
    )
  })

  it('nothing learned changes nothing, and the order of ties stays', () => {
    fc.assert(
      fc.property(stored, score, (entries, at) => {
        const { lessons } = mergeLessons(entries, [], at, similar, 200)

        expect(lessons.map(({ from }) => from)).toEqual(entries)
      }),
    )
  })
})
