import { createReadStream } from 'node:fs'
import { ServiceError } from '../domain/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts'
import { usageError } from './failures.ts'
import type { ReadText, Shell } from './shell.ts'

/** Far above every limit of what is read, and low enough to be held in memory whole. */
const maxBytes = 16 * 1024 * 1024

/**
 * The text of a file, or of standard input for `-`.
 *
 * @throws ServiceError `FILE_UNREADABLE`
 */
export async function readText(file: string): Promise<string> {
  const name = file === '-' ? 'standard input' : file
  const unreadable = (problem: string, cause?: unknown) =>
    new ServiceError('FILE_UNREADABLE', { file: name, problem }, { cause })
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      bytes += chunk.length
      if (bytes > maxBytes) throw unreadable(`it has more than ${maxBytes} bytes`)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    // `ENOENT: no such file or directory, open 'x'`: what stands around the sentence says nothing more.
    throw unreadable(reason.replace(/^[A-Z]+: |, [a-z]+(?: '.*')?$/g, ''), error)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    throw unreadable('it is not text in UTF-8', error)
  }
}

/** Reads the document in a file, or on standard input for `-`. */
export async function readDocumentFile(shell: Shell, file: string): Promise<ReadText> {
  const text = await readText(file)
  return shell.parts.readDocument(text, file === '-' ? 'standard input' : file)
}

/**
 * Reads a value that was given as an option: JSON or YAML, or `@FILE` for one in a file.
 *
 * @throws ServiceError `DOCUMENT_INVALID`, `FILE_UNREADABLE`
 */
export async function readValue(shell: Shell, option: string, given: string): Promise<Json> {
  const { value } = given.startsWith('@')
    ? await readDocumentFile(shell, given.slice(1))
    : shell.parts.readDocument(given, option)
  return value
}

/**
 * Reads an object that was given as an option: JSON or YAML, or `@FILE` for one in a file.
 *
 * @throws ServiceError `DOCUMENT_INVALID`, `FILE_UNREADABLE`, `USAGE_INVALID` for a value that is no object.
 */
export async function readObject(
  shell: Shell,
  option: string,
  given: string | undefined,
): Promise<JsonObject | undefined> {
  if (given === undefined) return undefined
  const value = await readValue(shell, option, given)
  if (isJsonObject(value)) return value
  throw usageError(
    `${option} must be a JSON object.`,
    `Write it as ${option} '{"transactionId": "TXN-DEMO-001"}', or ${option} @FILE.`,
  )
}
