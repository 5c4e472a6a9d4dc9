import type { Json } from '../domain/json.ts'

/** A value as one readable line: `state: failed, amount: 49.00 USD`. What is nested stands in brackets. */
export function valueLine(value: Json | undefined): string {
  if (value === undefined || value === null) return '–'
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(inner).join(', ')
  const entries = Object.entries(value)
  return entries.length === 0 ? 'nothing' : entries.map(pair).join(', ')
}

function inner(value: Json): string {
  return typeof value === 'object' && value !== null ? `(${valueLine(value)})` : valueLine(value)
}

function pair([name, value]: readonly [string, Json]): string {
  return `${name}: ${inner(value)}`
}

/** An instant of the wire as people read it, in UTC: `2026-05-03 10:11:12Z`. */
export function instantText(instant: string | null): string | null {
  return instant === null ? null : `${instant.slice(0, 19).replace('T', ' ')}Z`
}

/** A span of time in the unit that suits it. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}

/** `1 step`, `2 steps`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
