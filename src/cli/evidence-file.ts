import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { type Checkpoint, type CheckpointKey, readPublicKeys } from '../domain/checkpoint.ts'
import { ServiceError } from '../domain/errors.ts'
import { checkpointShape, type EvidenceLine, evidenceLine } from '../domain/evidence.ts'
import { readText } from './read-text.ts'

/**
 * The lines of evidence in a file, one by one.
 *
 * @throws ServiceError `FILE_UNREADABLE`, also for a line that is none of evidence.
 */
export async function* readEvidenceFile(file: string): AsyncGenerator<EvidenceLine> {
  let number = 0
  for await (const text of linesOf(file)) {
    number += 1
    const parsed = evidenceLine.safeParse(parseJson(text))
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      const at = issue === undefined || issue.path.length === 0 ? '' : ` (${issue.path.join('.')})`
      throw unreadable(file, `line ${number} is no line of evidence${at}`)
    }
    yield parsed.data
  }
}

/**
 * The checkpoints in a file of JSON lines, as STEPWARDEN_CHECKPOINT_FILE keeps them.
 *
 * @throws ServiceError `FILE_UNREADABLE`
 */
export async function readCheckpointFile(file: string): Promise<readonly Checkpoint[]> {
  const checkpoints: Checkpoint[] = []
  let number = 0
  for await (const text of linesOf(file)) {
    number += 1
    if (text.trim() === '') continue
    const parsed = checkpointShape.safeParse(parseJson(text))
    if (!parsed.success) throw unreadable(file, `line ${number} is no checkpoint`)
    checkpoints.push(parsed.data)
  }
  return checkpoints
}

/**
 * The public keys in some files.
 *
 * @throws ServiceError `FILE_UNREADABLE`, `PUBLIC_KEY_INVALID`
 */
export async function readPublicKeyFiles(
  files: readonly string[],
): Promise<{ readonly pem: string; readonly keys: readonly CheckpointKey[] }> {
  const texts: string[] = []
  for (const file of files) {
    const text = await readText(file)
    if (readPublicKeys(text) === undefined) {
      throw new ServiceError('PUBLIC_KEY_INVALID', { problem: `${file} holds no public key.` })
    }
    texts.push(text)
  }
  const pem = texts.join('\n')
  return { pem, keys: readPublicKeys(pem) ?? [] }
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const input = file === '-' ? process.stdin : createReadStream(file, 'utf8')
  // Without a listener of its own, an error of the stream would not reach the loop.
  const failed = new Promise<never>((_, reject) => input.once('error', reject))
  failed.catch(() => undefined)
  try {
    const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
    const iterator = lines[Symbol.asyncIterator]()
    for (;;) {
      const next = await Promise.race([iterator.next(), failed])
      if (next.done === true) return
      yield next.value
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw unreadable(file, reason.replace(/^[A-Z]+: |, [a-z]+(?: '.*')?$/g, ''), error)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unreadable(file: string, problem: string, cause?: unknown): ServiceError {
  const name = file === '-' ? 'standard input' : file
  return new ServiceError('FILE_UNREADABLE', { file: name, problem }, { cause })
}
