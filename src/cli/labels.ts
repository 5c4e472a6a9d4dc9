import { pad } from './table.ts'
import type { Terminal } from './terminal.ts'

/** How wide the label of a part of a screen is, the space behind it included. */
export const labelWidth = 12

/** The name of a part of a screen, as wide as all of them. */
export function label(terminal: Terminal, text: string): string {
  return terminal.style('heading', pad(text, labelWidth))
}

/** A labelled text in as many lines as it takes. */
export function labelled(terminal: Terminal, name: string, text: string): string {
  return `${label(terminal, name)}${terminal.wrap(text, labelWidth)}`
}
