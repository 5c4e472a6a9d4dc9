import type { EndLine, EvidenceLine, HeaderLine } from './evidence.ts'
import type { EvidenceProblem } from './evidence-acts.ts'

/** Which kinds come after which; a seal and its records come by turns. */
const ranks: Readonly<Record<EvidenceLine['kind'], number>> = {
  header: 0,
  row: 1,
  checkpoint: 2,
  event: 3,
  seal: 4,
  record: 4,
  end: 5,
}

/**
 * Holds that evidence has one header first, one end last, and the lines between in their order: what is compared must not
 * come after what it is compared with.
 */
export class LineOrder {
  header: HeaderLine | undefined
  end: EndLine | undefined
  #rank = -1

  /** What is wrong with the place of a line; such a line is to be judged no further. */
  take(line: EvidenceLine): EvidenceProblem | undefined {
    const rank = ranks[line.kind]
    if (this.end !== undefined) return problemOf(line.kind, 'It comes after the end.')
    if (line.kind === 'header' && this.header !== undefined) {
      return problemOf('header', 'There is more than one.')
    }
    if (this.header === undefined && line.kind !== 'header') {
      return problemOf(line.kind, 'It comes before any header.')
    }
    if (rank < this.#rank) return problemOf(line.kind, 'It stands out of its place.')
    this.#rank = rank
    if (line.kind === 'header') this.header = line
    if (line.kind === 'end') this.end = line
    return undefined
  }

  finish(): readonly EvidenceProblem[] {
    const { header, end } = this
    if (header === undefined) return [problemOf('header', 'It does not begin with a header.')]
    const problems: EvidenceProblem[] = []
    if (header.format > 1 && header.asOf === undefined) {
      problems.push(problemOf('header', 'It does not say up to which event its rows agree.'))
    }
    if (end === undefined) {
      problems.push(problemOf('end', 'It has no end: the rest of it was cut off.'))
    }
    return problems
  }
}

function problemOf(id: string, problem: string): EvidenceProblem {
  return { table: 'evidence', id, problem }
}
