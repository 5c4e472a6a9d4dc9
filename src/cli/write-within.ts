import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ServiceError } from '../domain/errors.ts'
import { isInside } from './playbook-files.ts'

/**
 * Writes a file below a folder, whole or not at all: whoever reads it meanwhile sees the old text or the new one. Folders
 * on the way are made.
 *
 * @throws ServiceError `FILE_UNWRITABLE`, also where a link would lead out of the folder.
 */
export function writeFileWithin(folder: string, file: string, text: string): void {
  const parent = dirname(file)
  try {
    requireInside(folder, file)
    mkdirSync(parent, { recursive: true })
    replaceFile(file, text)
  } catch (error) {
    if (error instanceof ServiceError) throw error
    const problem = error instanceof Error ? error.message : String(error)
    throw new ServiceError('FILE_UNWRITABLE', { file, problem }, { cause: error })
  }
}

/**
 * Holds a file to lie below a folder that is there, whatever links there are on the way.
 *
 * @throws ServiceError `FILE_UNWRITABLE`
 */
export function requireInside(folder: string, file: string): void {
  if (isInside(realpathSync(folder), realPathOf(dirname(resolve(file))))) return
  throw new ServiceError('FILE_UNWRITABLE', { file, problem: `it lies outside ${folder}` })
}

/** The path with all links followed, also where its last folders are not there yet. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const parent = dirname(path)
    if (!isMissing || parent === path) throw error
    return join(realPathOf(parent), path.slice(parent.length))
  }
}

function replaceFile(file: string, text: string): void {
  const temporary = join(dirname(file), `.stepwarden-${randomUUID()}.tmp`)
  try {
    const descriptor = openSync(temporary, 'wx')
    try {
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
