import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import { requireDefinition } from '../../src/domain/parse-definition.ts'
import { createGapClusters, type Gap, type GapTicket } from '../../src/learning/gap.ts'
import { examplesOfGap, nameOfGap, skeletonOf, withRouting } from '../../src/learning/gap-draft.ts'

const begin = Date.UTC(2026, 10, 1)
let made = 0
const ticket = (text: string | null, more: Partial<GapTicket> = {}): GapTicket => {
  made += 1
  return {
    escalationId: `esc_${String(made).padStart(6, '0')}`,
    ...{ executionId: null, text, openedAt: new Date(begin + made), code: 'no_procedure' },
    ...{ procedureKey: null, versionNumber: null, stepKey: null, ...more },
  }
}
const handedOver = (text: string | null, stepKey = 'look', versionNumber = 1) =>
  ticket(text, {
    ...{ executionId: `exec_${made}`, code: 'tool_failed', procedureKey: 'LOOKS' },
    ...{ versionNumber, stepKey },
  })

/** Texts such as `30` are at so many degrees; similar is what is at most 60 apart. */
const gapsOf = (tickets: readonly GapTicket[], minSimilarity = 0.5): readonly Gap[] => {
  const vectors = new Map(
    tickets.map(({ escalationId, text }) => [escalationId, text === null ? undefined : at(text)]),
  )
  const clusters = createGapClusters((id) => vectors.get(id), minSimilarity)
  for (const one of tickets) clusters.add(one)
  return clusters.gaps()
}
const at = (text: string) => {
  const angle = (Number(text) / 180) * Math.PI
  return Float32Array.of(Math.cos(angle), Math.sin(angle))
}
const textsOf = (gaps: readonly Gap[]) => gaps.map(({ tickets }) => tickets.map(({ text }) => text))

describe('gaps', () => {
  it('are about what their first ticket is about, however many have joined', () => {
    expect(textsOf(gapsOf(['0', '50', '50', '70'].map((text) => ticket(text))))).toEqual([
      ['0', '50', '50'],
      ['70'],
    ])
  })

  it('take a ticket to the nearest of them, of equals the oldest', () => {
    expect(textsOf(gapsOf(['0', '90', '45'].map((text) => ticket(text))))).toEqual([
      ['0', '45'],
      ['90'],
    ])
    expect(textsOf(gapsOf(['0', '90', '46', '47'].map((text) => ticket(text))))[0]).toEqual([
      ...['90', '46', '47'],
    ])
  })

  it('never mix what ran with what did not, nor versions, nor steps', () => {
    const gaps = gapsOf([
      ...[ticket('0'), handedOver('0'), handedOver('0', 'other'), handedOver('0', 'look', 2)],
      ...[handedOver('1'), ticket('1', { code: 'no_procedure' })],
    ])

    expect(
      gaps.map(({ kind, versionNumber, stepKey, tickets }) => [
        ...[kind, versionNumber, stepKey, tickets.length],
      ]),
    ).toEqual([
      ['unmatched', null, null, 2],
      ['escalated', 1, 'look', 2],
      ['escalated', 2, 'look', 1],
      ['escalated', 1, 'other', 1],
    ])
  })

  it('are one for all of a step that have no ticket', () => {
    const gaps = gapsOf([handedOver(null), handedOver('0'), handedOver(null), handedOver('180')])

    expect(textsOf(gaps)).toEqual([[null, null], ['180'], ['0']])
  })

  it('hold each ticket once, each alike its first', () => {
    const angles = fc.array(fc.integer({ min: 0, max: 359 }), { maxLength: 60 })

    fc.assert(
      fc.property(angles, (list) => {
        const tickets = list.map((angle) => ticket(String(angle)))
        const gaps = gapsOf(tickets)

        const ids = gaps.flatMap((gap) => gap.tickets.map(({ escalationId }) => escalationId))
        expect(ids.sort()).toEqual(tickets.map(({ escalationId }) => escalationId).sort())
        for (const { tickets: own } of gaps) {
          const [first, ...others] = own.map(({ text }) => at(String(text)))
          for (const one of others) {
            const cos = (first?.[0] ?? 0) * (one[0] ?? 0) + (first?.[1] ?? 0) * (one[1] ?? 0)
            expect(cos).toBeGreaterThan(0.49)
          }
        }
        expect(gapsOf(tickets)).toEqual(gaps)
        const sizes = gaps.map((gap) => gap.tickets.length)
        expect(sizes).toEqual([...sizes].sort((a, b) => b - a))
      }),
    )
  })
})

const gapOf = (texts: readonly string[], make: typeof handedOver | typeof ticket = ticket): Gap => {
  const tickets = texts.map((text) => make(text))
  const [first = make('')] = tickets
  const { code, procedureKey, versionNumber, stepKey, executionId } = first
  const kind = executionId === null ? 'unmatched' : 'escalated'
  return { kind, tickets, code, procedureKey, versionNumber, stepKey }
}

describe('the draft of a gap', () => {
  it.each([
    ['alike', ['My gift card is empty', 'The gift card is empty again']],
    ['in no common words', ['Umbrella', 'Weather']],
    ['of values alone', ['4711', 'x@example.com', '']],
    ['in another script', ['カードの残高がありません', 'カードの残高が違います']],
    ['with what looks like a template', ['{{input.x}} gift card', 'gift card {{steps.y}}']],
    ['very long', [`gift card ${'very '.repeat(3_000)}`, `gift card ${'so '.repeat(3_000)}`]],
  ])('can be read and checked, of tickets %s', (_name, texts) => {
    const contracts = () => undefined
    for (const gap of [gapOf(texts), gapOf(texts, handedOver)]) {
      const definition = requireDefinition(skeletonOf(gap, {}))

      const findings = checkDefinition(definition, contracts)
      expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
      expect(definition.key).toMatch(/^[A-Z][A-Z0-9_]+_PLAYBOOK$/)
    }
  })

  it('is called by the words that most tickets have, or as it is told', () => {
    const gap = gapOf(['My gift card is empty', 'Gift card lost', 'No gift for ana'])

    expect(nameOfGap(gap)).toBe('Gift card')
    expect(skeletonOf(gap, { name: 'Empty cards' })).toMatchObject({
      ...{ key: 'EMPTY_CARDS_PLAYBOOK', name: 'Empty cards' },
    })
    expect(nameOfGap(gapOf(['One', 'Two']))).toBeNull()
    const mixed = ['Card lost', 'Card gone', 'Points lost', 'Points gone', 'Hat', 'Shoe']
    expect(nameOfGap(gapOf(mixed))).toBe('Card gone')
  })

  it('says where its tickets are from', () => {
    const texts = ['My gift card is empty', 'Gift card lost']
    const skeleton = skeletonOf(gapOf(texts, handedOver), {})

    expect(skeleton.description).toBe(
      'Drafted from 2 tickets that version 1 of LOOKS handed to a person at look (tool_failed). What is to be done is not written yet.',
    )
  })

  it('has the shortest tickets as examples, each once, without values', () => {
    const texts = [
      ...['Card 4417-22 is empty', 'Card 4418-01 is empty', 'Write to ana@example.com', '12345'],
      ...['Empty', 'Quite empty', 'All empty', 'Nearly empty'],
    ]

    const examples = examplesOfGap(gapOf(texts))

    expect(examples).toEqual(['Empty', 'All empty', 'Write to …', 'Quite empty', 'Nearly empty'])
  })

  it('that was learned keeps its steps, and is found by the gap', () => {
    const learned = { key: 'LEARNED', issuePatterns: ['was learned'], steps: [] }

    expect(withRouting(learned, gapOf(['My gift card', 'Your gift card']))).toEqual({
      ...learned,
      issuePatterns: ['gift card', 'was learned'],
      examples: { match: ['My gift card', 'Your gift card'] },
    })
  })
})
