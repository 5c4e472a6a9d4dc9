import type { RawClient } from './database.ts'

/**
 * Writes the schema `public` as text for people: tables with columns, constraints, indexes, triggers, policies and
 * grants, then functions. It reads the same on every backend and version, so a difference is a difference in meaning.
 */
export async function describeSchema(client: RawClient): Promise<string> {
  // Types and functions are then written without their schema, wherever they lie.
  await client.query(`SET search_path = public`)
  const { rows } = await client.query<{ line: string }>(schemaQuery)
  await client.query('RESET search_path')
  return `${rows.map((row) => row.line).join('\n')}\n`
}

const schemaQuery = `
  WITH tables AS (
    SELECT oid, relname, reloptions FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
  ), functions AS (
    SELECT p.oid, p.proname, pg_get_userbyid(p.proowner) AS owner, pg_get_functiondef(p.oid) AS definition, p.proacl
    FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  ), lines AS (
    SELECT relname AS place, 1 AS part, '' AS sorting,
      E'\\nTABLE ' || relname || coalesce(' WITH (' || array_to_string(reloptions, ', ') || ')', '') AS line
    FROM tables
    UNION ALL
    SELECT t.relname, 2, lpad(a.attnum::text, 4, '0'),
      '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || CASE WHEN a.attcollation = '"C"'::regcollation THEN ' COLLATE "C"' ELSE '' END
      || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
      || CASE WHEN a.attgenerated = 's' THEN ' GENERATED AS ' WHEN d.oid IS NOT NULL THEN ' DEFAULT ' ELSE '' END
      || coalesce(pg_get_expr(d.adbin, d.adrelid), '')
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
    UNION ALL
    -- From version 18 on, NOT NULL is a constraint (n) as well.
    SELECT t.relname, 3, c.conname, '  CONSTRAINT ' || c.conname || ' ' || pg_get_constraintdef(c.oid)
    FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid WHERE c.contype <> 'n'
    UNION ALL
    SELECT t.relname, 4, i.indexrelid::regclass::text, '  ' || replace(pg_get_indexdef(i.indexrelid), 'public.', '')
    FROM tables t JOIN pg_index i ON i.indrelid = t.oid
    WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
    UNION ALL
    SELECT t.relname, 5, g.tgname, '  ' || replace(pg_get_triggerdef(g.oid), 'public.', '')
    FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid WHERE NOT g.tgisinternal
    UNION ALL
    SELECT t.relname, 6, p.polname, '  POLICY ' || p.polname
      || ' FOR ' || CASE p.polcmd WHEN '*' THEN 'ALL' WHEN 'r' THEN 'SELECT' ELSE p.polcmd::text END
      || ' TO ' || CASE WHEN p.polroles = '{0}' THEN 'PUBLIC' ELSE
           (SELECT string_agg(pg_get_userbyid(r), ', ') FROM unnest(p.polroles) r) END
      || ' USING ' || coalesce(pg_get_expr(p.polqual, p.polrelid), '-')
      || ' WITH CHECK ' || coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '-')
    FROM tables t JOIN pg_policy p ON p.polrelid = t.oid
    UNION ALL
    SELECT place, 7, grantee || privilege, '  GRANT ' || privilege || coalesce(' (' || columns || ')', '') || ' TO ' || grantee
    FROM (
      SELECT t.relname AS place, pg_get_userbyid(x.grantee) AS grantee, x.privilege_type AS privilege, NULL AS columns
      FROM pg_class c JOIN tables t ON t.oid = c.oid, aclexplode(c.relacl) x WHERE x.grantee <> c.relowner
      UNION ALL
      SELECT t.relname, pg_get_userbyid(x.grantee), x.privilege_type, string_agg(a.attname, ', ' ORDER BY a.attnum)
      FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid, aclexplode(a.attacl) x
      GROUP BY 1, 2, 3
    ) g
    UNION ALL
    SELECT '~' || proname, 1, '', E'\\n' || definition || '  OWNER ' || owner
      || CASE WHEN proacl IS NULL THEN '' ELSE ' GRANTED TO '
         || (SELECT string_agg(CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(x.grantee) END, ', ' ORDER BY 1)
            FROM aclexplode(proacl) x) END
    FROM functions
  )
  SELECT replace(line, 'CREATE OR REPLACE FUNCTION', 'FUNCTION') AS line
  FROM lines ORDER BY place COLLATE "C", part, sorting COLLATE "C"`
