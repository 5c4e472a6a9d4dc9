import { expect, it } from 'vitest'
import type { Tree } from '../../conformance/sopbench/cases.ts'
import { clausesOf, clauseText } from '../../conformance/sopbench/clauses.ts'

const is = (check: string): Tree => ({ check, args: {} })
const not = (check: string): Tree => ({ check, args: {}, negate: true })
const both = (...of: Tree[]): Tree => ({ op: 'and', of })
const either = (...of: Tree[]): Tree => ({ op: 'or', of })
const textsOf = (tree: Tree | null) => clausesOf(tree).map(clauseText)

it('makes a condition of each rule that must hold, in their order', () => {
  expect(textsOf(both(is('a'), { op: 'chain', of: [is('b'), not('c')] }))).toEqual([
    'a',
    'b',
    'not c',
  ])
})

it('names a rule of each branch where one branch must hold', () => {
  expect(textsOf(either(both(is('a'), is('b')), { op: 'gate', of: [is('c'), is('d')] }))).toEqual([
    'a or c or d',
    'b or c or d',
  ])
})

it('says once what several branches say', () => {
  expect(textsOf(either(both(is('a'), is('b')), both(is('a'), is('b'))))).toEqual([
    'a',
    'a or b',
    'b or a',
    'b',
  ])
})

it('leaves out what always holds', () => {
  expect(textsOf(either(both(is('a'), is('b')), both(not('a'), not('b'))))).toEqual([
    'a or not b',
    'b or not a',
  ])
  expect(textsOf(null)).toEqual([])
})

it('tells one check of two things apart', () => {
  const other: Tree = { check: 'exists', args: { username: 'target' } }

  expect(textsOf(both({ check: 'exists', args: { username: 'username' } }, other))).toEqual([
    'exists',
    'exists (target as username)',
  ])
})

it('refuses a tree that nobody could read', () => {
  const wide = both(...Array.from({ length: 20 }, (_, index) => is(`a${index}`)))

  expect(() => clausesOf(either(wide, wide))).toThrow('more than 200 conditions')
})
