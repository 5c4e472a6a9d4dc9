/** What people come for, and the commands of it: each a whole path, or the word that all of a group begin with. */
const groups: readonly (readonly [heading: string, paths: readonly string[]])[] = [
  ['Work on tickets', ['demo', 'chat', 'resolve', 'search', 'executions', 'escalations']],
  [
    'Write playbooks',
    [
      'procedures list',
      'procedures show',
      'procedures create',
      'procedures edit',
      'procedures new-version',
      'procedures delete',
      'procedures import',
      'procedures seed',
      'procedures scenarios',
      'procedures simulate',
      'check',
      'simulate',
      'backtest',
      'backtests',
      'diff',
      'apply',
      'export',
    ],
  ],
  ['Review them, and decide what serves', ['procedures']],
  ['Stop at once', ['procedures stop', 'procedures allow', 'tools']],
  ['See how it goes', ['insights', 'procedures record', 'stats']],
  ['Learn from runs', ['experiences', 'lessons', 'proposals', 'gaps']],
  ['Who may act', ['whoami', 'principals', 'keys', 'tenants']],
  ['Prove, and forget', ['audit', 'erase', 'retention']],
  [
    'Run the service',
    ['serve', 'mcp', 'worker', 'migrate', 'doctor', 'webhooks', 'embeddings', 'calendar'],
  ],
]

/** The heading that the help has for a command, by its whole path before its first word; undefined for one of no group. */
export function helpGroupOf(path: string): string | undefined {
  const [word] = path.split(' ')
  const find = (wanted: string | undefined) =>
    groups.find(([, paths]) => paths.some((one) => one === wanted))?.[0]
  return find(path) ?? find(word)
}

/** The headings, in the order of the help. */
export const helpGroups: readonly string[] = groups.map(([heading]) => heading)
