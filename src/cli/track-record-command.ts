import type { z } from 'zod'
import { getTrackRecord } from '../operations/get-track-record.ts'
import type { trackRecordOutput } from '../operations/track-record-output.ts'
import { type Command, operationCommand } from './command.ts'
import { table } from './table.ts'
import { durationText } from './value-line.ts'

type Found = z.infer<typeof getTrackRecord.output>
type Record = z.infer<typeof trackRecordOutput>

export const trackRecord: Command = operationCommand({
  path: 'procedures record',
  operation: getTrackRecord,
  arguments: [
    { usage: '<KEY>', text: 'the key of a procedure' },
    { usage: '[NUMBER]', text: 'only this version' },
  ],
  notes: [
    'Resolved is a success, escalated is none; what was declined or cancelled, or is open, is in no rate. Behind a rate stands',
    'its 95 % confidence interval (Wilson). docs/track-record.md says more.',
  ].join('\n'),
  input: (given) => ({
    procedureKey: given.text('KEY'),
    versionNumber: given.number('NUMBER'),
  }),
  screen: (found, terminal) =>
    [
      table(
        terminal,
        ['VERSION', 'RUNS', 'SUCCEEDED', 'CONFIDENCE', 'MEAN', 'BESIDES', 'ELSEWHERE'],
        found.versions.map((one) => [
          `v${one.versionNumber} ${one.status}`,
          ...recordCells(one.verified),
          besidesText(one.verified),
          elsewhereText(one.outside),
        ]),
        'No version of it has served.',
      ),
      ...standingLine(found),
    ].join('\n'),
})

function recordCells(record: Record): readonly string[] {
  const { executionCount, confidence, meanDurationMs } = record
  return [
    String(executionCount),
    rateText(record),
    confidence.toFixed(1),
    meanDurationMs === null ? '–' : durationText(Math.round(meanDurationMs)),
  ]
}

/** `93 % (91–95)`. */
function rateText({ successRate, low, high }: Record): string {
  if (low === null || high === null) return '–'
  return `${percent(successRate)} % (${percent(low)}–${percent(high)})`
}

function percent(share: number): string {
  return String(Math.round(share * 100))
}

function besidesText({
  declinedCount,
  cancelledCount,
  openCount,
}: Found['versions'][number]['verified']): string {
  const parts = [
    declinedCount > 0 && `${declinedCount} declined`,
    cancelledCount > 0 && `${cancelledCount} cancelled`,
    openCount > 0 && `${openCount} open`,
  ]
  return parts.filter((part) => part !== false).join(', ') || '–'
}

/** What was told, apart from what is proved. */
function elsewhereText(outside: Record): string {
  if (outside.executionCount === 0) return '–'
  return `${outside.executionCount}: ${rateText(outside)}`
}

function standingLine({ standing }: Found): readonly string[] {
  if (standing === null || standing.recordOf === standing.versionNumber) return []
  const from = standing.recordOf === null ? 'no record' : `that of v${standing.recordOf}`
  return [`v${standing.versionNumber} has no record of its own yet: agents go by ${from}.`]
}
