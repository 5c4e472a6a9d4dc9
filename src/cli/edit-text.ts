import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ServiceError } from '../domain/errors.ts'
import { usageError } from './failures.ts'

/** A text that a person has edited, in a file that stays until it is removed. */
export interface EditedText {
  readonly text: string
  readonly file: string
  readonly isChanged: boolean
  /** Removes the file. */
  readonly discard: () => void
}

/**
 * Opens a text in the person's editor and answers what they made of it. The file is theirs alone to read.
 *
 * @throws ServiceError `USAGE_INVALID` when the environment names no editor, `EDITOR_FAILED` when it did not end well.
 */
export function editText(
  text: string,
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): EditedText {
  const editor = environment.VISUAL || environment.EDITOR
  if (!editor) {
    throw usageError(
      'There is no editor to open: neither VISUAL nor EDITOR is set.',
      'Set one of them, or give the text with --file FILE.',
    )
  }
  const folder = mkdtempSync(join(tmpdir(), 'stepwarden-'))
  const file = join(folder, name)
  const discard = () => rmSync(folder, { recursive: true, force: true })
  writeFileSync(file, text, { mode: 0o600 })
  // The variable holds a command with its options, as a shell reads it; the name of the file is ours.
  const { status, signal, error } = spawnSync(`${editor} "${file}"`, {
    shell: true,
    stdio: 'inherit',
  })
  if (error !== undefined || status !== 0) {
    discard()
    const problem = error?.message ?? `ended with ${signal ?? `exit code ${status}`}`
    throw new ServiceError('EDITOR_FAILED', { editor, problem }, { cause: error })
  }
  const edited = readFileSync(file, 'utf8')
  return { text: edited, file, isChanged: edited !== text, discard }
}
