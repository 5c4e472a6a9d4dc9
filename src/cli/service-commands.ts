import { getStats } from '../operations/get-stats.ts'
import { type Command, operationCommand } from './command.ts'
import { doctor } from './doctor.ts'
import { fields } from './table.ts'
import { countText } from './value-line.ts'

const stats = operationCommand({
  path: 'stats',
  operation: getStats,
  input: () => ({}),
  screen: ({ procedures, versions, executions, escalations, coverageGaps }, terminal) => {
    const counts = (of: Readonly<Record<string, number>>) =>
      Object.entries(of)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ') || 'none'
    return fields(terminal, [
      ['Procedures', String(procedures)],
      ['Versions', counts(versions)],
      ['Executions', counts(executions)],
      ['Escalations', counts(escalations)],
      ['Tickets that no playbook fitted', String(coverageGaps)],
    ])
  },
})

const migrate: Command = {
  path: 'migrate',
  summary: 'Bring the schema of the database up to date',
  notes:
    'Any number of processes may do so at once. An embedded folder is also migrated by any command that opens it.',
  async run({ config, parts }) {
    let requiredApprovals: { readonly before: number; readonly after: number } | null = null
    const applied = await parts.migrateDatabase(config.database, (change) => {
      requiredApprovals = change
    })
    const screen = [
      ...(applied.length === 0
        ? ['The schema is up to date; there was nothing to apply.']
        : [
            `Applied ${countText(applied.length, 'migration')}:`,
            ...applied.map((name) => `  ${name}`),
          ]),
      ...approvalsLines(requiredApprovals),
    ].join('\n')
    return { output: { applied, requiredApprovals }, screen }
  },
}

function approvalsLines(change: { before: number; after: number } | null): readonly string[] {
  if (change === null) return []
  const { before, after } = change
  return [
    `A version needs ${countText(after, 'approval')} from now on; before it was ${before}. The audit log of every tenant says so.`,
  ]
}

export const serviceCommands: readonly Command[] = [stats, migrate, doctor]
