import pg from 'pg'

/**
 * How values of columns come into JavaScript: `bigint` as a number, as no counter of ours comes near 2^53; all else as
 * the driver does it (`timestamptz` a `Date`, `jsonb` a value, `numeric` its digits as text).
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8 && format !== 'binary') return readBigint
    return pg.types.getTypeParser(oid, format)
  },
}

function readBigint(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is beyond 2^53 − 1`)
  return value
}
