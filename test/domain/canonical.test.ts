import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalJson,
  canonicalValue,
  findValueProblems,
  hashOf,
  measuredValue,
} from '../../src/domain/canonical.ts'
import { throughJsonb } from '../support/walk.ts'

const jsonValue = fc
  .jsonValue({ maxDepth: 4 })
  .filter((value) => findValueProblems(value).length === 0)

describe('canonicalJson', () => {
  it.each([
    [{ b: 1, a: [2, { d: null, c: true }] }, '{"a":[2,{"c":true,"d":null}],"b":1}'],
    // By UTF-16 code units, as RFC 8785 says: not by number, not by code point.
    [{ 10: 'x', 9: 'y', 1: 'z' }, '{"1":"z","10":"x","9":"y"}'],
    [{ '€': 1, '\r': 2, '😂': 3, '\ufb33': 4 }, '{"\\r":2,"€":1,"😂":3,"\ufb33":4}'],
    [-0, '0'],
    [0.000001, '0.000001'],
    [1e-7, '1e-7'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    ['\u0001"\\\n', '"\\u0001\\"\\\\\\n"'],
  ])('writes %j as RFC 8785 does', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it('does not depend on the order of keys, and reads back as it was', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        expect(hashOf(throughJsonb(value))).toBe(hashOf(value))
        expect(canonicalJson(JSON.parse(canonicalJson(value)))).toBe(canonicalJson(value))
      }),
    )
  })

  it('gives values that no host object can be reached through', () => {
    const value = canonicalValue(JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}'))

    expect(Object.getPrototypeOf(value)).toBeNull()
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true},"constructor":1}')
  })

  it('never takes a value for smaller than its JSON text is, nor for larger', () => {
    fc.assert(
      fc.property(jsonValue, (json) => {
        const { value, minBytes, maxBytes } = measuredValue(json, Number.POSITIVE_INFINITY)

        expect(value).toEqual(canonicalValue(json))
        const bytes = Buffer.byteLength(JSON.stringify(value))
        expect(maxBytes).toBeGreaterThanOrEqual(bytes)
        expect(minBytes).toBeLessThanOrEqual(bytes)
      }),
    )
    const extremes = [-Number.MIN_VALUE, '\u0001', [], {}, null, true, false]
    const { maxBytes } = measuredValue(extremes, Number.POSITIVE_INFINITY)
    expect(maxBytes).toBeGreaterThanOrEqual(JSON.stringify([-Number.MIN_VALUE]).length)
  })

  it('refuses everything at once that JSON or the database has no form for, with its path', () => {
    const cyclic: unknown[] = []
    cyclic.push(cyclic)
    const value = {
      nul: 'a\u0000b',
      'key\ud800': 1,
      lone: ['\udc00'],
      big: 2 ** 53,
      not: [Number.NaN, Number.POSITIVE_INFINITY],
      big2: 1n,
      run: () => 1,
      when: new Date(0),
      cyclic,
    }

    expect(
      findValueProblems(value)
        .map(({ path }) => path.slice(0, 9))
        .sort(),
    ).toEqual(
      ['', 'big', 'big2', 'cyclic[0]', 'lone[0]', 'not[0]', 'not[1]', 'nul', 'run', 'when'].sort(),
    )
    expect(() => canonicalValue(value)).toThrow(/10 problems/)
  })

  it('refuses what shared parts would multiply beyond memory, in bounded time', () => {
    let value: unknown = 'x'
    for (let level = 0; level < 60; level += 1) value = [value, value]

    expect(findValueProblems(value)).toEqual([
      expect.objectContaining({ message: expect.stringContaining('1000000') }),
    ])
  })
})
