import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkSchema, migrations } from '../../src/db/migrate.ts'
import { compareVersions, serviceVersion } from '../../src/db/service-version.ts'

const all = [...migrations].map(([name, { minCodeVersion }]) => ({
  name,
  min_code_version: minCodeVersion,
}))

describe('the list of migrations', () => {
  it('is the folder, in the order of its names', () => {
    const files = readdirSync('migrations').sort()

    expect([...migrations.keys()].map((name) => `${name}.ts`)).toEqual(files)
    expect(
      files.every((file, index) => file.startsWith(`${String(index + 1).padStart(4, '0')}-`)),
    ).toBe(true)
  })

  it('asks for no newer code than this', () => {
    for (const { name, min_code_version: version } of all) {
      expect(compareVersions(version, serviceVersion), name).toBeLessThanOrEqual(0)
    }
  })
})

describe('a schema', () => {
  it('that has all migrations fits', () => {
    expect(checkSchema(all, 'here')).toBeUndefined()
  })

  it('that lacks some is refused with their names and the command to run', () => {
    const check = () => checkSchema(all.slice(0, -2), 'db.example:5432/desk')
    const missing = all.slice(-2).map(({ name }) => name)

    expect(check).toThrow(
      `The schema of db.example:5432/desk is older than this code: it lacks ${missing.join(', ')}. Run 'stepwarden migrate'.`,
    )
  })

  it('that needs newer code is refused with both versions', () => {
    const newer = { name: '0099-later', min_code_version: '99.1.0' }

    expect(() => checkSchema([...all, newer], 'here')).toThrow(
      `The schema of here needs stepwarden 99.1.0 or newer, since migration 0099-later; this is ${serviceVersion}. Install a newer version.`,
    )
  })

  it('with migrations that this code does not know, but that allow for it, fits', () => {
    const later = { name: '0099-later', min_code_version: serviceVersion }

    expect(checkSchema([...all, later], 'here')).toBeUndefined()
  })
})

describe('compareVersions', () => {
  it.each([
    ['0.1.0', '0.1.0', 0],
    ['0.10.0', '0.9.0', 1],
    ['1.0.0', '0.99.99', 1],
    ['0.1.2', '0.1.10', -1],
  ])('orders %s and %s by their numbers', (a, b, sign) => {
    expect(Math.sign(compareVersions(a, b))).toBe(sign)
  })
})
