import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { definitionHash } from '../domain/definition.ts'
import { isServiceError } from '../domain/errors.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import { requireDefinition } from '../domain/parse-definition.ts'
import { activateVersion } from '../operations/activate-version.ts'
import { createProcedure } from '../operations/create-procedure.ts'
import { editDraft } from '../operations/edit-draft.ts'
import { getProcedure } from '../operations/get-procedure.ts'
import type { Command } from './command.ts'
import type { ReadText, Shell } from './shell.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'

/** What became of one procedure of the demo. */
export interface SeededProcedure {
  readonly procedureKey: string
  readonly versionNumber: number
  /**
   * `created`: it was not there, and serves now. `activated`: its draft was there, and serves now. `unchanged`: it is
   * there as the demo has it. `kept`: there is something else under its key, which was left alone. `draft`: it is there,
   * and this deployment asks for an approval before it serves.
   */
  readonly result: 'created' | 'activated' | 'unchanged' | 'kept' | 'draft'
}

export const seed: Command = {
  path: 'procedures seed',
  summary: 'Load the playbooks of the demo and put them into service',
  notes: 'Doing it again changes nothing, and what is there under the same key is left alone.',
  async run(shell) {
    const output = await seedProcedures(shell)
    return { output, screen: seedScreen(shell.terminal, output) }
  },
}

/**
 * Loads the demo's procedures, through the operations and with the checks that anyone's go through.
 *
 * @throws ServiceError what `createProcedure` and `activateVersion` throw.
 */
export async function seedProcedures(shell: Shell): Promise<readonly SeededProcedure[]> {
  const scenarios = new Map(
    readSeeds(shell, 'scenarios').map(({ value, source }) => {
      const { procedure, scenarios = [] } = isJsonObject(value) ? value : {}
      return [procedure, { scenarios, scenariosSource: source }]
    }),
  )
  const seeded: SeededProcedure[] = []
  for (const document of readSeeds(shell, 'procedures')) {
    seeded.push(await seedOne(shell, document, scenarios))
  }
  return seeded
}

/** The documents of a folder of the seeds, by the names of their files. */
function readSeeds(shell: Shell, name: string): readonly ReadText[] {
  const folder = seedFolder(name)
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'))
  return files.sort().map((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8')
    return shell.parts.readDocument(text, file)
  })
}

export function seedScreen(terminal: Terminal, seeded: readonly SeededProcedure[]): string {
  const rows = seeded.map(({ procedureKey, versionNumber, result }) => [
    procedureKey,
    `v${versionNumber}`,
    {
      created: 'created, and serves now',
      activated: 'its draft serves now',
      unchanged: 'unchanged',
      kept: 'kept: it differs from the demo’s',
      draft: 'a draft: somebody must approve it',
    }[result],
  ])
  return table(terminal, ['PROCEDURE', 'VERSION', 'SEEDED'], rows, 'No procedures to load.')
}

async function seedOne(
  shell: Shell,
  { value, source }: ReadText,
  scenarios: ReadonlyMap<Json | undefined, object>,
): Promise<SeededProcedure> {
  const definition = requireDefinition(value)
  const procedureKey = definition.key
  const serve = async (versionNumber: number, result: SeededProcedure['result']) => {
    try {
      await shell.call(activateVersion, { procedureKey, versionNumber, seenActive: null })
      return { procedureKey, versionNumber, result }
    } catch (error) {
      if (!isServiceError(error, 'APPROVAL_MISSING')) throw error
      return { procedureKey, versionNumber, result: 'draft' } as const
    }
  }
  try {
    const { versionNumber } = await shell.call(createProcedure, {
      definition: value,
      source,
      ...scenarios.get(procedureKey),
    })
    return await serve(versionNumber, 'created')
  } catch (error) {
    if (!isServiceError(error, 'PROCEDURE_EXISTS')) throw error
  }
  const { version, versions } = await shell.call(getProcedure, { procedureKey })
  const { versionNumber, revision } = version
  const isSame = version.definitionHash === definitionHash(definition)
  if (isSame && version.status === 'active') {
    return { procedureKey, versionNumber, result: 'unchanged' }
  }
  if (!isSame || versions.some(({ status }) => status !== 'draft')) {
    return { procedureKey, versionNumber, result: 'kept' }
  }
  // An earlier seeding ended between making the draft and putting it into service. It is saved again, so that it is
  // checked against the tools of today.
  await shell.call(editDraft, {
    procedureKey,
    versionNumber,
    revision,
    definition: value,
    source,
  })
  return serve(versionNumber, 'activated')
}

/** The package holds seeds/ at its root: two folders up from the sources, three from what is built of them. */
function seedFolder(name: string): URL {
  const folders = [`../../seeds/${name}/`, `../../../seeds/${name}/`].map(
    (path) => new URL(path, import.meta.url),
  )
  const folder = folders.find((one) => existsSync(one))
  if (folder === undefined)
    throw new Error('the package has no seeds; it was installed incompletely')
  return folder
}
