import type { z } from 'zod'
import { isServiceError, ServiceError } from '../domain/errors.ts'
import { editDraft } from '../operations/edit-draft.ts'
import { getProcedure } from '../operations/get-procedure.ts'
import type { versionState } from '../operations/version-output.ts'
import type { Answer, Command, Given } from './command.ts'
import { editText } from './edit-text.ts'
import { tellingEnded } from './next-step.ts'
import { findingsScreen } from './procedure-screen.ts'
import { readDocumentFile } from './read-text.ts'
import type { ReadText, Shell } from './shell.ts'
import { definitionText } from './version-text.ts'

interface Draft {
  readonly procedureKey: string
  readonly versionNumber: number
  readonly revision: number
}

export const edit: Command = {
  path: 'procedures edit',
  summary: editDraft.summary,
  arguments: [
    { usage: '<KEY>', text: 'the key of a procedure' },
    { usage: '[NUMBER]', text: 'the number of a draft (default: the newest)' },
  ],
  options: [
    {
      usage: '--file <FILE>',
      text: 'the new text, - for standard input; without it your editor opens',
    },
    {
      usage: '--revision <N>',
      text: 'the revision that the text is based on; another one there is a conflict (default: the one there is)',
    },
  ],
  notes: [
    'Without --file it opens the text in VISUAL or EDITOR. A text that cannot be saved is kept in its file.',
    'From one shell to another:',
    '',
    '  stepwarden procedures show KEY 2 --yaml > draft.yaml',
    '  stepwarden procedures edit KEY 2 --file draft.yaml',
  ].join('\n'),
  async run(shell, given) {
    const file = given.find('file')
    const { draft, text } = await openDraft(shell, given)
    if (file !== undefined) return save(shell, draft, await readDocumentFile(shell, file))

    const name = `${draft.procedureKey}-v${draft.versionNumber}.yaml`
    const edited = editText(text, name, shell.environment)
    if (!edited.isChanged) {
      edited.discard()
      return { output: draft, screen: 'The text was left as it was; nothing was changed.' }
    }
    try {
      const answer = await save(shell, draft, shell.parts.readDocument(edited.text, edited.file))
      edited.discard()
      return answer
    } catch (error) {
      const { procedureKey, versionNumber, revision } = draft
      shell.terminal.notice(
        `Your text is kept in ${edited.file}. Save it with: stepwarden procedures edit ${procedureKey} ${versionNumber} --file ${edited.file} --revision ${revision}`,
      )
      throw error
    }
  },
}

/** Gives the problems of a definition their places in the text that it was read from. */
export async function placingProblems<T>(document: ReadText, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!isServiceError(error, 'DEFINITION_INVALID')) throw error
    const problems = document.locate(error.details.problems)
    throw new ServiceError('DEFINITION_INVALID', { problems }, { cause: error })
  }
}

/** The draft that is meant, at the revision that was named or is there, and its text. */
async function openDraft(
  shell: Shell,
  given: Given,
): Promise<{ readonly draft: Draft; readonly text: string }> {
  const procedureKey = given.text('KEY')
  const read = (versionNumber?: number) => shell.call(getProcedure, { procedureKey, versionNumber })
  const number = given.number('NUMBER')
  const found = await read(number)
  const newest = found.versions.find(({ status }) => status === 'draft')?.versionNumber
  // Without any draft the operation refuses the version that is there, and says what to do.
  const { version } = number === undefined && newest !== undefined ? await read(newest) : found
  return {
    draft: {
      procedureKey,
      versionNumber: version.versionNumber,
      revision: given.number('revision') ?? version.revision,
    },
    text: definitionText(shell.parts, version),
  }
}

async function save(shell: Shell, draft: Draft, document: ReadText): Promise<Answer> {
  const { saved, lines } = await tellingEnded(
    shell,
    draft,
    () =>
      placingProblems(document, () =>
        shell.call(editDraft, { ...draft, definition: document.value, source: document.source }),
      ),
    ({ findings }) => findings,
  )
  const what = `is saved, at revision ${saved.revision}`
  return savedAnswer(shell, { document, saved, what, next: lines })
}

/** The answer of a command that has saved a version; its findings have their places in the text. */
export function savedAnswer(
  { terminal }: Shell,
  {
    document,
    saved,
    what,
    next,
  }: {
    readonly document: ReadText | undefined
    readonly saved: z.infer<typeof versionState>
    readonly what: string
    /** What is to be done next. */
    readonly next: readonly string[]
  },
): Answer {
  const findings = document === undefined ? saved.findings : document.locate(saved.findings)
  return {
    output: { ...saved, findings },
    screen: [
      `Version ${saved.versionNumber} of ${saved.procedureKey} ${what}.`,
      findingsScreen(terminal, findings, document !== undefined),
      ...next,
    ].join('\n'),
  }
}
