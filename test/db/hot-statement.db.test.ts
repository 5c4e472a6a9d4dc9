import { afterAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../support/database.ts'

const db = await openTestDatabase({ poolSize: 1 })
const a = db.database.forTenant('default')
await db.addTenant('b')
const b = db.database.forTenant('b')

const rename = {
  name: 'test_rename',
  text: 'UPDATE tenants SET name = $2 WHERE id = $1',
}
const nameOf = async (id: string): Promise<string | undefined> => {
  const rows = await db.database
    .forTenant(id)
    .query<{ name: string }>('test_name', 'SELECT name FROM tenants WHERE id = $1', [id])
  return rows[0]?.name
}

afterAll(() => a.run(rename, ['default', 'default']))

describe('a hot statement', () => {
  it('answers how many rows it wrote, the first time and when it is prepared', async () => {
    expect(await a.run(rename, ['default', 'one'])).toBe(1)
    expect(await a.run(rename, ['default', 'two'])).toBe(1)
    expect(await a.run(rename, ['nobody', 'three'])).toBe(0)
    expect(await nameOf('default')).toBe('two')
  })

  it('counts the rows of its outermost part', async () => {
    const text = `WITH u AS (UPDATE tenants SET name = name WHERE id = $1 RETURNING id)
      SELECT generate_series(1, 7) FROM u`

    expect(await a.run({ name: 'test_parts', text }, ['default'])).toBe(7)
  })

  it('writes texts as they are', async () => {
    for (const text of ['', "it's", '"\\', 'Zoë 😀', '{"a":[1]}']) {
      await a.run(rename, ['default', text])
      expect(await nameOf('default')).toBe(text)
    }
  })

  it('writes nothing for null', async () => {
    await expect(a.run(rename, ['default', null])).rejects.toMatchObject({ code: '23502' })
  })

  it('sees one tenant’s rows, on a connection that another tenant had', async () => {
    expect(await b.run(rename, ['default', 'of b'])).toBe(0)
    expect(await a.run(rename, ['default', 'of a'])).toBe(1)
    expect(await nameOf('default')).toBe('of a')
  })

  it('that fails leaves its connection as it was', async () => {
    const divide = { name: 'test_divide', text: 'SELECT 6 / $1::int' }
    for (const [by, code] of [
      ['0', '22012'],
      ['x', '22P02'],
    ]) {
      await expect(a.run(divide, [by ?? ''])).rejects.toMatchObject({ code })
      expect(await a.run(divide, ['3'])).toBe(1)
    }
  })

  it('that the server cannot read is refused every time, and its name stays free', async () => {
    const name = 'test_unreadable'
    for (let count = 0; count < 2; count++) {
      await expect(a.run({ name, text: 'SELEC 1' }, [])).rejects.toMatchObject({ code: '42601' })
    }

    expect(await a.run({ name, text: 'SELECT 1' }, [])).toBe(1)
  })

  it('may be sent many at once', async () => {
    const counts = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? a : b).run(rename, [index % 2 === 0 ? 'default' : 'b', `n${index}`]),
      ),
    )

    expect(counts).toEqual(counts.map(() => 1))
  })
})
