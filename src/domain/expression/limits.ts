import { Fault } from './value.ts'

/** The longest source of an expression, in UTF-16 code units. */
export const maxSource = 16_384
export const maxNodes = 500
export const maxDepth = 40
/** How deep `all`, `map` and their like may stand in one another. */
export const maxMacroDepth = 2
/** The longest list that an expression walks or builds. */
const maxItems = 1_000
/** The longest text that an expression builds, in UTF-16 code units. */
const maxText = 65_536
/** The longest pattern of `matches()`, and the largest program that it may become. */
export const maxPattern = 500
export const maxPatternProgram = 2_000
/** The work of one evaluation: about one unit for each node visited and each list item or KiB of text handled. */
export const maxWork = 1_000_000
/** The largest result of an expression or a template, as JSON text in UTF-16 code units. */
export const maxResult = 1_048_576
export const maxResultDepth = 100

/** A limit as people read it: `65,536`. */
export function figure(limit: number): string {
  return String(limit).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** @throws Fault when a list is longer than an expression may walk or build. */
export function checkLength(length: number): void {
  if (length <= maxItems) return
  throw new Fault(
    `a list of ${figure(length)} items; at most ${figure(maxItems)} are walked or built`,
  )
}

/** @throws Fault when a text is longer than an expression may build. */
export function checkTextLength(length: number): void {
  if (length <= maxText) return
  throw new Fault(`a text of ${figure(length)} characters; at most ${figure(maxText)} are built`)
}
