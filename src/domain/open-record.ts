import type { AttemptRecord, ExecutionRecord, Said, StepRow, Ticket } from './execution.ts'
import { isJsonObject, type Json } from './json.ts'
import {
  type PartValues,
  putBack,
  putBackText,
  type SealedPart,
  type SensitiveValue,
  valuesOf,
} from './sensitive-value.ts'

/** A record as the run had it: what was stored apart is back in its places. Only deciding and replay may read that. */
export function openRecord(
  record: ExecutionRecord,
  values: readonly SensitiveValue[],
): ExecutionRecord {
  if (values.length === 0) return record
  const { start, end } = record
  const of = (part: SealedPart): PartValues => valuesOf(values, 0, part)
  const input = putBack(start.input, of('input'))
  return {
    start: {
      ...start,
      input: isJsonObject(input) ? input : {},
      ticket: start.ticket && openTicket(start.ticket, of('ticket')),
    },
    rows: record.rows.map((row) => openRow(row, values)),
    end: end && {
      ...end,
      result: putBack(end.result, of('result')),
      reason: end.reason && {
        ...end.reason,
        ...(end.reason.text !== undefined && {
          text: putBackText(end.reason.text, of('reason'), ['text']),
        }),
        message: putBackText(end.reason.message, of('reason'), ['message']),
      },
    },
  }
}

/** What a run that was called came to, as it had it. */
export function openResult(result: Json, values: readonly SensitiveValue[]): Json {
  return putBack(result, valuesOf(values, 0, 'result'))
}

function openTicket(ticket: Ticket, values: PartValues): Ticket {
  return { ...ticket, text: putBackText(ticket.text, values, ['text']) }
}

function openRow(row: StepRow, values: readonly SensitiveValue[]): StepRow {
  const own = values.filter(({ ordinal }) => ordinal === row.ordinal)
  if (own.length === 0) return row
  const of = (part: SealedPart): PartValues => valuesOf(own, row.ordinal, part)
  const { error, attempts, exchange } = row
  return {
    ...row,
    input: putBack(row.input, of('input')),
    output: putBack(row.output, of('output')),
    error: error && { ...error, message: putBackText(error.message, of('error'), ['message']) },
    attempts:
      attempts?.map(
        (attempt, at): AttemptRecord => ({
          ...attempt,
          message: putBackText(attempt.message, of('attempts'), [at, 'message']),
        }),
      ) ?? null,
    ...(exchange !== undefined && {
      exchange: exchange.map((said, at) => openSaid(said, of('exchange'), at)),
    }),
  }
}

function openSaid(said: Said, values: PartValues, at: number): Said {
  if (said.kind === 'unfit') {
    return {
      ...said,
      text: putBackText(said.text, values, [at, 'text']),
      problems: said.problems.map((text, place) =>
        putBackText(text, values, [at, 'problems', place]),
      ),
    }
  }
  if ((said.kind !== 'approved' && said.kind !== 'denied') || said.comment === undefined) {
    return said
  }
  return { ...said, comment: putBackText(said.comment, values, [at, 'comment']) }
}
