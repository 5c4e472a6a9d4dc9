/** Steps that have another key in the later version, and what texts that name them are to say then. */
export class Renames {
  readonly #keys: ReadonlyMap<string, string>
  readonly #references: RegExp | undefined
  readonly #place: RegExp | undefined

  /** `keys`: from each old key to the new one. */
  constructor(keys: ReadonlyMap<string, string>) {
    this.#keys = keys
    // Keys of steps have letters, digits and _ alone.
    const either = [...keys.keys()].join('|')
    this.#references = either === '' ? undefined : new RegExp(`\\bsteps\\.(${either})\\b`, 'g')
    this.#place = either === '' ? undefined : new RegExp(`^(${either})(\\[[\\d.]+\\])?$`)
  }

  /** An expression, a template, a key or a place (`KEY[0]`) with the new keys in it. */
  follow(text: string): string {
    if (this.#references === undefined || this.#place === undefined) return text
    const newKey = (key: string) => this.#keys.get(key) ?? key
    return text
      .replace(this.#place, (_all, key: string, round = '') => `${newKey(key)}${round}`)
      .replace(this.#references, (_all, key: string) => `steps.${newKey(key)}`)
  }
}

export const noRenames = new Renames(new Map())
