import { mkdirSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ServiceError } from '../domain/errors.ts'
import { isInside } from './playbook-files.ts'
import { writeFileWhole } from './write-file.ts'

/**
 * Writes a file below a folder, whole or not at all: whoever reads it meanwhile sees the old text or the new one. Folders
 * on the way are made.
 *
 * @throws ServiceError `FILE_UNWRITABLE`, also where a link would lead out of the folder.
 */
export async function writeFileWithin(folder: string, file: string, text: string): Promise<void> {
  const parent = dirname(file)
  try {
    requireInside(folder, file)
    mkdirSync(parent, { recursive: true })
    await writeFileWhole(file, [text], { mode: 0o666 })
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
