import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, storedValue } from '../../src/domain/canonical.ts'
import type { Json } from '../../src/domain/json.ts'
import { putBack, type SensitiveValue, valuesOf } from '../../src/domain/sensitive-value.ts'
import { type Column, Sealer } from '../../src/operations/sealer.ts'

const secret = 'QX-7731-ZK'

function columnOf(apart: SensitiveValue[] = []): Column {
  return { ordinal: 1, part: 'output', apart }
}

/** Any value, in which the secret may stand anywhere, alone, inside texts and as a name. */
const anyValue: fc.Arbitrary<Json> = fc
  .letrec<{ value: Json }>((tie) => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(secret, `has ${secret}!`, secret.toLowerCase(), 'QX 7731 ZK'),
    )
    const leaf = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null))
    const list = fc.array(tie('value'), { maxLength: 4 })
    const object = fc.dictionary(text, tie('value'), { maxKeys: 4 })
    return { value: fc.oneof({ maxDepth: 4 }, leaf, list, object) }
  })
  .value.map(storedValue)

describe('a sealed value', () => {
  it('holds no known value, and is whole again with what is kept apart', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const sealer = new Sealer([])
        sealer.learnTexts([secret])
        const column = columnOf()

        const sealed = sealer.seal(column, value, [])

        expect(
          canonicalJson(sealed)
            .toUpperCase()
            .replace(/[^A-Z0-9]/g, ''),
        ).not.toContain('QX7731ZK')
        const opened = putBack(sealed, valuesOf(column.apart, 1, 'output'))
        expect(canonicalJson(opened)).toBe(canonicalJson(value))
      }),
      { numRuns: 500 },
    )
  })

  it('is sealed the same way again, also by whoever has loaded it', () => {
    const value = { text: `It is ${secret}`, other: secret }
    const first = new Sealer([])
    first.learnTexts([secret])
    const column = columnOf()
    const sealed = first.seal(column, value, [])
    const later = new Sealer(column.apart)
    later.learnTexts([secret])

    expect(first.seal(columnOf(), value, [])).toEqual(sealed)
    expect(later.seal(columnOf(), value, [])).toEqual(sealed)
  })

  it('keeps what lies too deep for a key with what is around it', () => {
    const value = { ['x'.repeat(600)]: secret, near: 1 }
    const column = columnOf()
    const sealer = new Sealer([])
    sealer.learnTexts([secret])

    const sealed = sealer.seal(column, value, [])

    expect(column.apart).toMatchObject([{ pointer: '', isWhole: true }])
    expect(putBack(sealed, valuesOf(column.apart, 1, 'output'))).toEqual(value)
  })
})
