import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFileWhole } from '../../src/cli/write-file.ts'
import { temporaryFolder } from './run-cli.ts'

const folder = temporaryFolder()

async function* texts(...parts: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const part of parts) {
    if (part instanceof Error) throw part
    yield part
  }
}

describe('a file that is written as its text comes', () => {
  it('is there when all of it is, for its owner alone', async () => {
    const file = join(folder, 'whole')
    await writeFileWhole(file, texts('a', 'b'))

    expect(readFileSync(file, 'utf8')).toBe('ab')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('leaves what was there, and nothing else, when the text fails or is stopped', async () => {
    const file = join(folder, 'kept')
    await writeFileWhole(file, texts('before'))

    await expect(writeFileWhole(file, texts('a', new Error('gone')))).rejects.toThrow('gone')
    await writeFileWhole(file, texts('a'), { isStopped: () => true })

    expect(readFileSync(file, 'utf8')).toBe('before')
    expect(readdirSync(folder).sort()).toEqual(['kept', 'whole'])
  })

  it('says which one cannot be written', async () => {
    const file = join(folder, 'no', 'such')

    await expect(writeFileWhole(file, texts('a'))).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
      details: { file, problem: 'no such file or directory' },
    })
  })
})
