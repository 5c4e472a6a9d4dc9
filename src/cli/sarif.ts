import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { type Rule, rules } from '../checks/rules.ts'
import type { Finding } from '../domain/finding.ts'

export interface FileFindings {
  readonly file: string
  readonly findings: readonly Finding[]
}

const page = 'docs/checks.md'

/** Findings as SARIF 2.1.0, which code hosts and editors show beside the lines that they are about. */
export function sarifLog(files: readonly FileFindings[]): unknown {
  const help = helpOfRules()
  const ids = Object.keys(rules)
  const known: Readonly<Record<string, Rule>> = rules
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'stepwarden',
            rules: ids.map((id) => ({
              id,
              shortDescription: { text: known[id]?.finds ?? id },
              help: {
                text: `${known[id]?.finds ?? id}: see '${id}' in ${page}`,
                markdown: help.get(id) ?? `See \`${id}\` in ${page}.`,
              },
              defaultConfiguration: { level: known[id]?.severity ?? 'error' },
            })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: files.flatMap(({ file, findings }) =>
          findings.map((finding) => ({
            ruleId: finding.rule,
            ruleIndex: ids.indexOf(finding.rule),
            level: finding.severity,
            message: { text: finding.message },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: uriOf(file) },
                  region: { startLine: finding.line ?? 1, startColumn: finding.column ?? 1 },
                },
                ...(finding.path !== '' && {
                  logicalLocations: [{ fullyQualifiedName: finding.path }],
                }),
              },
            ],
          })),
        ),
      },
    ],
  }
}

function uriOf(file: string): string {
  if (file === '-') return 'stdin'
  // A path of its own root is a URL; any other is kept as it is, to be read from where the command ran.
  if (/^(?:\/|[A-Za-z]:)/.test(file)) return pathToFileURL(file).href
  return encodeURI(file.replaceAll('\\', '/'))
}

/** What the page says of each rule, as it stands there; empty where the page is not at hand. */
function helpOfRules(): ReadonlyMap<string, string> {
  const text = readPage()
  const sections = text.split(/^### /m).slice(1)
  return new Map(
    sections.map((section) => {
      const [, id = '', body = ''] = /^`([a-z-]+)`\s*\n([\s\S]*)/.exec(section) ?? []
      return [id, body.split(/^## /m)[0]?.trim() ?? '']
    }),
  )
}

/** Beside the sources the page is two folders up, beside what was built of them three. */
function readPage(): string {
  for (const root of ['../../', '../../../']) {
    try {
      return readFileSync(new URL(`${root}${page}`, import.meta.url), 'utf8')
    } catch {
      // It may have been left out of an installation: the rules are then named without it.
    }
  }
  return ''
}
