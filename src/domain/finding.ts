import type { Problem } from './problem.ts'

export type Severity = 'error' | 'warning'

/** What the checks have to say of a definition. Errors keep it from going live; warnings are shown. */
export interface Finding extends Problem {
  /** Stable, in kebab case; each is described in docs/checks.md. */
  readonly rule: string
  readonly severity: Severity
  /** Of a finding that may be acknowledged: what it is acknowledged by. */
  readonly id?: string | undefined
}
