import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { ServiceError } from '../domain/errors.ts'

interface WriteOptions {
  readonly isStopped?: () => boolean
  /** Who may do what with the file, before the umask of the process. */
  readonly mode?: number
}

/**
 * Writes texts that come one by one into a file, which appears under its name when all of it is there, and on disk. When
 * the texts end with an error, or `isStopped` says that they have ended before their time, nothing is left. Unless a
 * `mode` says otherwise only its owner may read it.
 *
 * @throws ServiceError `FILE_UNWRITABLE`, and what the texts throw.
 */
export async function writeFileWhole(
  file: string,
  texts: AsyncIterable<string> | Iterable<string>,
  { isStopped = () => false, mode = 0o600 }: WriteOptions = {},
): Promise<void> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.unfinished`
  const writing = <T>(work: Promise<T>) =>
    work.catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      // `ENOENT: no such file or directory, open 'x'`: what stands around the sentence says nothing more.
      const problem = reason.replace(/^[A-Z]+: |, [a-z]+(?: '.*')?$/g, '')
      throw new ServiceError('FILE_UNWRITABLE', { file, problem }, { cause: error })
    })
  const handle = await writing(open(unfinished, 'wx', mode))
  try {
    try {
      for await (const text of texts) await writing(handle.appendFile(text))
      await writing(handle.sync())
    } finally {
      await handle.close()
    }
    if (isStopped()) await rm(unfinished, { force: true })
    else await writing(rename(unfinished, file))
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}
