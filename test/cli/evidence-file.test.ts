import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readCheckpointFile, readEvidenceFile } from '../../src/cli/evidence-file.ts'
import type { EvidenceLine } from '../../src/domain/evidence.ts'
import { temporaryFolder } from './run-cli.ts'

const file = join(temporaryFolder(), 'evidence.jsonl')
const line = {
  kind: 'row',
  table: 'procedure_versions',
  asOf: 4,
  row: { id: 'ver_1', version_number: 2, name: 'A\u2028\u00e9', '1': 'x' },
}
const text = JSON.stringify(line)

async function read(content: string | Buffer): Promise<readonly EvidenceLine[]> {
  writeFileSync(file, content)
  const lines: EvidenceLine[] = []
  for await (const one of readEvidenceFile(file)) lines.push(one)
  return lines
}

it('reads what it is written as, also without the last newline and in many pieces', async () => {
  const long = JSON.stringify({ ...line, row: { text: 'é'.repeat(200_000) } })

  const lines = await read(`${text}\n${long}\n${text}`)

  expect(lines).toEqual([line, JSON.parse(long), line])
})

it.each([
  ['a name twice', text.replace('"asOf":4', '"asOf":3,"asOf":4')],
  ['a name twice, deeper', text.replace('"id":"ver_1"', '"id":"ver_0","id":"ver_1"')],
  ['more digits than are read', text.replace(':2', ':2.00000000000000000001')],
  ['another form of a number', text.replace(':2', ':2e0')],
  ['another form of a character', text.replace('é', '\\u00e9')],
  ['a space', text.replace('"asOf":4', '"asOf": 4')],
  ['a carriage return', `${text}\r`],
  ['a member that it does not know', text.replace('"asOf"', '"note":"x","asOf"')],
  ['a member that is none', text.replace('"asOf"', '"__proto__":{},"asOf"')],
  ['a byte order mark', `\ufeff${text}`],
  ['nothing', ''],
])('refuses a line with %s', async (_name, changed) => {
  await expect(read(`${changed}\n`)).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: expect.stringMatching(/line 1 is (no line|not written)/),
  })
})

it('refuses bytes that are no UTF-8', async () => {
  const bytes = Buffer.from(text)
  bytes[bytes.indexOf('ver_1')] = 0xff

  await expect(read(bytes)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' })
})

it('leaves out what is no checkpoint, and says where', async () => {
  const checkpoint = {
    v: 1,
    tenant: 'default',
    seq: 1,
    hash: 'h',
    at: 't',
    keyId: 'k',
    signature: 's',
  }
  const good = JSON.stringify(checkpoint)
  writeFileSync(file, `${good}\n{"v":1,"ten${good}\n\n${good}\n{"v":1`)

  const { checkpoints, badLines } = await readCheckpointFile(file)

  expect(checkpoints).toEqual([checkpoint, checkpoint])
  expect(badLines).toEqual([2, 5])
})
