import { createReadStream } from 'node:fs'
import { type Checkpoint, type CheckpointKey, readPublicKeys } from '../domain/checkpoint.ts'
import { ServiceError } from '../domain/errors.ts'
import { checkpointShape, type EvidenceLine, evidenceLine } from '../domain/evidence.ts'
import { readText } from './read-text.ts'

/**
 * The lines of evidence in a file, one by one. Each must be the text that its value is written as: a name that is there
 * twice, or a number with more digits than are read, would show something else to another reader.
 *
 * @throws ServiceError `FILE_UNREADABLE`, also for a line that is none of evidence.
 */
export async function* readEvidenceFile(file: string): AsyncGenerator<EvidenceLine> {
  let number = 0
  for await (const text of linesOf(file, { isStrict: true })) {
    number += 1
    const value = parseJson(text)
    const parsed = evidenceLine.safeParse(value)
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      const place = [
        ...(issue?.path ?? []),
        ...(issue?.code === 'unrecognized_keys' ? issue.keys : []),
      ]
      const at = place.length === 0 ? '' : ` (${place.join('.')})`
      throw unreadable(file, `line ${number} is no line of evidence${at}`)
    }
    if (JSON.stringify(value) !== text) {
      throw unreadable(
        file,
        `line ${number} is not written as evidence is: one reader may show other values than another`,
      )
    }
    yield parsed.data
  }
}

/** The checkpoints of a file, and the lines of it that are none. */
export interface CheckpointFile {
  readonly checkpoints: readonly Checkpoint[]
  /** Numbers of lines, from 1. */
  readonly badLines: readonly number[]
}

/**
 * The checkpoints in a file of JSON lines, as STEPWARDEN_CHECKPOINT_FILE keeps them. A line that a process has not written
 * to its end, as it was stopped, does not take the others with it.
 *
 * @throws ServiceError `FILE_UNREADABLE`
 */
export async function readCheckpointFile(file: string): Promise<CheckpointFile> {
  const checkpoints: Checkpoint[] = []
  const badLines: number[] = []
  let number = 0
  for await (const text of linesOf(file, { isStrict: false })) {
    number += 1
    if (text.trim() === '') continue
    const parsed = checkpointShape.safeParse(parseJson(text))
    if (parsed.success) checkpoints.push(parsed.data)
    else badLines.push(number)
  }
  return { checkpoints, badLines }
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

/** The texts between newlines; an empty one after the last is none. `isStrict`: each is UTF-8 to the byte. */
async function* linesOf(
  file: string,
  { isStrict }: { readonly isStrict: boolean },
): AsyncGenerator<string> {
  const input: AsyncIterable<Buffer> = file === '-' ? process.stdin : createReadStream(file)
  const decoder = new TextDecoder('utf-8', { fatal: isStrict, ignoreBOM: true })
  let begun: Buffer[] = []
  try {
    for await (const chunk of input) {
      let from = 0
      for (let to = chunk.indexOf(newline); to >= 0; to = chunk.indexOf(newline, from)) {
        yield decoder.decode(Buffer.concat([...begun, chunk.subarray(from, to)]))
        begun = []
        from = to + 1
      }
      begun.push(chunk.subarray(from))
    }
    const rest = decoder.decode(Buffer.concat(begun))
    if (rest !== '') yield rest
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw unreadable(file, reason.replace(/^[A-Z]+: |, [a-z]+(?: '.*')?$/g, ''), error)
  }
}

const newline = 0x0a

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
