import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { errorCodes, isServiceError, ServiceError } from '../../src/domain/errors.ts'
import { commonErrors } from '../../src/operations/define.ts'
import { operations } from '../../src/operations/registry.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')

describe('errors', () => {
  it('are documented, each with its kind and whether trying again can help', () => {
    const rows = [...page.matchAll(/^\| `([A-Z_]+)`\s*\| (\w+)\s*\| (yes|no)\s*\| \S/gm)]
    const documented = rows.map(([, code, kind, again]) => [code, kind, again])

    const registered = [...errorCodes].map(([code, { kind, retryable }]) => [
      code,
      kind,
      retryable ? 'yes' : 'no',
    ])
    expect(documented.sort()).toEqual(registered.sort())
  })

  it('are declared by every operation that throws them', () => {
    const folder = new URL('../../src/operations/', import.meta.url)
    const source = new Map(
      readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]),
    )
    for (const operation of Object.values(operations)) {
      const file = `${operation.name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.ts`
      const thrown = [...(source.get(file) ?? '').matchAll(/new ServiceError\('([A-Z_]+)'/g)].map(
        ([, code]) => code,
      )
      for (const code of thrown)
        expect([...operation.errors, ...commonErrors], file).toContain(code)
      expect(source.has(file), `${operation.name} stands in ${file}`).toBe(true)
    }
  })

  it('carry their facts, and are told apart by code', () => {
    const error: unknown = new ServiceError('PROCEDURE_NOT_FOUND', { procedureKey: 'X' })

    expect(isServiceError(error, 'PROCEDURE_NOT_FOUND') && error.details.procedureKey).toBe('X')
    expect(isServiceError(error, 'INTERNAL')).toBe(false)
    expect(isServiceError(new Error('X'))).toBe(false)
  })
})

it('a message that quotes one has a single full stop at its end', () => {
  const details = { host: 'here', port: 1, problem: 'It is taken.' }

  expect(new ServiceError('ADDRESS_UNUSABLE', details).message).toContain(
    'It is taken. Give another',
  )
})
