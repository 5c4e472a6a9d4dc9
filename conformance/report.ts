/** How one tier of a domain went. Pairs are [passed, total]. */
export interface TierReport {
  readonly success: [number, number]
  readonly refused: [number, number]
  readonly failures: { readonly case: string; readonly reason: string }[]
}

/** By suite, domain and tier. */
export type Report = Record<string, Record<string, Record<string, TierReport>>>

/** Which cases to run; a field that is absent leaves none out. */
export interface Selection {
  readonly suite?: string | undefined
  readonly domain?: string | undefined
  readonly tier?: string | undefined
  readonly case?: string | undefined
}

/** Where the runs of a suite tell what came of them. */
export interface Recorder {
  wants(suite: string, domain: string, tier: string): boolean
  wantsCase(id: string): boolean
  /** `failure` is why the case failed, or undefined when it passed. */
  record(place: Place, id: string, expected: 'success' | 'refused', failure?: string): void
}

export interface Place {
  readonly suite: string
  readonly domain: string
  readonly tier: string
}

export function createRecorder(
  report: Report,
  selection: Selection,
  onProgress: (place: Place, tier: TierReport) => void,
): Recorder {
  const fits = (wanted: string | undefined, value: string) =>
    wanted === undefined || wanted === value
  return {
    wants: (suite, domain, tier) =>
      fits(selection.suite, suite) && fits(selection.domain, domain) && fits(selection.tier, tier),
    wantsCase: (id) => fits(selection.case, id),
    record(place, id, expected, failure) {
      const tier = tierOf(report, place)
      tier[expected][1] += 1
      if (failure === undefined) tier[expected][0] += 1
      else tier.failures.push({ case: id, reason: failure })
      onProgress(place, tier)
    },
  }
}

function tierOf(report: Report, { suite, domain, tier }: Place): TierReport {
  report[suite] ??= {}
  const domains = report[suite]
  domains[domain] ??= {}
  const tiers = domains[domain]
  tiers[tier] ??= { success: [0, 0], refused: [0, 0], failures: [] }
  return tiers[tier]
}

export function hasFailures(report: Report): boolean {
  return rowsOf(report).some(([, { failures }]) => failures.length > 0)
}

/** The report as a table for people, with each failure and its reason below. */
export function reportText(report: Report): string {
  const rows = rowsOf(report).map(([{ suite, domain, tier }, { success, refused }]) => [
    suite,
    domain,
    tier,
    success.join(' of '),
    refused.join(' of '),
  ])
  const table = [['suite', 'domain', 'tier', 'success', 'refused'], ...rows]
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  )
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const failures = rowsOf(report).flatMap(([{ tier }, { failures }]) =>
    failures.map((failure) => `${failure.case}, tier ${tier}: ${failure.reason}`),
  )
  return [...lines, ...(failures.length === 0 ? [] : ['', ...failures])].join('\n')
}

function rowsOf(report: Report): readonly (readonly [Place, TierReport])[] {
  return Object.entries(report).flatMap(([suite, domains]) =>
    Object.entries(domains).flatMap(([domain, tiers]) =>
      Object.entries(tiers).map(([tier, found]) => [{ suite, domain, tier }, found] as const),
    ),
  )
}
