
TABLE activation_schedules
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  procedure_id text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  revision integer NOT NULL
  seen_active integer
  acknowledged jsonb NOT NULL
  due_at timestamp(3) with time zone NOT NULL
  scheduled_by jsonb NOT NULL
  scheduled_at timestamp(3) with time zone NOT NULL
  status text NOT NULL DEFAULT 'open'::text
  problem jsonb
  cancelled_by jsonb
  ended_at timestamp(3) with time zone
  CONSTRAINT activation_schedules_acknowledged_check CHECK ((jsonb_typeof(acknowledged) = 'array'::text))
  CONSTRAINT activation_schedules_check CHECK (((status = 'open'::text) = (ended_at IS NULL)))
  CONSTRAINT activation_schedules_check1 CHECK (((status = 'refused'::text) = (problem IS NOT NULL)))
  CONSTRAINT activation_schedules_check2 CHECK (((status = 'cancelled'::text) = (cancelled_by IS NOT NULL)))
  CONSTRAINT activation_schedules_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT activation_schedules_status_check CHECK ((status = ANY (ARRAY['open'::text, 'activated'::text, 'refused'::text, 'cancelled'::text])))
  CONSTRAINT activation_schedules_tenant_id_procedure_id_version_id_fkey FOREIGN KEY (tenant_id, procedure_id, version_id) REFERENCES procedure_versions(tenant_id, procedure_id, id) ON DELETE CASCADE
  CREATE INDEX activation_schedules_due ON activation_schedules USING btree (due_at) WHERE (status = 'open'::text)
  CREATE UNIQUE INDEX activation_schedules_open ON activation_schedules USING btree (tenant_id, version_id) WHERE (status = 'open'::text)
  CREATE INDEX activation_schedules_version ON activation_schedules USING btree (tenant_id, procedure_id, version_id)
  CREATE TRIGGER activation_schedules_ended BEFORE UPDATE ON activation_schedules FOR EACH ROW WHEN ((old.status <> 'open'::text)) EXECUTE FUNCTION refuse('A schedule that has ended never changes.')
  CREATE TRIGGER activation_schedules_identity BEFORE UPDATE OF tenant_id, id, procedure_id, version_id, revision, seen_active, acknowledged, due_at, scheduled_by, scheduled_at ON activation_schedules FOR EACH ROW EXECUTE FUNCTION refuse('What was scheduled never changes; cancel it and schedule anew.')
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (status, problem, cancelled_by, ended_at) TO stepwarden_app
  GRANT SELECT (tenant_id, id, due_at, status) TO stepwarden_system

TABLE activations
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  procedure_id text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  active_from timestamp(3) with time zone NOT NULL
  active_until timestamp(3) with time zone
  activated_by jsonb NOT NULL
  deactivated_by jsonb
  CONSTRAINT activations_check CHECK ((active_until > active_from))
  CONSTRAINT activations_check1 CHECK (((active_until IS NULL) = (deactivated_by IS NULL)))
  CONSTRAINT activations_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT activations_tenant_id_procedure_id_active_from_key UNIQUE (tenant_id, procedure_id, active_from)
  CONSTRAINT activations_tenant_id_procedure_id_version_id_fkey FOREIGN KEY (tenant_id, procedure_id, version_id) REFERENCES procedure_versions(tenant_id, procedure_id, id)
  CREATE UNIQUE INDEX activations_one_open ON activations USING btree (tenant_id, procedure_id) WHERE (active_until IS NULL)
  CREATE TRIGGER activations_closed BEFORE UPDATE ON activations FOR EACH ROW WHEN ((old.active_until IS NOT NULL)) EXECUTE FUNCTION refuse('A past activation never changes.')
  CREATE TRIGGER activations_identity BEFORE UPDATE OF tenant_id, id, procedure_id, version_id, active_from, activated_by ON activations FOR EACH ROW EXECUTE FUNCTION refuse('An activation keeps its version and its beginning.')
  CREATE TRIGGER activations_in_order BEFORE INSERT ON activations FOR EACH ROW EXECUTE FUNCTION check_activation()
  CREATE TRIGGER activations_kept BEFORE DELETE OR TRUNCATE ON activations FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was active is never forgotten.')
  CREATE TRIGGER read_committed BEFORE INSERT OR UPDATE ON activations FOR EACH STATEMENT EXECUTE FUNCTION require_read_committed()
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (active_until, deactivated_by) TO stepwarden_app

TABLE api_keys
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  principal_id text COLLATE "C" NOT NULL
  name text NOT NULL
  key_hash text COLLATE "C" NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  expires_at timestamp(3) with time zone
  revoked_at timestamp(3) with time zone
  CONSTRAINT api_keys_check CHECK ((expires_at > created_at))
  CONSTRAINT api_keys_key_hash_check CHECK ((key_hash ~ '^[0-9a-f]{64}$'::text))
  CONSTRAINT api_keys_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT api_keys_tenant_id_key_hash_key UNIQUE (tenant_id, key_hash)
  CONSTRAINT api_keys_tenant_id_principal_id_fkey FOREIGN KEY (tenant_id, principal_id) REFERENCES principals(tenant_id, id)
  CREATE TRIGGER api_keys_identity BEFORE UPDATE OF tenant_id, id, principal_id, name, key_hash, created_at, expires_at ON api_keys FOR EACH ROW EXECUTE FUNCTION refuse('A key is revoked, never changed.')
  CREATE TRIGGER api_keys_issued BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION refuse_issued_key()
  CREATE TRIGGER api_keys_kept BEFORE DELETE OR TRUNCATE ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION refuse('A key is revoked, never deleted.')
  CREATE TRIGGER api_keys_revoked BEFORE UPDATE ON api_keys FOR EACH ROW WHEN ((old.revoked_at IS NOT NULL)) EXECUTE FUNCTION refuse('A revoked key stays revoked.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (revoked_at) TO stepwarden_app

TABLE audit_events
  tenant_id text COLLATE "C" NOT NULL
  seq bigint NOT NULL
  id text COLLATE "C" NOT NULL
  at timestamp(3) with time zone NOT NULL
  actor_id text NOT NULL
  actor_kind text NOT NULL
  actor text NOT NULL
  action text NOT NULL
  entity_kind text NOT NULL
  entity_id text COLLATE "C"
  before_hash text COLLATE "C"
  after_hash text COLLATE "C"
  details text NOT NULL
  origin text
  ungoverned boolean NOT NULL
  hash_version integer NOT NULL
  prev_hash text COLLATE "C"
  hash text COLLATE "C" NOT NULL
  CONSTRAINT audit_events_actor_json CHECK (((((actor)::jsonb ->> 'id'::text) = actor_id) AND (((actor)::jsonb ->> 'kind'::text) = actor_kind)))
  CONSTRAINT audit_events_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['human'::text, 'ai'::text, 'service'::text])))
  CONSTRAINT audit_events_check CHECK (((seq = 1) = (prev_hash IS NULL)))
  CONSTRAINT audit_events_details_json CHECK ((jsonb_typeof((details)::jsonb) = 'object'::text))
  CONSTRAINT audit_events_pkey PRIMARY KEY (tenant_id, seq)
  CONSTRAINT audit_events_seq_check CHECK ((seq >= 1))
  CONSTRAINT audit_events_tenant_id_id_key UNIQUE (tenant_id, id)
  CREATE INDEX audit_events_entity ON audit_events USING btree (tenant_id, entity_kind, entity_id, seq)
  CREATE INDEX audit_events_written ON audit_events USING btree (tenant_id, after_hash) WHERE (action = ANY (ARRAY['version.created'::text, 'version.edited'::text]))
  CREATE TRIGGER audit_events_1_unforged BEFORE INSERT ON audit_events FOR EACH ROW WHEN ((num_nonnulls(new.seq, new.hash_version, new.prev_hash, new.hash) > 0)) EXECUTE FUNCTION refuse('The database alone sets seq, hash_version, prev_hash and hash of an audit event.')
  CREATE TRIGGER audit_events_2_chain BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION chain_audit_event()
  CREATE TRIGGER audit_events_only_grow BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse('The audit log only grows.')
  CREATE TRIGGER audit_events_told AFTER INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION tell_act()
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id, before_hash, after_hash, details, origin, ungoverned) TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE audit_heads
  tenant_id text COLLATE "C" NOT NULL
  seq bigint NOT NULL
  hash text COLLATE "C"
  CONSTRAINT audit_heads_check CHECK (((seq = 0) = (hash IS NULL)))
  CONSTRAINT audit_heads_pkey PRIMARY KEY (tenant_id)
  CONSTRAINT audit_heads_seq_check CHECK ((seq >= 0))
  CONSTRAINT audit_heads_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE TRIGGER audit_heads_kept BEFORE TRUNCATE ON audit_heads FOR EACH STATEMENT EXECUTE FUNCTION refuse('The head of an audit chain is never removed.')
  CREATE TRIGGER audit_heads_unforged BEFORE INSERT OR DELETE OR UPDATE ON audit_heads FOR EACH ROW WHEN ((pg_trigger_depth() = 0)) EXECUTE FUNCTION refuse('The head of an audit chain moves only when an event is added.')
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT SELECT TO stepwarden_app
  GRANT SELECT (tenant_id, seq) TO stepwarden_system

TABLE backtest_runs
  tenant_id text COLLATE "C" NOT NULL
  backtest_id text COLLATE "C" NOT NULL
  execution_id text COLLATE "C" NOT NULL
  version_number integer NOT NULL
  kind text NOT NULL
  verdict jsonb NOT NULL
  CONSTRAINT backtest_runs_kind_check CHECK ((kind = ANY (ARRAY['different'::text, 'unknown'::text])))
  CONSTRAINT backtest_runs_pkey PRIMARY KEY (tenant_id, backtest_id, execution_id)
  CONSTRAINT backtest_runs_tenant_id_backtest_id_fkey FOREIGN KEY (tenant_id, backtest_id) REFERENCES backtests(tenant_id, id) ON DELETE CASCADE
  CONSTRAINT backtest_runs_verdict_check CHECK ((jsonb_typeof(verdict) = 'object'::text))
  CREATE TRIGGER backtest_runs_found BEFORE UPDATE ON backtest_runs FOR EACH STATEMENT EXECUTE FUNCTION refuse('What a backtest found never changes.')
  CREATE TRIGGER backtest_runs_while_running BEFORE INSERT OR DELETE ON backtest_runs FOR EACH ROW EXECUTE FUNCTION guard_backtest_run()
  CREATE TRIGGER backtest_runs_whole BEFORE TRUNCATE ON backtest_runs FOR EACH STATEMENT EXECUTE FUNCTION refuse('What a backtest found is never deleted.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE backtests
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  procedure_id text COLLATE "C" NOT NULL
  procedure_key text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  version_number integer NOT NULL
  definition_hash text COLLATE "C" NOT NULL
  tool_contracts jsonb NOT NULL
  approval_digest text COLLATE "C" NOT NULL
  filter jsonb NOT NULL
  run_count integer NOT NULL
  started_by jsonb NOT NULL
  started_at timestamp(3) with time zone NOT NULL
  state text NOT NULL DEFAULT 'running'::text
  done_count integer NOT NULL DEFAULT 0
  next_before text COLLATE "C" NOT NULL
  tally jsonb NOT NULL
  ended_at timestamp(3) with time zone
  CONSTRAINT backtests_check CHECK (((state = 'running'::text) = (ended_at IS NULL)))
  CONSTRAINT backtests_done_count_check CHECK ((done_count >= 0))
  CONSTRAINT backtests_filter_check CHECK ((jsonb_typeof(filter) = 'object'::text))
  CONSTRAINT backtests_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT backtests_run_count_check CHECK ((run_count >= 0))
  CONSTRAINT backtests_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'cancelled'::text])))
  CONSTRAINT backtests_tally_check CHECK ((jsonb_typeof(tally) = 'object'::text))
  CONSTRAINT backtests_tenant_id_version_id_fkey FOREIGN KEY (tenant_id, version_id) REFERENCES procedure_versions(tenant_id, id) ON DELETE CASCADE
  CREATE INDEX backtests_of_version ON backtests USING btree (tenant_id, version_id, id)
  CREATE TRIGGER backtests_ended BEFORE UPDATE ON backtests FOR EACH ROW WHEN ((old.state <> 'running'::text)) EXECUTE FUNCTION refuse('A backtest that has ended never changes.')
  CREATE TRIGGER backtests_identity BEFORE UPDATE OF tenant_id, id, procedure_id, procedure_key, version_id, version_number, definition_hash, tool_contracts, approval_digest, filter, run_count, started_by, started_at ON backtests FOR EACH ROW EXECUTE FUNCTION refuse('What a backtest was begun with never changes.')
  CREATE TRIGGER backtests_kept BEFORE DELETE ON backtests FOR EACH ROW EXECUTE FUNCTION guard_backtest()
  CREATE TRIGGER backtests_only_forward BEFORE UPDATE ON backtests FOR EACH ROW WHEN (((new.done_count < old.done_count) OR (new.next_before > old.next_before))) EXECUTE FUNCTION refuse('A backtest never goes back.')
  CREATE TRIGGER backtests_whole BEFORE TRUNCATE ON backtests FOR EACH STATEMENT EXECUTE FUNCTION refuse('A backtest goes only with its draft.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (state, done_count, next_before, tally, ended_at) TO stepwarden_app

TABLE checkpoints
  tenant_id text COLLATE "C" NOT NULL
  seq bigint NOT NULL
  key_id text COLLATE "C" NOT NULL
  hash text COLLATE "C" NOT NULL
  at timestamp(3) with time zone NOT NULL
  signature text NOT NULL
  CONSTRAINT checkpoints_pkey PRIMARY KEY (tenant_id, seq, key_id)
  CONSTRAINT checkpoints_seq_check CHECK ((seq >= 1))
  CONSTRAINT checkpoints_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE TRIGGER checkpoints_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON checkpoints FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was signed never changes.')
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT SELECT (tenant_id, seq, at) TO stepwarden_system

TABLE coverage_gaps
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  ticket jsonb NOT NULL
  candidates jsonb NOT NULL
  model text COLLATE "C" NOT NULL
  escalation_id text COLLATE "C" NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  idempotency_key text
  request_hash text
  customer_id text
  CONSTRAINT coverage_gaps_candidates_check CHECK ((jsonb_typeof(candidates) = 'array'::text))
  CONSTRAINT coverage_gaps_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT coverage_gaps_request CHECK (((idempotency_key IS NULL) = (request_hash IS NULL)))
  CONSTRAINT coverage_gaps_tenant_id_escalation_id_fkey FOREIGN KEY (tenant_id, escalation_id) REFERENCES escalations(tenant_id, id)
  CONSTRAINT coverage_gaps_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE UNIQUE INDEX coverage_gaps_idempotency ON coverage_gaps USING btree (tenant_id, idempotency_key) WHERE (idempotency_key IS NOT NULL)
  CREATE TRIGGER coverage_gaps_erased AFTER UPDATE ON coverage_gaps FOR EACH ROW EXECUTE FUNCTION guard_gap()
  CREATE TRIGGER coverage_gaps_kept BEFORE DELETE OR TRUNCATE ON coverage_gaps FOR EACH STATEMENT EXECUTE FUNCTION refuse('A gap in coverage stays as it was found.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE desk_messages
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  idempotency_key text COLLATE "C" NOT NULL
  message text NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  CONSTRAINT desk_messages_message_check CHECK ((message <> ''::text))
  CONSTRAINT desk_messages_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT desk_messages_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CONSTRAINT desk_messages_tenant_id_idempotency_key_key UNIQUE (tenant_id, idempotency_key)
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE desk_refunds
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  transaction_id text COLLATE "C" NOT NULL
  amount numeric(14,2) NOT NULL
  currency text NOT NULL
  state text NOT NULL
  eta_business_days integer
  idempotency_key text COLLATE "C" NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  CONSTRAINT desk_refunds_amount_check CHECK ((amount > (0)::numeric))
  CONSTRAINT desk_refunds_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text))
  CONSTRAINT desk_refunds_eta_business_days_check CHECK ((eta_business_days >= 0))
  CONSTRAINT desk_refunds_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT desk_refunds_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CONSTRAINT desk_refunds_tenant_id_idempotency_key_key UNIQUE (tenant_id, idempotency_key)
  CREATE UNIQUE INDEX desk_refunds_one_standing ON desk_refunds USING btree (tenant_id, transaction_id) WHERE (state <> ALL (ARRAY['failed'::text, 'cancelled'::text]))
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE embedding_models
  name text COLLATE "C" NOT NULL
  dimensions integer NOT NULL
  threshold double precision NOT NULL
  margin double precision NOT NULL
  calibrated boolean NOT NULL
  is_current boolean NOT NULL DEFAULT false
  switching_since timestamp(3) with time zone
  CONSTRAINT embedding_models_dimensions_check CHECK (((dimensions >= 1) AND (dimensions <= 4096)))
  CONSTRAINT embedding_models_margin_check CHECK (((margin >= (0)::double precision) AND (margin <= (2)::double precision)))
  CONSTRAINT embedding_models_name_dimensions_key UNIQUE (name, dimensions)
  CONSTRAINT embedding_models_pkey PRIMARY KEY (name)
  CONSTRAINT embedding_models_threshold_check CHECK (((threshold >= ('-1'::integer)::double precision) AND (threshold <= (1)::double precision)))
  CREATE UNIQUE INDEX embedding_models_one_current ON embedding_models USING btree (is_current) WHERE is_current
  CREATE UNIQUE INDEX embedding_models_one_switch ON embedding_models USING btree ((true)) WHERE (switching_since IS NOT NULL)
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (threshold, margin, calibrated, is_current, switching_since) TO stepwarden_app

TABLE erased_records
  tenant_id text COLLATE "C" NOT NULL
  execution_id text COLLATE "C" NOT NULL
  digests jsonb NOT NULL
  erased_at timestamp(3) with time zone NOT NULL
  erasure_id text COLLATE "C" NOT NULL
  event_id text COLLATE "C" NOT NULL
  CONSTRAINT erased_records_digests_check CHECK ((jsonb_typeof(digests) = 'object'::text))
  CONSTRAINT erased_records_pkey PRIMARY KEY (tenant_id, execution_id)
  CONSTRAINT erased_records_tenant_id_erasure_id_fkey FOREIGN KEY (tenant_id, erasure_id) REFERENCES erasures(tenant_id, id)
  CONSTRAINT erased_records_tenant_id_event_id_fkey FOREIGN KEY (tenant_id, event_id) REFERENCES audit_events(tenant_id, id) DEFERRABLE INITIALLY DEFERRED
  CONSTRAINT erased_records_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE TRIGGER erased_records_forget_answers AFTER INSERT ON erased_records FOR EACH ROW EXECUTE FUNCTION forget_answers()
  CREATE TRIGGER erased_records_forget_experiences AFTER INSERT ON erased_records FOR EACH ROW EXECUTE FUNCTION forget_experience_of_run()
  CREATE TRIGGER erased_records_forget_proposals AFTER INSERT ON erased_records FOR EACH ROW EXECUTE FUNCTION forget_proposals_of_erased()
  CREATE TRIGGER erased_records_forget_vectors AFTER INSERT ON erased_records FOR EACH ROW EXECUTE FUNCTION forget_ticket_vectors()
  CREATE TRIGGER erased_records_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON erased_records FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was sealed never changes.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT SELECT TO stepwarden_app

TABLE erased_tickets
  tenant_id text COLLATE "C" NOT NULL
  escalation_id text COLLATE "C" NOT NULL
  erasure_id text COLLATE "C" NOT NULL
  erased_at timestamp(3) with time zone NOT NULL
  CONSTRAINT erased_tickets_pkey PRIMARY KEY (tenant_id, escalation_id)
  CONSTRAINT erased_tickets_tenant_id_erasure_id_fkey FOREIGN KEY (tenant_id, erasure_id) REFERENCES erasures(tenant_id, id)
  CREATE TRIGGER erased_tickets_forget_answers AFTER INSERT ON erased_tickets FOR EACH ROW EXECUTE FUNCTION forget_answers()
  CREATE TRIGGER erased_tickets_forget_proposals AFTER INSERT ON erased_tickets FOR EACH ROW EXECUTE FUNCTION forget_proposals_of_erased()
  CREATE TRIGGER erased_tickets_forget_vectors AFTER INSERT ON erased_tickets FOR EACH ROW EXECUTE FUNCTION forget_ticket_vectors()
  CREATE TRIGGER erased_tickets_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON erased_tickets FOR EACH STATEMENT EXECUTE FUNCTION refuse('That something was erased is never forgotten.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT SELECT TO stepwarden_app

TABLE erasures
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  kind text NOT NULL
  reason text NOT NULL
  customer_digest text COLLATE "C"
  customer_salt text COLLATE "C"
  started_by jsonb NOT NULL
  started_at timestamp(3) with time zone NOT NULL
  run_count integer NOT NULL DEFAULT 0
  ticket_count integer NOT NULL DEFAULT 0
  ended_at timestamp(3) with time zone
  CONSTRAINT erasures_check CHECK (((kind = 'customer'::text) = (customer_digest IS NOT NULL)))
  CONSTRAINT erasures_check1 CHECK ((((kind = 'customer'::text) AND (ended_at IS NULL)) = (customer_salt IS NOT NULL)))
  CONSTRAINT erasures_customer_digest_check CHECK ((customer_digest ~ '^[0-9a-f]{64}$'::text))
  CONSTRAINT erasures_customer_salt_check CHECK ((customer_salt ~ '^[0-9a-f]{64}$'::text))
  CONSTRAINT erasures_kind_check CHECK ((kind = ANY (ARRAY['customer'::text, 'retention'::text])))
  CONSTRAINT erasures_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT erasures_reason_check CHECK ((reason <> ''::text))
  CONSTRAINT erasures_run_count_check CHECK ((run_count >= 0))
  CONSTRAINT erasures_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CONSTRAINT erasures_ticket_count_check CHECK ((ticket_count >= 0))
  CREATE UNIQUE INDEX erasures_one_retention ON erasures USING btree (tenant_id) WHERE ((kind = 'retention'::text) AND (ended_at IS NULL))
  CREATE INDEX erasures_running ON erasures USING btree (tenant_id, id) WHERE (ended_at IS NULL)
  CREATE TRIGGER erasures_ended BEFORE UPDATE ON erasures FOR EACH ROW WHEN ((old.ended_at IS NOT NULL)) EXECUTE FUNCTION refuse('An erasure that is over erases nothing more.')
  CREATE TRIGGER erasures_identity BEFORE UPDATE OF tenant_id, id, kind, reason, customer_digest, started_by, started_at ON erasures FOR EACH ROW EXECUTE FUNCTION refuse('What an erasure was begun with never changes.')
  CREATE TRIGGER erasures_kept BEFORE DELETE OR TRUNCATE ON erasures FOR EACH STATEMENT EXECUTE FUNCTION refuse('That something was erased is never forgotten.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT (tenant_id, id, kind, reason, customer_digest, customer_salt, started_by, started_at) TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (id) TO stepwarden_app

TABLE escalations
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  execution_id text COLLATE "C"
  reason jsonb NOT NULL
  reason_code text NOT NULL GENERATED AS (reason ->> 'code'::text)
  queue text COLLATE "C" NOT NULL
  priority text NOT NULL
  status text NOT NULL DEFAULT 'open'::text
  assignee text
  ticket jsonb
  late_outcomes jsonb
  resolution jsonb
  opened_at timestamp(3) with time zone NOT NULL
  assigned_at timestamp(3) with time zone
  resolved_at timestamp(3) with time zone
  CONSTRAINT escalations_check CHECK (((status <> 'assigned'::text) OR ((assignee IS NOT NULL) AND (assigned_at IS NOT NULL))))
  CONSTRAINT escalations_check1 CHECK (((status = 'resolved'::text) = (resolved_at IS NOT NULL)))
  CONSTRAINT escalations_check2 CHECK (((status = 'resolved'::text) = (resolution IS NOT NULL)))
  CONSTRAINT escalations_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT escalations_priority_check CHECK ((priority = ANY (ARRAY['low'::text, 'normal'::text, 'high'::text, 'urgent'::text])))
  CONSTRAINT escalations_status_check CHECK ((status = ANY (ARRAY['open'::text, 'assigned'::text, 'resolved'::text])))
  CONSTRAINT escalations_tenant_id_execution_id_fkey FOREIGN KEY (tenant_id, execution_id) REFERENCES executions(tenant_id, id)
  CONSTRAINT escalations_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE UNIQUE INDEX escalations_one_per_execution ON escalations USING btree (tenant_id, execution_id) WHERE (execution_id IS NOT NULL)
  CREATE INDEX escalations_unknown ON escalations USING btree (tenant_id) WHERE ((status <> 'resolved'::text) AND (reason_code = ANY (ARRAY['outcome_unknown'::text, 'recovery_exhausted'::text, 'internal_error'::text])))
  CREATE INDEX escalations_unresolved ON escalations USING btree (tenant_id, queue, opened_at) WHERE (status <> 'resolved'::text)
  CREATE TRIGGER escalations_identity BEFORE UPDATE OF tenant_id, id, execution_id, reason, ticket, opened_at ON escalations FOR EACH ROW EXECUTE FUNCTION guard_escalation()
  CREATE TRIGGER escalations_kept BEFORE DELETE OR TRUNCATE ON escalations FOR EACH STATEMENT EXECUTE FUNCTION refuse('An escalation is never deleted.')
  CREATE TRIGGER escalations_late BEFORE UPDATE OF late_outcomes ON escalations FOR EACH ROW EXECUTE FUNCTION guard_escalation()
  CREATE TRIGGER escalations_resolved BEFORE UPDATE OF queue, priority, status, assignee, resolution, assigned_at, resolved_at ON escalations FOR EACH ROW WHEN ((old.status = 'resolved'::text)) EXECUTE FUNCTION guard_escalation()
  CREATE TRIGGER escalations_told AFTER INSERT ON escalations FOR EACH ROW EXECUTE FUNCTION tell_escalation()
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (queue, priority, status, assignee, late_outcomes, resolution, assigned_at, resolved_at) TO stepwarden_app
  GRANT SELECT (queue, status) TO stepwarden_system

TABLE example_vectors
  tenant_id text COLLATE "C" NOT NULL
  model text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  kind text COLLATE "C" NOT NULL
  position integer NOT NULL
  text_hash text COLLATE "C" NOT NULL
  embedding vector NOT NULL
  dimensions integer NOT NULL GENERATED AS vector_dims(embedding)
  CONSTRAINT example_vectors_embedding_check CHECK (((vector_dims(embedding) >= 1) AND (vector_dims(embedding) <= 4096)))
  CONSTRAINT example_vectors_kind_check CHECK ((kind = ANY (ARRAY['match'::text, 'noMatch'::text])))
  CONSTRAINT example_vectors_model_dimensions_fkey FOREIGN KEY (model, dimensions) REFERENCES embedding_models(name, dimensions)
  CONSTRAINT example_vectors_pkey PRIMARY KEY (tenant_id, model, version_id, kind, "position")
  CONSTRAINT example_vectors_position_check CHECK (("position" >= 1))
  CONSTRAINT example_vectors_tenant_id_version_id_fkey FOREIGN KEY (tenant_id, version_id) REFERENCES procedure_versions(tenant_id, id) ON DELETE CASCADE
  CREATE INDEX example_vectors_version ON example_vectors USING btree (tenant_id, version_id)
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE execution_holds
  tenant_id text COLLATE "C" NOT NULL
  execution_id text COLLATE "C" NOT NULL
  switch_id text COLLATE "C" NOT NULL
  CONSTRAINT execution_holds_pkey PRIMARY KEY (tenant_id, execution_id)
  CONSTRAINT execution_holds_tenant_id_switch_id_fkey FOREIGN KEY (tenant_id, switch_id) REFERENCES kill_switches(tenant_id, id)
  CREATE INDEX execution_holds_switch ON execution_holds USING btree (tenant_id, switch_id)
  POLICY system_rows FOR ALL TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (switch_id) TO stepwarden_app
  GRANT DELETE TO stepwarden_system

TABLE executions WITH (fillfactor=80)
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  procedure_id text COLLATE "C" NOT NULL
  procedure_key text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  version_number integer NOT NULL
  definition_hash text COLLATE "C" NOT NULL
  semantics_version integer NOT NULL
  durability text NOT NULL
  mode text NOT NULL
  input jsonb NOT NULL
  ticket jsonb
  context jsonb
  customer_id text
  ticket_id text
  requester jsonb NOT NULL
  on_behalf_of text
  idempotency_key text COLLATE "C"
  request_hash text COLLATE "C"
  pins jsonb
  tool_contracts jsonb NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  started_at timestamp(3) with time zone
  fence bigint NOT NULL DEFAULT 0
  take_over_count integer NOT NULL DEFAULT 0
  worker_id text COLLATE "C"
  cancel_requested_at timestamp(3) with time zone
  pause_requested_at timestamp(3) with time zone
  status text NOT NULL
  revision bigint NOT NULL DEFAULT 0
  outcome text
  reason jsonb
  reason_code text GENERATED AS (reason ->> 'code'::text)
  result jsonb
  conditions jsonb
  ended_at timestamp(3) with time zone
  wake_at timestamp(3) with time zone
  selection jsonb
  input_sources jsonb
  parent_id text COLLATE "C"
  parent_ordinal integer
  root_id text COLLATE "C"
  call_path jsonb
  calendar jsonb
  due_at timestamp(3) with time zone
  due_warn_at timestamp(3) with time zone
  pauses jsonb
  CONSTRAINT executions_pkey PRIMARY KEY (tenant_id, id)
  CREATE UNIQUE INDEX executions_called ON executions USING btree (tenant_id, parent_id, parent_ordinal) WHERE (parent_id IS NOT NULL)
  CREATE INDEX executions_due ON executions USING btree (wake_at) WHERE (status = 'waiting'::text)
  CREATE UNIQUE INDEX executions_idempotency ON executions USING btree (tenant_id, idempotency_key) WHERE (idempotency_key IS NOT NULL)
  CREATE INDEX executions_in_progress ON executions USING btree (worker_id) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]))
  CREATE INDEX executions_of_customer ON executions USING btree (tenant_id, customer_id, id) WHERE (customer_id IS NOT NULL)
  CREATE INDEX executions_of_ticket ON executions USING btree (tenant_id, ticket_id, id) WHERE (ticket_id IS NOT NULL)
  CREATE INDEX executions_unclaimed ON executions USING btree (tenant_id, id) WHERE ((status = ANY (ARRAY['pending'::text, 'running'::text])) AND (worker_id IS NULL))
  CREATE TRIGGER executions_called_from AFTER UPDATE OF parent_id, parent_ordinal, root_id, call_path, calendar, pins ON executions FOR EACH ROW EXECUTE FUNCTION refuse('What an execution was started with never changes.')
  CREATE TRIGGER executions_changed AFTER UPDATE ON executions FOR EACH ROW EXECUTE FUNCTION guard_execution_change()
  CREATE TRIGGER executions_due_date AFTER UPDATE OF due_at, due_warn_at ON executions FOR EACH ROW EXECUTE FUNCTION refuse('What an execution was started with never changes.')
  CREATE TRIGGER executions_identity AFTER UPDATE OF tenant_id, id, procedure_id, procedure_key, version_id, version_number, definition_hash, semantics_version, durability, mode, input, ticket, context, customer_id, ticket_id, requester, on_behalf_of, idempotency_key, request_hash, pins, tool_contracts, created_at ON executions FOR EACH ROW EXECUTE FUNCTION guard_execution_identity()
  CREATE TRIGGER executions_kept BEFORE DELETE OR TRUNCATE ON executions FOR EACH STATEMENT EXECUTE FUNCTION refuse('An execution is never deleted.')
  CREATE TRIGGER executions_origin AFTER UPDATE OF selection, input_sources ON executions FOR EACH ROW EXECUTE FUNCTION guard_execution_identity()
  CREATE TRIGGER executions_started BEFORE INSERT ON executions FOR EACH ROW EXECUTE FUNCTION guard_execution_start()
  POLICY system_moves FOR w TO stepwarden_system USING true WITH CHECK -
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (started_at, fence, take_over_count, worker_id, cancel_requested_at, pause_requested_at, status, revision, outcome, reason, result, conditions, ended_at, wake_at, pauses) TO stepwarden_app
  GRANT SELECT (tenant_id, id, started_at, fence, take_over_count, worker_id, pause_requested_at, status, revision, ended_at, wake_at) TO stepwarden_system
  GRANT UPDATE (started_at, fence, take_over_count, worker_id, pause_requested_at, status, revision, wake_at) TO stepwarden_system

TABLE experience_cursors
  tenant_id text COLLATE "C" NOT NULL
  seal_number integer NOT NULL DEFAULT 0
  position integer NOT NULL DEFAULT 0
  pruned_at timestamp(3) with time zone
  measuring_since timestamp(3) with time zone
  CONSTRAINT experience_cursors_pkey PRIMARY KEY (tenant_id)
  CONSTRAINT experience_cursors_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (seal_number, position, pruned_at, measuring_since) TO stepwarden_app
  GRANT SELECT TO stepwarden_system

TABLE experience_embeddings
  tenant_id text COLLATE "C" NOT NULL
  model text COLLATE "C" NOT NULL
  experience_id text COLLATE "C" NOT NULL
  text_hash text COLLATE "C" NOT NULL
  embedding vector NOT NULL
  dimensions integer NOT NULL GENERATED AS vector_dims(embedding)
  CONSTRAINT experience_embeddings_embedding_check CHECK (((vector_dims(embedding) >= 1) AND (vector_dims(embedding) <= 4096)))
  CONSTRAINT experience_embeddings_model_dimensions_fkey FOREIGN KEY (model, dimensions) REFERENCES embedding_models(name, dimensions)
  CONSTRAINT experience_embeddings_pkey PRIMARY KEY (tenant_id, model, experience_id)
  CONSTRAINT experience_embeddings_tenant_id_experience_id_fkey FOREIGN KEY (tenant_id, experience_id) REFERENCES experiences(tenant_id, id) ON DELETE CASCADE
  CREATE INDEX experience_embeddings_experience ON experience_embeddings USING btree (tenant_id, experience_id)
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT SELECT (tenant_id, model, experience_id) TO stepwarden_system

TABLE experience_holds
  tenant_id text COLLATE "C" NOT NULL
  experience_id text COLLATE "C" NOT NULL
  holder_id text COLLATE "C" NOT NULL
  CONSTRAINT experience_holds_holder_id_check CHECK ((holder_id <> ''::text))
  CONSTRAINT experience_holds_pkey PRIMARY KEY (tenant_id, experience_id, holder_id)
  CONSTRAINT experience_holds_tenant_id_experience_id_fkey FOREIGN KEY (tenant_id, experience_id) REFERENCES experiences(tenant_id, id)
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE experience_recalls
  tenant_id text COLLATE "C" NOT NULL
  model text COLLATE "C" NOT NULL
  recall double precision NOT NULL
  sample_count integer NOT NULL
  row_count bigint NOT NULL
  measured_at timestamp(3) with time zone NOT NULL
  index_file bigint
  CONSTRAINT experience_recalls_pkey PRIMARY KEY (tenant_id, model)
  CONSTRAINT experience_recalls_recall_check CHECK (((recall >= (0)::double precision) AND (recall <= (1)::double precision)))
  CONSTRAINT experience_recalls_row_count_check CHECK ((row_count >= 0))
  CONSTRAINT experience_recalls_sample_count_check CHECK ((sample_count >= 1))
  CONSTRAINT experience_recalls_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (recall, sample_count, row_count, measured_at, index_file) TO stepwarden_app

TABLE experiences WITH (fillfactor=90)
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  agent_id text COLLATE "C" NOT NULL
  situation text NOT NULL
  situation_hash text COLLATE "C" NOT NULL
  action_sequence jsonb NOT NULL
  action_hash text COLLATE "C" NOT NULL
  approach_hash text COLLATE "C" NOT NULL
  outcome text NOT NULL
  outcome_type text COLLATE "C" NOT NULL
  score double precision NOT NULL DEFAULT 0
  scored_by text COLLATE "C" NOT NULL
  tags text[] NOT NULL DEFAULT '{}'::text[]
  session_id text
  customer_id text
  execution_id text COLLATE "C"
  recorded_by jsonb NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  use_count integer NOT NULL DEFAULT 0
  last_used_at timestamp(3) with time zone
  repeat_count integer NOT NULL DEFAULT 0
  repeats_id text COLLATE "C"
  embedded_with text COLLATE "C" NOT NULL DEFAULT ''::text
  echoes_id text COLLATE "C"
  CONSTRAINT experiences_action_sequence_check CHECK (((jsonb_array_length(action_sequence) >= 1) AND (jsonb_array_length(action_sequence) <= 1000)))
  CONSTRAINT experiences_agent_id_check CHECK ((agent_id <> ''::text))
  CONSTRAINT experiences_check CHECK ((repeats_id <> id))
  CONSTRAINT experiences_check1 CHECK (((agent_id = 'executor'::text) = (execution_id IS NOT NULL)))
  CONSTRAINT experiences_echoes_other CHECK ((echoes_id <> id))
  CONSTRAINT experiences_outcome_type_check CHECK ((outcome_type = ANY (ARRAY['success'::text, 'partial_success'::text, 'failure'::text])))
  CONSTRAINT experiences_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT experiences_repeat_count_check CHECK ((repeat_count >= 0))
  CONSTRAINT experiences_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision)))
  CONSTRAINT experiences_scored_by_check CHECK ((scored_by = ANY (ARRAY['given'::text, 'heuristic'::text, 'model'::text])))
  CONSTRAINT experiences_situation_check CHECK ((situation <> ''::text))
  CONSTRAINT experiences_tags_check CHECK ((array_position(tags, NULL::text) IS NULL))
  CONSTRAINT experiences_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CONSTRAINT experiences_use_count_check CHECK ((use_count >= 0))
  CREATE INDEX experiences_agent ON experiences USING btree (tenant_id, agent_id, id)
  CREATE INDEX experiences_approach ON experiences USING btree (tenant_id, agent_id, approach_hash, outcome_type, id) WHERE (repeats_id IS NULL)
  CREATE INDEX experiences_customer ON experiences USING btree (tenant_id, customer_id) WHERE (customer_id IS NOT NULL)
  CREATE INDEX experiences_echoes ON experiences USING btree (tenant_id, echoes_id) WHERE (echoes_id IS NOT NULL)
  CREATE INDEX experiences_embedded ON experiences USING btree (tenant_id, embedded_with, id)
  CREATE UNIQUE INDEX experiences_execution ON experiences USING btree (tenant_id, execution_id) WHERE (execution_id IS NOT NULL)
  CREATE INDEX experiences_recorder ON experiences USING btree (tenant_id, ((recorded_by ->> 'id'::text)), approach_hash, outcome_type, id) WHERE ((repeats_id IS NULL) AND (echoes_id IS NULL) AND (execution_id IS NULL))
  CREATE INDEX experiences_repeats ON experiences USING btree (tenant_id, repeats_id) WHERE (repeats_id IS NOT NULL)
  CREATE UNIQUE INDEX experiences_same ON experiences USING btree (tenant_id, agent_id, situation_hash, action_hash, outcome_type) WHERE (execution_id IS NULL)
  CREATE INDEX experiences_score ON experiences USING btree (tenant_id, score, id)
  CREATE INDEX experiences_tags ON experiences USING gin (tags)
  CREATE TRIGGER experiences_identity BEFORE UPDATE OF tenant_id, id, agent_id, situation, situation_hash, action_sequence, action_hash, approach_hash, outcome, outcome_type, score, scored_by, tags, session_id, customer_id, execution_id, recorded_by, created_at ON experiences FOR EACH ROW EXECUTE FUNCTION refuse('What was experienced never changes, its score included.')
  CREATE TRIGGER experiences_of_erased BEFORE INSERT ON experiences FOR EACH ROW WHEN ((new.execution_id IS NOT NULL)) EXECUTE FUNCTION guard_experience()
  CREATE TRIGGER experiences_passed_on AFTER DELETE ON experiences FOR EACH ROW WHEN ((old.repeats_id IS NULL)) EXECUTE FUNCTION pass_on_experience()
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT (tenant_id, id, agent_id, situation, situation_hash, action_sequence, action_hash, approach_hash, outcome, outcome_type, score, scored_by, tags, session_id, customer_id, execution_id, recorded_by, created_at) TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (use_count, last_used_at, repeat_count, repeats_id, embedded_with, echoes_id) TO stepwarden_app
  GRANT SELECT (tenant_id, id, embedded_with) TO stepwarden_system

TABLE governance
  singleton boolean NOT NULL DEFAULT true
  required_approvals integer NOT NULL
  CONSTRAINT governance_pkey PRIMARY KEY (singleton)
  CONSTRAINT governance_required_approvals_check CHECK (((required_approvals >= 0) AND (required_approvals <= 10)))
  CONSTRAINT governance_singleton_check CHECK (singleton)
  CREATE TRIGGER governance_kept BEFORE DELETE OR TRUNCATE ON governance FOR EACH STATEMENT EXECUTE FUNCTION refuse('What a deployment requires is changed, never removed.')
  CREATE TRIGGER governance_told AFTER UPDATE ON governance FOR EACH ROW WHEN ((old.required_approvals <> new.required_approvals)) EXECUTE FUNCTION tell_governance()
  GRANT SELECT TO stepwarden_app

TABLE kill_switches
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  kind text NOT NULL
  name text COLLATE "C" NOT NULL
  reason text NOT NULL
  engaged_by jsonb NOT NULL
  engaged_at timestamp(3) with time zone NOT NULL
  lifted_by jsonb
  lifted_at timestamp(3) with time zone
  is_settled boolean NOT NULL DEFAULT false
  CONSTRAINT kill_switches_check CHECK (((lifted_at IS NULL) = (lifted_by IS NULL)))
  CONSTRAINT kill_switches_kind_check CHECK ((kind = ANY (ARRAY['procedure'::text, 'tool'::text])))
  CONSTRAINT kill_switches_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT kill_switches_reason_check CHECK ((reason <> ''::text))
  CONSTRAINT kill_switches_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE UNIQUE INDEX kill_switches_engaged ON kill_switches USING btree (tenant_id, kind, name) WHERE (lifted_at IS NULL)
  CREATE INDEX kill_switches_unsettled ON kill_switches USING btree (tenant_id, id) WHERE (NOT is_settled)
  CREATE TRIGGER kill_switches_identity BEFORE UPDATE OF tenant_id, id, kind, name, reason, engaged_by, engaged_at ON kill_switches FOR EACH ROW EXECUTE FUNCTION refuse('What was stopped, by whom and why never changes.')
  CREATE TRIGGER kill_switches_kept BEFORE DELETE OR TRUNCATE ON kill_switches FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was stopped once is never forgotten.')
  CREATE TRIGGER kill_switches_lifted BEFORE UPDATE ON kill_switches FOR EACH ROW WHEN (((old.lifted_at IS NOT NULL) AND ((old.lifted_at IS DISTINCT FROM new.lifted_at) OR (old.lifted_by IS DISTINCT FROM new.lifted_by)))) EXECUTE FUNCTION refuse('A switch that was lifted stays lifted; engage another one.')
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (lifted_by, lifted_at, is_settled) TO stepwarden_app
  GRANT SELECT (tenant_id, id, is_settled) TO stepwarden_system

TABLE lesson_sets
  tenant_id text COLLATE "C" NOT NULL
  task_tag text COLLATE "C" NOT NULL
  revision bigint NOT NULL DEFAULT 0
  entry_count integer NOT NULL DEFAULT 0
  updated_at timestamp(3) with time zone
  CONSTRAINT lesson_sets_entry_count_check CHECK (((entry_count >= 0) AND (entry_count <= 200)))
  CONSTRAINT lesson_sets_pkey PRIMARY KEY (tenant_id, task_tag)
  CONSTRAINT lesson_sets_revision_check CHECK ((revision >= 0))
  CONSTRAINT lesson_sets_task_tag_check CHECK (((char_length(task_tag) >= 1) AND (char_length(task_tag) <= 200)))
  CONSTRAINT lesson_sets_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE TRIGGER lesson_sets_counted BEFORE UPDATE OF revision ON lesson_sets FOR EACH ROW EXECUTE FUNCTION count_lessons()
  CREATE TRIGGER lesson_sets_told AFTER UPDATE OF revision ON lesson_sets FOR EACH ROW WHEN ((new.revision > old.revision)) EXECUTE FUNCTION tell_lessons()
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT (tenant_id, task_tag) TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (revision, updated_at) TO stepwarden_app

TABLE lesson_showings
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  task_tag text COLLATE "C" NOT NULL
  principal_id text COLLATE "C" NOT NULL
  lesson_ids text[] COLLATE "C" NOT NULL
  shown_at timestamp(3) with time zone NOT NULL
  CONSTRAINT lesson_showings_lesson_ids_check CHECK (((cardinality(lesson_ids) >= 1) AND (cardinality(lesson_ids) <= 200)))
  CONSTRAINT lesson_showings_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT lesson_showings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE lessons
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  task_tag text COLLATE "C" NOT NULL
  seq bigint NOT NULL
  kind text NOT NULL
  content text COLLATE "C" NOT NULL
  uses integer NOT NULL DEFAULT 0
  last_score double precision
  credit double precision NOT NULL DEFAULT 0
  credited_runs integer NOT NULL DEFAULT 0
  is_by_hand boolean NOT NULL DEFAULT false
  created_at timestamp(3) with time zone NOT NULL
  model text COLLATE "C"
  embedding vector
  dimensions integer GENERATED AS vector_dims(embedding)
  CONSTRAINT lessons_check CHECK (((credit >= (0)::double precision) AND (credit <= (credited_runs)::double precision)))
  CONSTRAINT lessons_check1 CHECK (((model IS NULL) = (embedding IS NULL)))
  CONSTRAINT lessons_content_check CHECK ((((char_length(content) >= 1) AND (char_length(content) <= 500)) AND (content !~ '[\n\r]'::text)))
  CONSTRAINT lessons_credited_runs_check CHECK ((credited_runs >= 0))
  CONSTRAINT lessons_embedding_check CHECK (((vector_dims(embedding) >= 1) AND (vector_dims(embedding) <= 4096)))
  CONSTRAINT lessons_kind_check CHECK ((kind = ANY (ARRAY['helpful'::text, 'harmful'::text])))
  CONSTRAINT lessons_last_score_check CHECK (((last_score >= (0)::double precision) AND (last_score <= (1)::double precision)))
  CONSTRAINT lessons_model_dimensions_fkey FOREIGN KEY (model, dimensions) REFERENCES embedding_models(name, dimensions)
  CONSTRAINT lessons_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT lessons_tenant_id_task_tag_fkey FOREIGN KEY (tenant_id, task_tag) REFERENCES lesson_sets(tenant_id, task_tag)
  CONSTRAINT lessons_tenant_id_task_tag_kind_content_key UNIQUE (tenant_id, task_tag, kind, content)
  CONSTRAINT lessons_uses_check CHECK ((uses >= 0))
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT (tenant_id, id, task_tag, kind, content, uses, last_score, credit, credited_runs, is_by_hand, created_at, model, embedding) TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (kind, content, uses, last_score, credit, credited_runs, is_by_hand, model, embedding) TO stepwarden_app

TABLE limit_counters WITH (fillfactor=50)
  tenant_id text COLLATE "C" NOT NULL
  tool text COLLATE "C" NOT NULL
  measure text COLLATE "C" NOT NULL
  scope text NOT NULL
  subject text COLLATE "C" NOT NULL
  period text NOT NULL
  starts_at timestamp(3) with time zone NOT NULL
  used numeric NOT NULL
  at_most numeric NOT NULL
  CONSTRAINT limit_counters_not_negative CHECK ((used >= (0)::numeric))
  CONSTRAINT limit_counters_period_check CHECK ((period = ANY (ARRAY['hour'::text, 'day'::text, 'week'::text, 'month'::text])))
  CONSTRAINT limit_counters_pkey PRIMARY KEY (tenant_id, tool, measure, scope, subject, period, starts_at)
  CONSTRAINT limit_counters_scope_check CHECK ((scope = ANY (ARRAY['customer'::text, 'procedure'::text, 'tenant'::text])))
  CONSTRAINT limit_counters_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CONSTRAINT limit_counters_within CHECK ((used <= at_most))
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (used, at_most) TO stepwarden_app

TABLE literal_patterns
  tenant_id text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  position integer NOT NULL
  tail text COLLATE "C" NOT NULL
  pattern text COLLATE "C" NOT NULL
  CONSTRAINT literal_patterns_pkey PRIMARY KEY (tenant_id, version_id, "position")
  CONSTRAINT literal_patterns_position_check CHECK (("position" >= 1))
  CONSTRAINT literal_patterns_tail_check CHECK ((tail <> ''::text))
  CONSTRAINT literal_patterns_tenant_id_version_id_fkey FOREIGN KEY (tenant_id, version_id) REFERENCES procedure_versions(tenant_id, id)
  CREATE INDEX literal_patterns_tail ON literal_patterns USING btree (tenant_id, tail)
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE migrations
  name text COLLATE "C" NOT NULL
  applied_at timestamp(3) with time zone NOT NULL DEFAULT now()
  min_code_version text NOT NULL
  CONSTRAINT migrations_pkey PRIMARY KEY (name)
  GRANT SELECT TO stepwarden_app

TABLE outside_executions
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  success boolean NOT NULL
  duration_ms bigint NOT NULL
  note text
  recorded_by jsonb NOT NULL
  recorded_at timestamp(3) with time zone NOT NULL
  idempotency_key text COLLATE "C"
  request_hash text COLLATE "C"
  CONSTRAINT outside_executions_check CHECK (((idempotency_key IS NULL) = (request_hash IS NULL)))
  CONSTRAINT outside_executions_duration_ms_check CHECK (((duration_ms >= 0) AND (duration_ms <= '31622400000'::bigint)))
  CONSTRAINT outside_executions_note_check CHECK (((length(note) >= 1) AND (length(note) <= 200)))
  CONSTRAINT outside_executions_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT outside_executions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CONSTRAINT outside_executions_tenant_id_version_id_fkey FOREIGN KEY (tenant_id, version_id) REFERENCES procedure_versions(tenant_id, id)
  CREATE UNIQUE INDEX outside_executions_idempotency ON outside_executions USING btree (tenant_id, idempotency_key) WHERE (idempotency_key IS NOT NULL)
  CREATE INDEX outside_executions_version ON outside_executions USING btree (tenant_id, version_id, id) INCLUDE (success, duration_ms)
  CREATE TRIGGER outside_executions_identity BEFORE UPDATE OF tenant_id, id, version_id, success, duration_ms, recorded_by, recorded_at, idempotency_key, request_hash ON outside_executions FOR EACH ROW EXECUTE FUNCTION refuse('What was told of a run made elsewhere never changes.')
  CREATE TRIGGER outside_executions_kept BEFORE DELETE OR TRUNCATE ON outside_executions FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was told of a run made elsewhere is kept.')
  CREATE TRIGGER outside_executions_note BEFORE UPDATE OF note ON outside_executions FOR EACH ROW WHEN ((new.note IS NOT NULL)) EXECUTE FUNCTION refuse('A note is taken away, and never written anew.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (note) TO stepwarden_app

TABLE principals
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  kind text NOT NULL
  name text NOT NULL
  roles text[] NOT NULL
  groups text[] NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  disabled_at timestamp(3) with time zone
  token_issued_at timestamp(3) with time zone
  CONSTRAINT principals_issued CHECK (((token_issued_at IS NULL) OR ((id ~~ 'oidc:%'::text) AND (kind <> 'ai'::text))))
  CONSTRAINT principals_kind_check CHECK ((kind = ANY (ARRAY['human'::text, 'ai'::text, 'service'::text])))
  CONSTRAINT principals_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT principals_roles_check CHECK ((roles <@ ARRAY['agent'::text, 'author'::text, 'approver'::text, 'admin'::text, 'auditor'::text]))
  CONSTRAINT principals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE TRIGGER principals_identity BEFORE UPDATE OF tenant_id, id, kind, created_at ON principals FOR EACH ROW EXECUTE FUNCTION refuse('A principal keeps its id and its kind.')
  CREATE TRIGGER principals_kept BEFORE DELETE OR TRUNCATE ON principals FOR EACH STATEMENT EXECUTE FUNCTION refuse('A principal is disabled, never deleted.')
  CREATE TRIGGER principals_source BEFORE UPDATE OF token_issued_at ON principals FOR EACH ROW WHEN ((((old.token_issued_at IS NULL) <> (new.token_issued_at IS NULL)) OR (new.token_issued_at < old.token_issued_at))) EXECUTE FUNCTION refuse('Who comes with tokens does so for ever, and older ones say nothing new.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (name, roles, groups, disabled_at, token_issued_at) TO stepwarden_app

TABLE procedure_versions
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  procedure_id text COLLATE "C" NOT NULL
  version_number integer NOT NULL
  status text NOT NULL DEFAULT 'draft'::text
  definition jsonb NOT NULL
  definition_hash text COLLATE "C" NOT NULL
  summary text NOT NULL
  purpose text NOT NULL
  tool_contracts jsonb NOT NULL
  findings jsonb NOT NULL
  revision integer NOT NULL DEFAULT 1
  author_ids text[] NOT NULL
  based_on_version_id text COLLATE "C"
  created_by jsonb NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  updated_by jsonb NOT NULL
  updated_at timestamp(3) with time zone NOT NULL
  procedure_key text COLLATE "C" NOT NULL GENERATED AS (definition ->> 'key'::text)
  name text NOT NULL GENERATED AS (definition ->> 'name'::text)
  description text NOT NULL GENERATED AS (definition ->> 'description'::text)
  category text NOT NULL GENERATED AS COALESCE((definition ->> 'category'::text), 'general'::text)
  issue_patterns jsonb NOT NULL GENERATED AS COALESCE((definition -> 'issuePatterns'::text), '[]'::jsonb)
  internal boolean NOT NULL GENERATED AS (definition @> '{"internal": true}'::jsonb)
  approval_digest text COLLATE "C"
  source text
  scenarios_source text
  review_by timestamp(3) with time zone
  proposal_id text COLLATE "C"
  CONSTRAINT procedure_versions_approval_digest_check CHECK ((approval_digest ~ '^[0-9a-f]{64}$'::text))
  CONSTRAINT procedure_versions_author_ids_check CHECK ((cardinality(author_ids) >= 1))
  CONSTRAINT procedure_versions_definition_check CHECK ((jsonb_typeof((definition -> 'steps'::text)) = 'array'::text))
  CONSTRAINT procedure_versions_definition_hash_check CHECK ((definition_hash ~ '^[0-9a-f]{64}$'::text))
  CONSTRAINT procedure_versions_findings_check CHECK ((jsonb_typeof(findings) = 'array'::text))
  CONSTRAINT procedure_versions_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT procedure_versions_revision_check CHECK ((revision >= 1))
  CONSTRAINT procedure_versions_scenarios_source_check CHECK ((octet_length(scenarios_source) <= 1048576))
  CONSTRAINT procedure_versions_source_check CHECK ((octet_length(source) <= 262144))
  CONSTRAINT procedure_versions_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'deprecated'::text])))
  CONSTRAINT procedure_versions_tenant_id_procedure_id_id_key UNIQUE (tenant_id, procedure_id, id)
  CONSTRAINT procedure_versions_tenant_id_procedure_id_procedure_key_fkey FOREIGN KEY (tenant_id, procedure_id, procedure_key) REFERENCES procedures(tenant_id, id, key)
  CONSTRAINT procedure_versions_tenant_id_procedure_id_version_number_key UNIQUE (tenant_id, procedure_id, version_number)
  CONSTRAINT procedure_versions_tenant_id_proposal_id_fkey FOREIGN KEY (tenant_id, proposal_id) REFERENCES proposals(tenant_id, id)
  CONSTRAINT procedure_versions_tool_contracts_check CHECK ((jsonb_typeof(tool_contracts) = 'object'::text))
  CONSTRAINT procedure_versions_version_number_check CHECK ((version_number >= 1))
  CREATE UNIQUE INDEX procedure_versions_one_active ON procedure_versions USING btree (tenant_id, procedure_id) WHERE (status = 'active'::text)
  CREATE UNIQUE INDEX procedure_versions_proposal ON procedure_versions USING btree (tenant_id, proposal_id) WHERE (proposal_id IS NOT NULL)
  CREATE INDEX procedure_versions_review_by ON procedure_versions USING btree (tenant_id, review_by) WHERE ((status = 'active'::text) AND (review_by IS NOT NULL))
  CREATE INDEX procedure_versions_served ON procedure_versions USING btree (tenant_id, category) WHERE ((status = 'active'::text) AND (NOT internal))
  CREATE TRIGGER procedure_versions_approved BEFORE UPDATE ON procedure_versions FOR EACH ROW WHEN (((old.status = 'draft'::text) AND (new.status = 'active'::text))) EXECUTE FUNCTION guard_approval()
  CREATE TRIGGER procedure_versions_authors BEFORE UPDATE ON procedure_versions FOR EACH ROW WHEN ((NOT (new.author_ids @> old.author_ids))) EXECUTE FUNCTION refuse('Who has written a version stays its author.')
  CREATE TRIGGER procedure_versions_begin_as_draft BEFORE INSERT ON procedure_versions FOR EACH ROW WHEN ((new.status <> 'draft'::text)) EXECUTE FUNCTION refuse('A new version is a draft; it becomes active by an update.')
  CREATE TRIGGER procedure_versions_content BEFORE UPDATE ON procedure_versions FOR EACH ROW WHEN ((((old.status <> 'draft'::text) OR (new.status <> 'draft'::text)) AND ((((((((((old.definition IS DISTINCT FROM new.definition) OR (old.definition_hash IS DISTINCT FROM new.definition_hash)) OR (old.summary IS DISTINCT FROM new.summary)) OR (old.purpose IS DISTINCT FROM new.purpose)) OR (old.tool_contracts IS DISTINCT FROM new.tool_contracts)) OR (old.findings IS DISTINCT FROM new.findings)) OR (old.revision IS DISTINCT FROM new.revision)) OR (old.author_ids IS DISTINCT FROM new.author_ids)) OR (old.updated_by IS DISTINCT FROM new.updated_by)) OR (old.updated_at IS DISTINCT FROM new.updated_at)))) EXECUTE FUNCTION refuse('Only a draft can be edited; make a new version instead.')
  CREATE TRIGGER procedure_versions_digest BEFORE UPDATE ON procedure_versions FOR EACH ROW WHEN (((old.approval_digest IS DISTINCT FROM new.approval_digest) AND (NOT ((old.status = 'draft'::text) AND (new.status = 'active'::text))))) EXECUTE FUNCTION refuse('The approval of a version is told when it goes live, and stays.')
  CREATE TRIGGER procedure_versions_forget_calls AFTER UPDATE OF status ON procedure_versions FOR EACH ROW WHEN (((old.status = 'active'::text) AND (new.status <> 'active'::text))) EXECUTE FUNCTION forget_calls()
  CREATE TRIGGER procedure_versions_identity BEFORE UPDATE OF tenant_id, id, procedure_id, version_number, based_on_version_id, created_by, created_at ON procedure_versions FOR EACH ROW EXECUTE FUNCTION refuse('A version keeps its id, number, procedure and origin.')
  CREATE TRIGGER procedure_versions_kept BEFORE DELETE ON procedure_versions FOR EACH ROW WHEN ((old.status <> 'draft'::text)) EXECUTE FUNCTION refuse('Only a draft can be deleted.')
  CREATE TRIGGER procedure_versions_lifecycle BEFORE UPDATE ON procedure_versions FOR EACH ROW WHEN (((old.status <> new.status) AND (NOT ((old.status = 'draft'::text) AND (new.status = 'active'::text))) AND (NOT ((old.status = 'active'::text) AND (new.status = 'deprecated'::text))))) EXECUTE FUNCTION refuse('A version goes from draft to active to deprecated, and no other way.')
  CREATE TRIGGER procedure_versions_no_truncate BEFORE TRUNCATE ON procedure_versions FOR EACH STATEMENT EXECUTE FUNCTION refuse('Versions are never deleted together.')
  CREATE TRIGGER procedure_versions_of_accepted BEFORE INSERT ON procedure_versions FOR EACH ROW WHEN ((new.proposal_id IS NOT NULL)) EXECUTE FUNCTION guard_proposed_version()
  CREATE TRIGGER procedure_versions_proposed BEFORE UPDATE OF proposal_id ON procedure_versions FOR EACH ROW EXECUTE FUNCTION refuse('Where a version came from is told when it is made.')
  CREATE TRIGGER procedure_versions_serve AFTER UPDATE OF status ON procedure_versions FOR EACH ROW WHEN ((new.status <> old.status)) EXECUTE FUNCTION serve_version()
  CREATE TRIGGER procedure_versions_source BEFORE UPDATE ON procedure_versions FOR EACH ROW WHEN ((((old.status <> 'draft'::text) OR (new.status <> 'draft'::text)) AND ((old.source IS DISTINCT FROM new.source) OR (old.scenarios_source IS DISTINCT FROM new.scenarios_source)))) EXECUTE FUNCTION refuse('Only the text of a draft can be changed; make a new version instead.')
  CREATE TRIGGER read_committed BEFORE INSERT OR UPDATE ON procedure_versions FOR EACH STATEMENT EXECUTE FUNCTION require_read_committed()
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (status, definition, definition_hash, summary, purpose, tool_contracts, findings, revision, author_ids, updated_by, updated_at, approval_digest, source, scenarios_source, review_by) TO stepwarden_app
  GRANT SELECT (tenant_id, id, purpose) TO stepwarden_system

TABLE procedures
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  key text COLLATE "C" NOT NULL
  latest_version_number integer NOT NULL DEFAULT 0
  created_at timestamp(3) with time zone NOT NULL
  CONSTRAINT procedures_latest_version_number_check CHECK ((latest_version_number >= 0))
  CONSTRAINT procedures_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT procedures_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CONSTRAINT procedures_tenant_id_id_key_key UNIQUE (tenant_id, id, key)
  CONSTRAINT procedures_tenant_id_key_key UNIQUE (tenant_id, key)
  CREATE TRIGGER procedures_identity BEFORE UPDATE OF tenant_id, id, key, created_at ON procedures FOR EACH ROW EXECUTE FUNCTION refuse('A procedure keeps its id and key.')
  CREATE TRIGGER procedures_kept BEFORE DELETE OR TRUNCATE ON procedures FOR EACH STATEMENT EXECUTE FUNCTION refuse('A procedure is never deleted.')
  CREATE TRIGGER procedures_numbers_rise BEFORE UPDATE ON procedures FOR EACH ROW WHEN ((new.latest_version_number < old.latest_version_number)) EXECUTE FUNCTION refuse('A version number is never given twice.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (latest_version_number) TO stepwarden_app

TABLE proposal_sources
  tenant_id text COLLATE "C" NOT NULL
  proposal_id text COLLATE "C" NOT NULL
  source_id text COLLATE "C" NOT NULL
  customer_id text COLLATE "C"
  CONSTRAINT proposal_sources_pkey PRIMARY KEY (tenant_id, proposal_id, source_id)
  CONSTRAINT proposal_sources_source_id_check CHECK ((source_id <> ''::text))
  CONSTRAINT proposal_sources_tenant_id_proposal_id_fkey FOREIGN KEY (tenant_id, proposal_id) REFERENCES proposals(tenant_id, id)
  CREATE INDEX proposal_sources_customer ON proposal_sources USING btree (tenant_id, customer_id) WHERE (customer_id IS NOT NULL)
  CREATE INDEX proposal_sources_source ON proposal_sources USING btree (tenant_id, source_id)
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE proposals
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  kind text COLLATE "C" NOT NULL
  status text COLLATE "C" NOT NULL DEFAULT 'open'::text
  procedure_key text COLLATE "C" NOT NULL
  definition jsonb
  base_version_id text COLLATE "C"
  evidence jsonb NOT NULL
  evidence_hash text COLLATE "C" NOT NULL
  created_by jsonb NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  decided_by jsonb
  decided_at timestamp(3) with time zone
  reason text
  version_id text COLLATE "C"
  erased_at timestamp(3) with time zone
  source text COLLATE "C" NOT NULL GENERATED AS (evidence ->> 'source'::text)
  made_with text COLLATE "C" NOT NULL GENERATED AS (evidence ->> 'madeWith'::text)
  CONSTRAINT proposals_by_people CHECK (((COALESCE((decided_by ->> 'kind'::text), ''::text) = 'human'::text) OR (decided_by IS NULL)))
  CONSTRAINT proposals_check CHECK (((definition ->> 'key'::text) = procedure_key))
  CONSTRAINT proposals_check1 CHECK (((kind = 'improvement'::text) = (base_version_id IS NOT NULL)))
  CONSTRAINT proposals_check2 CHECK ((((status = 'open'::text) = (decided_at IS NULL)) AND ((status = 'open'::text) = (decided_by IS NULL))))
  CONSTRAINT proposals_check3 CHECK (((status = 'accepted'::text) = (version_id IS NOT NULL)))
  CONSTRAINT proposals_check4 CHECK (((definition IS NULL) = (erased_at IS NOT NULL)))
  CONSTRAINT proposals_check5 CHECK (
CASE
    WHEN (status <> 'dismissed'::text) THEN (reason IS NULL)
    ELSE ((reason IS NOT NULL) OR (erased_at IS NOT NULL))
END)
  CONSTRAINT proposals_evidence_check CHECK ((jsonb_typeof(evidence) = 'object'::text))
  CONSTRAINT proposals_evidence_hash_check CHECK ((evidence_hash ~ '^[0-9a-f]{64}$'::text))
  CONSTRAINT proposals_kind_check CHECK ((kind = ANY (ARRAY['demonstration'::text, 'improvement'::text, 'gap'::text])))
  CONSTRAINT proposals_make_drafts TRIGGER DEFERRABLE INITIALLY DEFERRED
  CONSTRAINT proposals_once UNIQUE (tenant_id, evidence_hash)
  CONSTRAINT proposals_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT proposals_reason_check CHECK ((reason <> ''::text))
  CONSTRAINT proposals_status_check CHECK ((status = ANY (ARRAY['open'::text, 'accepted'::text, 'dismissed'::text])))
  CONSTRAINT proposals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE INDEX proposals_procedure ON proposals USING btree (tenant_id, procedure_key, id)
  CREATE INDEX proposals_status ON proposals USING btree (tenant_id, status, id)
  CREATE TRIGGER proposals_begin_open BEFORE INSERT ON proposals FOR EACH ROW WHEN (((new.status <> 'open'::text) OR (new.definition IS NULL))) EXECUTE FUNCTION refuse('A proposal begins open, with what it proposes.')
  CREATE TRIGGER proposals_decided_once BEFORE UPDATE ON proposals FOR EACH ROW EXECUTE FUNCTION guard_proposal()
  CREATE TRIGGER proposals_identity BEFORE UPDATE OF tenant_id, id, kind, procedure_key, base_version_id, evidence_hash, created_by, created_at ON proposals FOR EACH ROW EXECUTE FUNCTION refuse('What was proposed, and by what, never changes.')
  CREATE TRIGGER proposals_kept BEFORE DELETE OR TRUNCATE ON proposals FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was proposed is kept: the same is not proposed again.')
  CREATE CONSTRAINT TRIGGER proposals_make_drafts AFTER UPDATE ON proposals DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.status = 'open'::text) AND (new.status = 'accepted'::text))) EXECUTE FUNCTION guard_acceptance()
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT (tenant_id, id, kind, procedure_key, definition, base_version_id, evidence, evidence_hash, created_by, created_at) TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (status, decided_by, decided_at, reason, version_id) TO stepwarden_app

TABLE record_salts
  tenant_id text COLLATE "C" NOT NULL
  execution_id text COLLATE "C" NOT NULL
  salt text COLLATE "C" NOT NULL
  CONSTRAINT record_salts_pkey PRIMARY KEY (tenant_id, execution_id)
  CONSTRAINT record_salts_salt_check CHECK ((salt ~ '^[0-9a-f]{64}$'::text))
  CONSTRAINT record_salts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE TRIGGER record_salts_erased AFTER DELETE ON record_salts FOR EACH ROW EXECUTE FUNCTION guard_salt()
  CREATE TRIGGER record_salts_kept BEFORE UPDATE OR TRUNCATE ON record_salts FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was sealed never changes.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE replies
  tenant_id text COLLATE "C" NOT NULL
  execution_id text COLLATE "C" NOT NULL
  text text NOT NULL
  source text NOT NULL
  facts jsonb NOT NULL
  verification jsonb NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  CONSTRAINT replies_facts_check CHECK ((jsonb_typeof(facts) = 'array'::text))
  CONSTRAINT replies_pkey PRIMARY KEY (tenant_id, execution_id)
  CONSTRAINT replies_source_check CHECK ((source = ANY (ARRAY['built_in'::text, 'model'::text])))
  CONSTRAINT replies_tenant_id_execution_id_fkey FOREIGN KEY (tenant_id, execution_id) REFERENCES executions(tenant_id, id)
  CREATE TRIGGER replies_kept BEFORE DELETE OR TRUNCATE ON replies FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was sent never changes.')
  CREATE TRIGGER replies_written AFTER INSERT OR UPDATE ON replies FOR EACH ROW EXECUTE FUNCTION guard_reply()
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE reviews
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  seq bigint NOT NULL
  procedure_id text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  digest text COLLATE "C" NOT NULL
  parts jsonb NOT NULL
  content text COLLATE "C" NOT NULL
  verdict text NOT NULL
  comment text
  acknowledged jsonb NOT NULL
  reviewer_id text COLLATE "C" NOT NULL
  reviewer jsonb NOT NULL
  at timestamp(3) with time zone NOT NULL
  CONSTRAINT reviews_acknowledged_check CHECK ((jsonb_typeof(acknowledged) = 'array'::text))
  CONSTRAINT reviews_by_people CHECK (((verdict = 'comment'::text) OR (((reviewer ->> 'kind'::text) = 'human'::text) AND (NOT COALESCE(((reviewer ->> 'unauthenticated'::text))::boolean, false)))))
  CONSTRAINT reviews_check CHECK (((reviewer ->> 'id'::text) = reviewer_id))
  CONSTRAINT reviews_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text))
  CONSTRAINT reviews_parts_check CHECK ((jsonb_typeof(parts) = 'object'::text))
  CONSTRAINT reviews_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT reviews_tenant_id_procedure_id_fkey FOREIGN KEY (tenant_id, procedure_id) REFERENCES procedures(tenant_id, id)
  CONSTRAINT reviews_verdict_check CHECK ((verdict = ANY (ARRAY['approve'::text, 'decline'::text, 'comment'::text])))
  CREATE INDEX reviews_digest ON reviews USING btree (tenant_id, procedure_id, digest, seq)
  CREATE TRIGGER read_committed BEFORE INSERT OR UPDATE ON reviews FOR EACH STATEMENT EXECUTE FUNCTION require_read_committed()
  CREATE TRIGGER reviews_only_grow BEFORE DELETE OR UPDATE OR TRUNCATE ON reviews FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was said in a review stays said.')
  CREATE TRIGGER reviews_stamped BEFORE INSERT ON reviews FOR EACH ROW EXECUTE FUNCTION stamp_review()
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT (tenant_id, id, procedure_id, version_id, digest, parts, verdict, comment, acknowledged, reviewer_id, reviewer, at) TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE scenarios
  tenant_id text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  position integer NOT NULL
  scenario jsonb NOT NULL
  name text COLLATE "C" NOT NULL GENERATED AS (scenario ->> 'name'::text)
  CONSTRAINT scenarios_pkey PRIMARY KEY (tenant_id, version_id, "position")
  CONSTRAINT scenarios_position_check CHECK (("position" >= 1))
  CONSTRAINT scenarios_scenario_check CHECK ((jsonb_typeof((scenario -> 'expect'::text)) = 'object'::text))
  CONSTRAINT scenarios_tenant_id_version_id_fkey FOREIGN KEY (tenant_id, version_id) REFERENCES procedure_versions(tenant_id, id) ON DELETE CASCADE
  CONSTRAINT scenarios_tenant_id_version_id_name_key UNIQUE (tenant_id, version_id, name)
  CREATE TRIGGER read_committed BEFORE INSERT OR UPDATE ON scenarios FOR EACH STATEMENT EXECUTE FUNCTION require_read_committed()
  CREATE TRIGGER scenarios_of_draft BEFORE INSERT OR DELETE ON scenarios FOR EACH ROW EXECUTE FUNCTION guard_scenario()
  CREATE TRIGGER scenarios_replaced BEFORE UPDATE OR TRUNCATE ON scenarios FOR EACH STATEMENT EXECUTE FUNCTION refuse('Scenarios are replaced, never updated.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE seal_cursors
  tenant_id text COLLATE "C" NOT NULL
  walked_to text COLLATE "C" NOT NULL DEFAULT ''::text
  replies_from text COLLATE "C" NOT NULL DEFAULT ''::text
  CONSTRAINT seal_cursors_pkey PRIMARY KEY (tenant_id)
  CONSTRAINT seal_cursors_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (walked_to, replies_from) TO stepwarden_app
  GRANT SELECT (tenant_id, walked_to) TO stepwarden_system

TABLE seal_waiting
  tenant_id text COLLATE "C" NOT NULL
  execution_id text COLLATE "C" NOT NULL
  CONSTRAINT seal_waiting_pkey PRIMARY KEY (tenant_id, execution_id)
  CONSTRAINT seal_waiting_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT SELECT TO stepwarden_system

TABLE sealed_records
  tenant_id text COLLATE "C" NOT NULL
  execution_id text COLLATE "C" NOT NULL
  kind text NOT NULL
  seal_number integer NOT NULL
  position integer NOT NULL
  leaf_hash text COLLATE "C" NOT NULL
  has_reply boolean NOT NULL
  CONSTRAINT sealed_records_kind_check CHECK ((kind = ANY (ARRAY['run'::text, 'reply'::text])))
  CONSTRAINT sealed_records_pkey PRIMARY KEY (tenant_id, execution_id, kind)
  CONSTRAINT sealed_records_position_check CHECK (("position" >= 0))
  CONSTRAINT sealed_records_tenant_id_seal_number_fkey FOREIGN KEY (tenant_id, seal_number) REFERENCES seals(tenant_id, number)
  CONSTRAINT sealed_records_tenant_id_seal_number_position_key UNIQUE (tenant_id, seal_number, "position")
  CREATE INDEX sealed_records_unanswered ON sealed_records USING btree (tenant_id, execution_id) WHERE ((kind = 'run'::text) AND (NOT has_reply))
  CREATE TRIGGER sealed_records_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON sealed_records FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was sealed never changes.')
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT SELECT (tenant_id, seal_number, position) TO stepwarden_system

TABLE seals
  tenant_id text COLLATE "C" NOT NULL
  number integer NOT NULL
  record_version integer NOT NULL
  record_count integer NOT NULL
  root text COLLATE "C" NOT NULL
  first_id text COLLATE "C" NOT NULL
  last_id text COLLATE "C" NOT NULL
  CONSTRAINT seals_number_check CHECK ((number >= 1))
  CONSTRAINT seals_pkey PRIMARY KEY (tenant_id, number)
  CONSTRAINT seals_record_count_check CHECK (((record_count >= 1) AND (record_count <= 1000)))
  CONSTRAINT seals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE TRIGGER seals_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON seals FOR EACH STATEMENT EXECUTE FUNCTION refuse('What was sealed never changes.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE sensitive_values
  tenant_id text COLLATE "C" NOT NULL
  execution_id text COLLATE "C" NOT NULL
  ordinal integer NOT NULL
  part text COLLATE "C" NOT NULL
  pointer text COLLATE "C" NOT NULL
  is_whole boolean NOT NULL
  digest text COLLATE "C" NOT NULL
  salt text COLLATE "C" NOT NULL
  value text COLLATE "C" NOT NULL
  CONSTRAINT sensitive_values_pkey PRIMARY KEY (tenant_id, execution_id, ordinal, part, pointer)
  CREATE TRIGGER sensitive_values_erased AFTER UPDATE ON sensitive_values FOR EACH ROW EXECUTE FUNCTION guard_sensitive_value()
  CREATE TRIGGER sensitive_values_kept BEFORE DELETE OR TRUNCATE ON sensitive_values FOR EACH STATEMENT EXECUTE FUNCTION refuse('A sensitive value never changes.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE step_executions WITH (fillfactor=90)
  tenant_id text COLLATE "C" NOT NULL
  execution_id text COLLATE "C" NOT NULL
  ordinal integer NOT NULL
  step_key text COLLATE "C" NOT NULL
  iteration text COLLATE "C" NOT NULL DEFAULT ''::text
  kind text NOT NULL
  status text NOT NULL
  attempt integer NOT NULL DEFAULT 1
  input jsonb
  output jsonb
  error jsonb
  attempts jsonb
  tool text COLLATE "C"
  started_at timestamp(3) with time zone NOT NULL
  ended_at timestamp(3) with time zone
  revision bigint NOT NULL
  exchange jsonb
  CONSTRAINT step_executions_pkey PRIMARY KEY (tenant_id, execution_id, ordinal)
  CREATE TRIGGER step_executions_added BEFORE INSERT ON step_executions FOR EACH ROW EXECUTE FUNCTION guard_step()
  CREATE TRIGGER step_executions_changed AFTER UPDATE ON step_executions FOR EACH ROW EXECUTE FUNCTION guard_step()
  CREATE TRIGGER step_executions_identity BEFORE UPDATE OF tenant_id, execution_id, ordinal, step_key, iteration, kind, input, tool, started_at ON step_executions FOR EACH ROW EXECUTE FUNCTION guard_step_identity()
  CREATE TRIGGER step_executions_kept BEFORE DELETE OR TRUNCATE ON step_executions FOR EACH STATEMENT EXECUTE FUNCTION refuse('A step of an execution is never deleted.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (status, attempt, output, error, attempts, ended_at, revision, exchange) TO stepwarden_app

TABLE tenants
  id text COLLATE "C" NOT NULL
  name text NOT NULL
  created_at timestamp(3) with time zone NOT NULL
  calendar jsonb
  retention_days integer
  CONSTRAINT tenants_id_check CHECK ((id ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text))
  CONSTRAINT tenants_pkey PRIMARY KEY (id)
  CONSTRAINT tenants_retention_days_check CHECK (((retention_days >= 1) AND (retention_days <= 36500)))
  CREATE TRIGGER tenants_identity BEFORE UPDATE OF id, created_at ON tenants FOR EACH ROW EXECUTE FUNCTION refuse('The id of a tenant never changes.')
  CREATE TRIGGER tenants_kept BEFORE DELETE OR TRUNCATE ON tenants FOR EACH STATEMENT EXECUTE FUNCTION refuse('A tenant is never deleted.')
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (name, calendar, retention_days) TO stepwarden_app
  GRANT SELECT (id, retention_days) TO stepwarden_system

TABLE ticket_embeddings
  tenant_id text COLLATE "C" NOT NULL
  model text COLLATE "C" NOT NULL
  escalation_id text COLLATE "C" NOT NULL
  text_hash text COLLATE "C" NOT NULL
  embedding vector NOT NULL
  dimensions integer NOT NULL GENERATED AS vector_dims(embedding)
  CONSTRAINT ticket_embeddings_embedding_check CHECK (((vector_dims(embedding) >= 1) AND (vector_dims(embedding) <= 4096)))
  CONSTRAINT ticket_embeddings_model_dimensions_fkey FOREIGN KEY (model, dimensions) REFERENCES embedding_models(name, dimensions)
  CONSTRAINT ticket_embeddings_pkey PRIMARY KEY (tenant_id, model, escalation_id)
  CONSTRAINT ticket_embeddings_tenant_id_escalation_id_fkey FOREIGN KEY (tenant_id, escalation_id) REFERENCES escalations(tenant_id, id)
  CREATE INDEX ticket_embeddings_escalation ON ticket_embeddings USING btree (tenant_id, escalation_id)
  CREATE TRIGGER ticket_embeddings_of_tickets BEFORE INSERT ON ticket_embeddings FOR EACH ROW EXECUTE FUNCTION guard_ticket_vector()
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE tool_contracts
  tenant_id text COLLATE "C" NOT NULL
  hash text COLLATE "C" NOT NULL
  name text COLLATE "C" NOT NULL
  contract jsonb NOT NULL
  CONSTRAINT tool_contracts_hash_check CHECK ((hash ~ '^[0-9a-f]{64}$'::text))
  CONSTRAINT tool_contracts_pkey PRIMARY KEY (tenant_id, hash)
  CONSTRAINT tool_contracts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  CREATE TRIGGER tool_contracts_kept BEFORE DELETE OR UPDATE OR TRUNCATE ON tool_contracts FOR EACH STATEMENT EXECUTE FUNCTION refuse('A contract that was pinned never changes.')
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE version_calls
  tenant_id text COLLATE "C" NOT NULL
  called_key text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  CONSTRAINT version_calls_called_key_check CHECK ((char_length(called_key) <= 64))
  CONSTRAINT version_calls_pkey PRIMARY KEY (tenant_id, called_key, version_id)
  CONSTRAINT version_calls_tenant_id_version_id_fkey FOREIGN KEY (tenant_id, version_id) REFERENCES procedure_versions(tenant_id, id)
  CREATE INDEX version_calls_version ON version_calls USING btree (tenant_id, version_id)
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app

TABLE version_embeddings
  tenant_id text COLLATE "C" NOT NULL
  model text COLLATE "C" NOT NULL
  version_id text COLLATE "C" NOT NULL
  text_hash text COLLATE "C" NOT NULL
  embedding vector NOT NULL
  dimensions integer NOT NULL GENERATED AS vector_dims(embedding)
  served_in text COLLATE "C"
  CONSTRAINT version_embeddings_embedding_check CHECK (((vector_dims(embedding) >= 1) AND (vector_dims(embedding) <= 4096)))
  CONSTRAINT version_embeddings_model_dimensions_fkey FOREIGN KEY (model, dimensions) REFERENCES embedding_models(name, dimensions)
  CONSTRAINT version_embeddings_pkey PRIMARY KEY (tenant_id, model, version_id)
  CONSTRAINT version_embeddings_tenant_id_version_id_fkey FOREIGN KEY (tenant_id, version_id) REFERENCES procedure_versions(tenant_id, id) ON DELETE CASCADE
  CREATE INDEX version_embeddings_served ON version_embeddings USING btree (tenant_id, model, served_in) WHERE (served_in IS NOT NULL)
  CREATE INDEX version_embeddings_version ON version_embeddings USING btree (tenant_id, version_id)
  CREATE TRIGGER version_embeddings_serve BEFORE INSERT OR UPDATE ON version_embeddings FOR EACH ROW EXECUTE FUNCTION serve_vector()
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (text_hash, embedding, served_in) TO stepwarden_app
  GRANT SELECT (tenant_id, model, version_id, text_hash) TO stepwarden_system

TABLE webhook_deliveries WITH (fillfactor=80)
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  webhook_id text COLLATE "C" NOT NULL
  seq bigint NOT NULL
  type text COLLATE "C" NOT NULL
  subject text COLLATE "C" NOT NULL
  at timestamp(3) with time zone NOT NULL
  data jsonb NOT NULL
  status text NOT NULL DEFAULT 'pending'::text
  due_at timestamp(3) with time zone NOT NULL
  claimed_until timestamp(3) with time zone
  fence bigint NOT NULL DEFAULT 0
  failure_count integer NOT NULL DEFAULT 0
  attempts jsonb
  ended_at timestamp(3) with time zone
  CONSTRAINT webhook_deliveries_attempts_check CHECK ((jsonb_typeof(attempts) = 'array'::text))
  CONSTRAINT webhook_deliveries_check CHECK (((status = 'pending'::text) = (ended_at IS NULL)))
  CONSTRAINT webhook_deliveries_data_check CHECK ((jsonb_typeof(data) = 'object'::text))
  CONSTRAINT webhook_deliveries_failure_count_check CHECK ((failure_count >= 0))
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
  CREATE INDEX webhook_deliveries_age ON webhook_deliveries USING btree (at)
  CREATE INDEX webhook_deliveries_claimed ON webhook_deliveries USING btree (tenant_id, webhook_id) WHERE (claimed_until IS NOT NULL)
  CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (tenant_id, webhook_id, due_at, seq) WHERE (status = 'pending'::text)
  CREATE INDEX webhook_deliveries_log ON webhook_deliveries USING btree (tenant_id, webhook_id, seq)
  CREATE INDEX webhook_deliveries_subject ON webhook_deliveries USING btree (tenant_id, subject, webhook_id, seq)
  CREATE TRIGGER webhook_deliveries_identity BEFORE UPDATE OF tenant_id, id, webhook_id, type, subject, at, data ON webhook_deliveries FOR EACH ROW EXECUTE FUNCTION refuse('What is told never changes.')
  POLICY system_rows FOR ALL TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT INSERT (tenant_id, id, webhook_id, type, subject, at, data, due_at, claimed_until, fence) TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (status, due_at, claimed_until, failure_count, attempts, ended_at) TO stepwarden_app
  GRANT DELETE TO stepwarden_system
  GRANT SELECT (tenant_id, id, webhook_id, seq, subject, at, status, due_at, claimed_until, fence) TO stepwarden_system
  GRANT UPDATE (due_at, claimed_until, fence) TO stepwarden_system

TABLE webhook_secrets
  tenant_id text COLLATE "C" NOT NULL
  webhook_id text COLLATE "C" NOT NULL
  number integer NOT NULL
  secret text NOT NULL
  expires_at timestamp(3) with time zone
  CONSTRAINT webhook_secrets_number_check CHECK ((number >= 1))
  CONSTRAINT webhook_secrets_pkey PRIMARY KEY (tenant_id, webhook_id, number)
  CONSTRAINT webhook_secrets_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks(tenant_id, id) ON DELETE CASCADE
  CREATE UNIQUE INDEX webhook_secrets_newest ON webhook_secrets USING btree (tenant_id, webhook_id) WHERE (expires_at IS NULL)
  POLICY system_rows FOR ALL TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (expires_at) TO stepwarden_app
  GRANT DELETE TO stepwarden_system
  GRANT SELECT (tenant_id, webhook_id, number, expires_at) TO stepwarden_system

TABLE webhooks
  tenant_id text COLLATE "C" NOT NULL
  id text COLLATE "C" NOT NULL
  url text NOT NULL
  description text NOT NULL
  events text[]
  created_at timestamp(3) with time zone NOT NULL
  status text NOT NULL DEFAULT 'active'::text
  paused_because text
  paused_at timestamp(3) with time zone
  failing_since timestamp(3) with time zone
  is_troubled boolean NOT NULL DEFAULT false
  last_delivered_at timestamp(3) with time zone
  CONSTRAINT webhooks_check CHECK ((((status = 'paused'::text) = (paused_because IS NOT NULL)) AND ((status = 'paused'::text) = (paused_at IS NOT NULL))))
  CONSTRAINT webhooks_events_check CHECK ((cardinality(events) > 0))
  CONSTRAINT webhooks_paused_because_check CHECK ((paused_because = ANY (ARRAY['asked'::text, 'gone'::text, 'failing'::text])))
  CONSTRAINT webhooks_pkey PRIMARY KEY (tenant_id, id)
  CONSTRAINT webhooks_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text])))
  CONSTRAINT webhooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(id)
  POLICY system_rows FOR SELECT TO stepwarden_system USING true WITH CHECK -
  POLICY tenant_rows FOR ALL TO PUBLIC USING (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting)) WITH CHECK (tenant_id = ( SELECT current_setting('stepwarden.tenant'::text, true) AS current_setting))
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (url, description, events, status, paused_because, paused_at, failing_since, is_troubled, last_delivered_at) TO stepwarden_app
  GRANT SELECT (tenant_id, id, status, failing_since, is_troubled) TO stepwarden_system

TABLE workers
  id text COLLATE "C" NOT NULL
  lease_until timestamp(3) with time zone NOT NULL
  started_at timestamp(3) with time zone NOT NULL
  address text
  lock_key bigint NOT NULL
  CONSTRAINT workers_pkey PRIMARY KEY (id)
  GRANT DELETE TO stepwarden_app
  GRANT INSERT TO stepwarden_app
  GRANT SELECT TO stepwarden_app
  GRANT UPDATE (lease_until, address) TO stepwarden_app
  GRANT DELETE TO stepwarden_system
  GRANT SELECT (id, lease_until, lock_key) TO stepwarden_system

FUNCTION public.audit_hash(event audit_events)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT encode(sha256(convert_to(
        public.netstring(event.hash_version::text)
        || public.netstring(event.tenant_id)
        || public.netstring(event.seq::text)
        || public.netstring(event.id)
        || public.netstring(
             to_char(event.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        || public.netstring(event.actor_id)
        || public.netstring(event.actor_kind)
        || public.netstring(event.actor)
        || public.netstring(event.action)
        || public.netstring(event.entity_kind)
        || public.netstring(event.entity_id)
        || public.netstring(event.before_hash)
        || public.netstring(event.after_hash)
        || public.netstring(event.details)
        || public.netstring(event.origin)
        || public.netstring(CASE WHEN event.ungoverned THEN 'true' ELSE 'false' END)
        || public.netstring(event.prev_hash),
        'UTF8')), 'hex')
    $function$
  OWNER stepwarden_owner

FUNCTION public.chain_audit_event()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      INSERT INTO public.audit_heads (tenant_id, seq) VALUES (NEW.tenant_id, 0)
        ON CONFLICT DO NOTHING;
      SELECT h.seq + 1, h.hash INTO STRICT NEW.seq, NEW.prev_hash
        FROM public.audit_heads h WHERE h.tenant_id = NEW.tenant_id FOR UPDATE;
      NEW.hash_version := 1;
      NEW.hash := public.audit_hash(NEW);
      UPDATE public.audit_heads SET seq = NEW.seq, hash = NEW.hash WHERE tenant_id = NEW.tenant_id;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.changed_executions(tenant_ids text[], execution_ids text[], revisions bigint[])
 RETURNS TABLE(tenant_id text, id text, revision bigint)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT e.tenant_id, e.id, e.revision
      FROM unnest(tenant_ids, execution_ids, revisions) AS seen (tenant_id, id, revision)
      JOIN public.executions e ON e.tenant_id = seen.tenant_id AND e.id = seen.id
      WHERE e.revision IS DISTINCT FROM seen.revision
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.check_activation()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      IF NEW.active_until IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME,
          MESSAGE = 'An activation begins open and is closed later.';
      END IF;
      IF EXISTS (
        SELECT FROM public.activations a
        WHERE a.tenant_id = NEW.tenant_id AND a.procedure_id = NEW.procedure_id
          AND a.active_until > NEW.active_from
      ) THEN
        RAISE EXCEPTION USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME,
          MESSAGE = 'An activation begins at or after the end of every earlier one.';
      END IF;
      IF NOT EXISTS (
        SELECT FROM public.procedure_versions v
        WHERE v.tenant_id = NEW.tenant_id AND v.id = NEW.version_id AND v.status = 'active'
      ) THEN
        RAISE EXCEPTION USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME,
          MESSAGE = 'An activation names an active version.';
      END IF;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.claim_executions(own_worker text, max integer, suspects boolean)
 RETURNS TABLE(tenant_id text, id text, fence bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    #variable_conflict use_column
    BEGIN
      WITH due AS (
        SELECT e.tenant_id, e.id FROM public.executions e
        WHERE e.status = 'waiting' AND e.wake_at <= clock_timestamp()
        ORDER BY e.wake_at LIMIT max
        FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE public.executions e SET status = 'running', wake_at = NULL, revision = e.revision + 1
      FROM due WHERE e.tenant_id = due.tenant_id AND e.id = due.id;

      RETURN QUERY
      WITH RECURSIVE tenants AS (
        (SELECT e.tenant_id FROM public.executions e
          WHERE e.status IN ('pending', 'running') AND e.worker_id IS NULL
          ORDER BY e.tenant_id LIMIT 1)
        UNION ALL
        SELECT (SELECT e.tenant_id FROM public.executions e
          WHERE e.status IN ('pending', 'running') AND e.worker_id IS NULL AND e.tenant_id > t.tenant_id
          ORDER BY e.tenant_id LIMIT 1)
        FROM tenants t WHERE t.tenant_id IS NOT NULL
      ), queue AS (
        SELECT one.tenant_id, one.id
        FROM tenants t CROSS JOIN LATERAL (
          SELECT e.tenant_id, e.id, row_number() OVER (ORDER BY e.id) AS turn
          FROM (
            SELECT e.tenant_id, e.id FROM public.executions e
            WHERE e.tenant_id = t.tenant_id AND e.status IN ('pending', 'running') AND e.worker_id IS NULL
              AND (e.take_over_count >= 2) = suspects
            ORDER BY e.id LIMIT 4 * max
          ) e
        ) one
        ORDER BY one.turn, one.tenant_id
        -- More than are wanted: another worker may be claiming the first of them just now.
        LIMIT 4 * max
      ), taken AS (
        SELECT e.tenant_id, e.id
        FROM queue JOIN public.executions e ON e.tenant_id = queue.tenant_id AND e.id = queue.id
        WHERE e.status IN ('pending', 'running') AND e.worker_id IS NULL
        LIMIT max
        FOR NO KEY UPDATE OF e SKIP LOCKED
      )
      UPDATE public.executions e
      SET status = 'running', worker_id = own_worker, fence = e.fence + 1, revision = e.revision + 1, wake_at = NULL,
        started_at = coalesce(e.started_at, clock_timestamp())
      FROM taken WHERE e.tenant_id = taken.tenant_id AND e.id = taken.id
      RETURNING e.tenant_id, e.id, e.fence;
    END
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.claim_webhook_deliveries(at_time timestamp with time zone, until_time timestamp with time zone, most integer, most_troubled integer)
 RETURNS TABLE(tenant_id text, id text, fence bigint, is_troubled boolean)
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      WITH due AS MATERIALIZED (
        SELECT w.tenant_id, w.id AS webhook_id, w.is_troubled, f.free, d.id, d.seq, d.subject, d.due_at
        FROM public.webhooks w
        CROSS JOIN LATERAL (
          SELECT CASE WHEN w.is_troubled THEN 1 ELSE 4 END - count(*) AS free FROM public.webhook_deliveries c
          WHERE c.tenant_id = w.tenant_id AND c.webhook_id = w.id AND c.claimed_until > at_time
        ) f
        CROSS JOIN LATERAL (
          SELECT p.id, p.seq, p.subject, p.due_at FROM public.webhook_deliveries p
          WHERE p.tenant_id = w.tenant_id AND p.webhook_id = w.id AND p.status = 'pending' AND p.due_at <= at_time
          ORDER BY p.due_at, p.seq
          -- Some of them may have to wait for an earlier one.
          LIMIT CASE WHEN f.free > 0 THEN f.free + 32 ELSE 0 END
          FOR NO KEY UPDATE SKIP LOCKED
        ) d
        WHERE w.status = 'active'
      ), looked AS MATERIALIZED (
        SELECT due.*, (
            SELECT b.due_at FROM public.webhook_deliveries b
            WHERE b.tenant_id = due.tenant_id AND b.subject = due.subject AND b.webhook_id = due.webhook_id
              AND b.seq < due.seq AND b.status = 'pending'
            ORDER BY b.seq LIMIT 1
          ) AS earlier_at
        FROM due
      ), put_off AS (
        -- Until the earlier one of its subject was told. Whoever tells that brings it forward again.
        UPDATE public.webhook_deliveries d SET due_at = greatest(l.earlier_at, at_time + interval '1 second')
        FROM looked l
        WHERE l.earlier_at IS NOT NULL AND d.tenant_id = l.tenant_id AND d.id = l.id
      ), nth AS (
        SELECT l.*, row_number() OVER (PARTITION BY l.tenant_id, l.webhook_id ORDER BY l.due_at, l.seq) AS n
        FROM looked l WHERE l.earlier_at IS NULL
      ), turn AS (
        SELECT nth.*, row_number() OVER (PARTITION BY nth.tenant_id ORDER BY nth.n, nth.due_at, nth.seq) AS turn
        FROM nth WHERE nth.n <= nth.free
      ), chosen AS (
        SELECT turn.*, row_number() OVER (PARTITION BY turn.is_troubled ORDER BY turn.turn, turn.due_at, turn.seq) AS place
        FROM turn
      ), taken AS (
        SELECT c.tenant_id, c.id, c.is_troubled FROM chosen c
        WHERE NOT c.is_troubled OR c.place <= most_troubled
        ORDER BY c.turn, c.due_at, c.seq
        LIMIT most
      )
      UPDATE public.webhook_deliveries d
        SET claimed_until = until_time, due_at = until_time, fence = d.fence + 1
        FROM taken t
        WHERE d.tenant_id = t.tenant_id AND d.id = t.id
        RETURNING d.tenant_id, d.id, d.fence, t.is_troubled
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.count_lessons()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      SELECT count(*) INTO NEW.entry_count FROM public.lessons l
        WHERE l.tenant_id = NEW.tenant_id AND l.task_tag = NEW.task_tag;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.count_unattended(own_worker text, max integer)
 RETURNS bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT count(*) FROM (
        SELECT FROM public.executions e
        WHERE e.status IN ('pending', 'running') AND e.worker_id IS DISTINCT FROM own_worker
          AND (e.worker_id IS NULL OR e.worker_id NOT IN (SELECT public.living_workers()))
        LIMIT max
      ) unattended
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.count_vectors()
 RETURNS TABLE(model text, count bigint)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT NULL, count(*) FROM public.procedure_versions
      UNION ALL
      SELECT e.model, count(*)
      FROM public.version_embeddings e JOIN public.procedure_versions v
        ON v.tenant_id = e.tenant_id AND v.id = e.version_id
      WHERE e.text_hash = encode(sha256(convert_to(v.purpose, 'UTF8')), 'hex')
      GROUP BY e.model
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.deployment_figures()
 RETURNS TABLE(figure text, label text, value double precision)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      WITH queues AS (
        SELECT x.queue, count(*) AS n, row_number() OVER (ORDER BY count(*) DESC, x.queue) AS place
        FROM public.escalations x WHERE x.status <> 'resolved' GROUP BY x.queue
      ), waits AS (
        SELECT next.ended_at FROM public.tenants t
        LEFT JOIN public.seal_cursors c ON c.tenant_id = t.id
        CROSS JOIN LATERAL (
          SELECT e.ended_at FROM public.executions e
          WHERE e.tenant_id = t.id AND e.id > coalesce(c.walked_to, '') AND e.ended_at IS NOT NULL
          ORDER BY e.id LIMIT 1
        ) next
        UNION ALL
        SELECT e.ended_at FROM public.seal_waiting w
        JOIN public.executions e ON e.tenant_id = w.tenant_id AND e.id = w.execution_id
        WHERE e.ended_at IS NOT NULL
      )
      SELECT 'escalations_open', CASE WHEN q.place <= 50 THEN q.queue ELSE 'other' END, sum(q.n)::double precision
        FROM queues q GROUP BY 2
      UNION ALL
      SELECT 'webhooks', CASE WHEN w.status = 'paused' THEN 'paused' WHEN w.failing_since IS NOT NULL THEN 'failing'
          ELSE 'active' END, count(*)::double precision
        FROM public.webhooks w GROUP BY 2
      UNION ALL
      SELECT 'webhook_messages_pending', '', count(*)::double precision
        FROM public.webhook_deliveries d WHERE d.status = 'pending'
      UNION ALL
      SELECT 'seal_lag_seconds', '',
          coalesce(greatest(extract(epoch FROM clock_timestamp() - min(w.ended_at)), 0), 0)::double precision
        FROM waits w
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.due_schedules(until timestamp with time zone, max integer)
 RETURNS TABLE(tenant_id text, id text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT s.tenant_id, s.id FROM public.activation_schedules s
      WHERE s.status = 'open' AND s.due_at <= until
      ORDER BY s.due_at, s.tenant_id, s.id LIMIT max
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.erase_runs(of_erasure text, event_id text, at timestamp with time zone, actor text, origin text, digests jsonb, tickets text[], desk_keys text[], OUT run_count integer, OUT ticket_count integer)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    #variable_conflict use_variable
    DECLARE
      tenant CONSTANT text := current_setting('stepwarden.tenant', true);
      erasure public.erasures;
      asked CONSTANT text[] := ARRAY(SELECT jsonb_object_keys(digests));
      runs text[];
      opened text[];
    BEGIN
      SELECT * INTO erasure FROM public.erasures x
        WHERE x.tenant_id = tenant AND x.id = of_erasure AND x.ended_at IS NULL FOR UPDATE;
      IF NOT FOUND THEN
        PERFORM public.refuse_row('erasures', 'erasures_running', 'restrict_violation',
          'Only an erasure that is running erases anything.');
      END IF;
      -- From here on nothing is added to them.
      PERFORM FROM public.executions e WHERE e.tenant_id = tenant AND e.id = ANY (asked) ORDER BY e.id FOR UPDATE;
      PERFORM FROM public.escalations x
        WHERE x.tenant_id = tenant AND (x.execution_id = ANY (asked) OR x.id = ANY (tickets)) ORDER BY x.id FOR UPDATE;

      WITH erased AS (
        INSERT INTO public.erased_records (tenant_id, execution_id, digests, erased_at, erasure_id, event_id)
        SELECT tenant, d.key, d.value, at, of_erasure, event_id FROM jsonb_each(digests) d ORDER BY d.key
        ON CONFLICT DO NOTHING
        RETURNING execution_id
      ) SELECT coalesce(array_agg(e.execution_id ORDER BY e.execution_id), '{}') INTO runs FROM erased e;
      WITH erased AS (
        INSERT INTO public.erased_tickets (tenant_id, escalation_id, erasure_id, erased_at)
        SELECT tenant, t, of_erasure, at FROM unnest(tickets) t ORDER BY t
        ON CONFLICT DO NOTHING
        RETURNING escalation_id
      ) SELECT coalesce(array_agg(e.escalation_id ORDER BY e.escalation_id), '{}') INTO opened FROM erased e;
      run_count := cardinality(runs);
      ticket_count := cardinality(opened);
      IF run_count + ticket_count = 0 THEN RETURN; END IF;

      IF EXISTS (
        SELECT FROM unnest(runs) r LEFT JOIN public.executions e ON e.tenant_id = tenant AND e.id = r
        WHERE e.ended_at IS NULL
          OR EXISTS (
            SELECT FROM public.executions p WHERE p.tenant_id = tenant AND p.id = e.root_id AND p.ended_at IS NULL)
          OR NOT EXISTS (SELECT FROM public.record_salts s WHERE s.tenant_id = tenant AND s.execution_id = r)
          OR EXISTS (
            SELECT FROM public.escalations x
            WHERE x.tenant_id = tenant AND x.execution_id = r AND x.status <> 'resolved')
          OR CASE erasure.kind
            WHEN 'customer' THEN erasure.customer_digest IS DISTINCT FROM
              encode(sha256(convert_to(erasure.customer_salt || ':' || e.customer_id, 'UTF8')), 'hex')
            ELSE NOT EXISTS (
              SELECT FROM public.tenants t
              WHERE t.id = tenant AND e.ended_at < at - make_interval(days => t.retention_days))
          END
      ) OR EXISTS (
        SELECT FROM unnest(opened) o LEFT JOIN public.escalations x
            ON x.tenant_id = tenant AND x.id = o AND x.execution_id IS NULL
          LEFT JOIN public.coverage_gaps g ON g.tenant_id = tenant AND g.escalation_id = o
        WHERE x.status IS DISTINCT FROM 'resolved'
          OR CASE erasure.kind
            WHEN 'customer' THEN erasure.customer_digest IS DISTINCT FROM
              encode(sha256(convert_to(erasure.customer_salt || ':' || g.customer_id, 'UTF8')), 'hex')
            ELSE NOT EXISTS (
              SELECT FROM public.tenants t
              WHERE t.id = tenant AND x.resolved_at < at - make_interval(days => t.retention_days))
          END
      ) THEN
        PERFORM public.refuse_row('erased_records', 'erased_records_of_ended', 'restrict_violation',
          'Only what its erasure is about, has ended, is sealed and waits for nobody can be erased.');
      END IF;

      DELETE FROM public.record_salts s WHERE s.tenant_id = tenant AND s.execution_id = ANY (runs);
      UPDATE public.executions e
        SET input = '{}', ticket = NULL, context = NULL, customer_id = NULL, ticket_id = NULL, on_behalf_of = NULL,
          idempotency_key = NULL, request_hash = NULL, reason = public.erased_reason(e.reason), result = NULL,
          conditions = NULL, selection = NULL
        WHERE e.tenant_id = tenant AND e.id = ANY (runs);
      UPDATE public.step_executions s
        SET input = NULL, output = NULL, error = NULL, attempts = NULL, exchange = NULL
        WHERE s.tenant_id = tenant AND s.execution_id = ANY (runs);
      UPDATE public.sensitive_values v SET salt = '', value = ''
        WHERE v.tenant_id = tenant AND v.execution_id = ANY (runs);
      UPDATE public.replies r SET text = '', facts = '[]', verification = '{}'
        WHERE r.tenant_id = tenant AND r.execution_id = ANY (runs);
      UPDATE public.escalations x
        SET reason = public.erased_reason(x.reason), ticket = NULL, late_outcomes = NULL,
          resolution = x.resolution - 'text'
        WHERE x.tenant_id = tenant AND (x.execution_id = ANY (runs) OR x.id = ANY (opened));
      UPDATE public.coverage_gaps g
        SET ticket = '{}', customer_id = NULL, idempotency_key = NULL, request_hash = NULL
        WHERE g.tenant_id = tenant AND g.escalation_id = ANY (opened);
      UPDATE public.desk_messages m SET message = 'erased'
        WHERE m.tenant_id = tenant AND m.idempotency_key = ANY (desk_keys);
      UPDATE public.desk_refunds f SET transaction_id = 'erased ' || f.id
        WHERE f.tenant_id = tenant AND f.idempotency_key = ANY (desk_keys);
      UPDATE public.erasures x
        SET run_count = x.run_count + cardinality(runs), ticket_count = x.ticket_count + cardinality(opened)
        WHERE x.tenant_id = tenant AND x.id = of_erasure;

      INSERT INTO public.audit_events
        (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id, details, origin, ungoverned)
      VALUES (tenant, event_id, at, actor::jsonb ->> 'id', actor::jsonb ->> 'kind', actor,
        CASE erasure.kind WHEN 'customer' THEN 'executions.erased' ELSE 'executions.expired' END, 'erasure', of_erasure,
        jsonb_strip_nulls(jsonb_build_object('reason', erasure.reason, 'customer', erasure.customer_digest,
          'count', cardinality(runs), 'executions', to_jsonb(runs), 'tickets', to_jsonb(opened)))::text,
        origin, false);
    END
    $function$
  OWNER stepwarden_owner GRANTED TO stepwarden_owner, stepwarden_app

FUNCTION public.erased_evidence(evidence jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT coalesce(jsonb_object_agg(e.key, e.value), '{}') FROM jsonb_each(evidence) e
        WHERE e.key IN ('source', 'madeWith', 'experienceIds', 'executionIds', 'ticketIds', 'ticketCount', 'learnedFrom',
          'agreement')
    $function$
  OWNER stepwarden_owner

FUNCTION public.erased_reason(reason jsonb)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT CASE WHEN reason ? 'code' THEN jsonb_build_object('code', reason -> 'code') END
    $function$
  OWNER stepwarden_owner

FUNCTION public.executions_of(own_worker text)
 RETURNS TABLE(tenant_id text, id text, fence bigint)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT e.tenant_id, e.id, e.fence FROM public.executions e
      WHERE e.worker_id = own_worker AND e.status IN ('pending', 'running')
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.finish_erasure(of_erasure text, customer text, event_id text, at timestamp with time zone, actor text, origin text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    #variable_conflict use_variable
    DECLARE
      tenant CONSTANT text := current_setting('stepwarden.tenant', true);
      erasure public.erasures;
      forgotten integer;
    BEGIN
      SELECT * INTO erasure FROM public.erasures x
        WHERE x.tenant_id = tenant AND x.id = of_erasure AND x.ended_at IS NULL FOR UPDATE;
      IF NOT FOUND OR (erasure.kind = 'customer' AND erasure.customer_digest IS DISTINCT FROM
        encode(sha256(convert_to(erasure.customer_salt || ':' || customer, 'UTF8')), 'hex'))
      THEN
        PERFORM public.refuse_row('erasures', 'erasures_running', 'restrict_violation',
          'Only an erasure that is running can be ended, by naming whom it is about.');
      END IF;
      IF erasure.kind = 'customer' THEN
        DELETE FROM public.limit_counters c
          WHERE c.tenant_id = tenant AND c.scope = 'customer' AND c.subject = customer;
        forgotten := public.forget_experiences(tenant, ARRAY(
          SELECT x.id FROM public.experiences x
          WHERE x.tenant_id = tenant AND x.customer_id = customer ORDER BY x.id FOR UPDATE));
        PERFORM public.forget_proposals(tenant, ARRAY(
          SELECT DISTINCT s.proposal_id FROM public.proposal_sources s
          WHERE s.tenant_id = tenant AND s.customer_id = customer), at);
      ELSE
        DELETE FROM public.limit_counters c USING public.tenants t
          WHERE c.tenant_id = tenant AND c.scope = 'customer' AND t.id = tenant
            AND c.starts_at + ('1 ' || c.period)::interval < at - make_interval(days => t.retention_days);
        PERFORM public.forget_experiences(tenant, ARRAY(
          SELECT x.id FROM public.experiences x, public.tenants t
          WHERE x.tenant_id = tenant AND x.execution_id IS NULL AND t.id = tenant
            AND x.created_at < at - make_interval(days => t.retention_days) ORDER BY x.id FOR UPDATE OF x));
        PERFORM public.forget_proposals(tenant, ARRAY(
          SELECT p.id FROM public.proposals p, public.tenants t
          WHERE p.tenant_id = tenant AND p.erased_at IS NULL AND t.id = tenant
            AND p.created_at < at - make_interval(days => t.retention_days)), at);
      END IF;
      UPDATE public.erasures x SET ended_at = at, customer_salt = NULL
        WHERE x.tenant_id = tenant AND x.id = of_erasure;
      IF erasure.kind = 'customer' THEN
        INSERT INTO public.audit_events
          (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind, entity_id, details, origin, ungoverned)
        VALUES (tenant, event_id, at, actor::jsonb ->> 'id', actor::jsonb ->> 'kind', actor, 'customer.erased',
          'erasure', of_erasure,
          jsonb_build_object('reason', erasure.reason, 'customer', erasure.customer_digest,
            'runs', erasure.run_count, 'tickets', erasure.ticket_count, 'experiences', forgotten)::text,
          origin, false);
      END IF;
    END
    $function$
  OWNER stepwarden_owner GRANTED TO stepwarden_owner, stepwarden_app

FUNCTION public.forget_answers()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      erased CONSTANT text := coalesce(to_jsonb(NEW) ->> 'execution_id', to_jsonb(NEW) ->> 'escalation_id');
    BEGIN
      -- In the order in which whoever sends them locks them.
      PERFORM FROM public.webhook_deliveries d
        WHERE d.tenant_id = NEW.tenant_id AND d.subject = erased ORDER BY d.webhook_id, d.seq FOR NO KEY UPDATE;
      UPDATE public.webhook_deliveries d
        SET attempts = (
          SELECT jsonb_agg(a.value - 'answer' ORDER BY a.ordinality)
          FROM jsonb_array_elements(d.attempts) WITH ORDINALITY a)
        WHERE d.tenant_id = NEW.tenant_id AND d.subject = erased AND d.attempts IS NOT NULL;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.forget_calls()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      DELETE FROM public.version_calls WHERE tenant_id = NEW.tenant_id AND version_id = NEW.id;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.forget_experience_of_run()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      PERFORM public.forget_experiences(NEW.tenant_id, ARRAY(
        SELECT x.id FROM public.experiences x
        WHERE x.tenant_id = NEW.tenant_id AND x.execution_id = NEW.execution_id FOR UPDATE));
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.forget_experiences(of_tenant text, ids text[])
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      forgotten integer;
    BEGIN
      PERFORM public.forget_proposals_of(of_tenant, ids, clock_timestamp());
      DELETE FROM public.experience_holds h WHERE h.tenant_id = of_tenant AND h.experience_id = ANY (ids);
      DELETE FROM public.experiences x WHERE x.tenant_id = of_tenant AND x.id = ANY (ids);
      GET DIAGNOSTICS forgotten = ROW_COUNT;
      RETURN forgotten;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.forget_proposals(of_tenant text, ids text[], at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      -- In the order in which whoever decides locks: the proposal, then what it holds.
      PERFORM FROM public.proposals p WHERE p.tenant_id = of_tenant AND p.id = ANY (ids) ORDER BY p.id FOR UPDATE;
      UPDATE public.proposals p
        SET definition = NULL, reason = NULL, evidence = public.erased_evidence(p.evidence), erased_at = at
        WHERE p.tenant_id = of_tenant AND p.id = ANY (ids) AND p.erased_at IS NULL;
      DELETE FROM public.proposal_sources s WHERE s.tenant_id = of_tenant AND s.proposal_id = ANY (ids);
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.forget_proposals_of(of_tenant text, sources text[], at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      PERFORM public.forget_proposals(of_tenant, ARRAY(
        SELECT DISTINCT s.proposal_id FROM public.proposal_sources s
        WHERE s.tenant_id = of_tenant AND s.source_id = ANY (sources)), at);
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.forget_proposals_of_erased()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      PERFORM public.forget_proposals_of(NEW.tenant_id,
        ARRAY[coalesce(to_jsonb(NEW) ->> 'execution_id', to_jsonb(NEW) ->> 'escalation_id')], NEW.erased_at);
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.forget_ticket_vectors()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      erased CONSTANT jsonb := to_jsonb(NEW);
    BEGIN
      DELETE FROM public.ticket_embeddings v USING public.escalations x
        WHERE v.tenant_id = NEW.tenant_id AND v.escalation_id = x.id AND x.tenant_id = NEW.tenant_id
          AND (x.id = erased ->> 'escalation_id' OR x.execution_id = erased ->> 'execution_id');
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_acceptance()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      IF NOT EXISTS (
        SELECT FROM public.procedure_versions v
        WHERE v.tenant_id = NEW.tenant_id AND v.id = NEW.version_id AND v.proposal_id = NEW.id
      ) THEN
        PERFORM public.refuse_row('proposals', 'proposals_make_drafts', 'restrict_violation',
          'A proposal is accepted by making a draft of it.');
      END IF;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_approval()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      required integer;
      approved bigint;
      declined bigint;
    BEGIN
      SELECT g.required_approvals INTO STRICT required FROM public.governance g;
      IF required > 0 THEN
        SELECT count(*) FILTER (WHERE last.verdict = 'approve' AND last.reviewer_id <> ALL (NEW.author_ids)),
            count(*) FILTER (WHERE last.verdict = 'decline')
          INTO approved, declined
          FROM (
            SELECT DISTINCT ON (r.reviewer_id) r.reviewer_id, r.verdict FROM public.reviews r
              WHERE r.tenant_id = NEW.tenant_id AND r.procedure_id = NEW.procedure_id
                AND r.digest = NEW.approval_digest AND r.content = public.version_content(NEW)
                AND r.verdict <> 'comment'
              ORDER BY r.reviewer_id, r.seq DESC
          ) last;
        IF approved < required OR declined > 0 THEN
          PERFORM public.refuse_row('procedure_versions', 'procedure_versions_approved', 'restrict_violation',
            'Nothing goes live without the approval of people who wrote no part of it.');
        END IF;
      END IF;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_backtest()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      IF EXISTS (
        SELECT FROM public.procedure_versions v WHERE v.tenant_id = OLD.tenant_id AND v.id = OLD.version_id
      ) THEN
        PERFORM public.refuse_row('backtests', 'backtests_kept', 'restrict_violation',
          'A backtest goes only with its draft.');
      END IF;
      RETURN OLD;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_backtest_run()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      state text;
    BEGIN
      IF TG_OP = 'INSERT' THEN
        SELECT b.state INTO state FROM public.backtests b
          WHERE b.tenant_id = NEW.tenant_id AND b.id = NEW.backtest_id;
        IF state <> 'running' THEN
          PERFORM public.refuse_row('backtest_runs', 'backtest_runs_while_running', 'restrict_violation',
            'A backtest that has ended finds nothing more.');
        END IF;
        RETURN NEW;
      END IF;
      -- One that goes with its backtest finds none.
      IF EXISTS (SELECT FROM public.backtests b WHERE b.tenant_id = OLD.tenant_id AND b.id = OLD.backtest_id) THEN
        PERFORM public.refuse_row('backtest_runs', 'backtest_runs_while_running', 'restrict_violation',
          'What a backtest found is never deleted.');
      END IF;
      RETURN OLD;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_escalation()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      personal CONSTANT text[] := ARRAY['reason', 'reason_code', 'ticket', 'late_outcomes', 'resolution'];
    BEGIN
      IF to_jsonb(NEW) - personal = to_jsonb(OLD) - personal
        AND OLD.status = 'resolved'
        AND num_nonnulls(NEW.ticket, NEW.late_outcomes) = 0
        AND NEW.reason = public.erased_reason(OLD.reason)
        AND NEW.resolution = OLD.resolution - 'text'
        AND public.is_being_erased(NEW.tenant_id, coalesce(NEW.execution_id, NEW.id))
      THEN
        RETURN NEW;
      END IF;
      IF TG_NAME = 'escalations_identity' THEN
        PERFORM public.refuse_row('escalations', TG_NAME, 'restrict_violation',
          'Why an escalation was opened never changes.');
      ELSIF TG_NAME = 'escalations_resolved' THEN
        PERFORM public.refuse_row('escalations', TG_NAME, 'restrict_violation',
          'A resolved escalation stays as it was resolved.');
      ELSIF NEW.late_outcomes IS NOT NULL AND EXISTS (
        SELECT FROM public.erased_records r
        WHERE r.tenant_id = NEW.tenant_id AND r.execution_id = NEW.execution_id
      ) THEN
        PERFORM public.refuse_row('escalations', TG_NAME, 'restrict_violation',
          'To a run that was erased nothing is added any more.');
      END IF;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_execution_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      IF OLD.status IN ('completed', 'escalated', 'cancelled') THEN
        IF public.is_erasure_of_run(OLD, NEW) THEN RETURN NULL; END IF;
        PERFORM public.refuse_row('executions', 'executions_finished', 'restrict_violation',
          'A finished execution never changes.');
      END IF;
      IF NEW.fence < OLD.fence OR NEW.revision < OLD.revision OR NEW.take_over_count < OLD.take_over_count
        OR NEW.fence > OLD.fence + 1 OR NEW.revision > OLD.revision + 1
        OR NEW.take_over_count > OLD.take_over_count + 1
        OR (NEW.status = 'pending' AND OLD.status <> 'pending')
      THEN
        PERFORM public.refuse_row('executions', 'executions_only_forward', 'restrict_violation',
          'Fence, revision, take-overs and status of an execution never go back, and count one by one.');
      END IF;
      
  IF NEW.status NOT IN ('pending', 'running', 'waiting', 'paused', 'completed', 'escalated', 'cancelled')
    OR (NEW.status = 'completed') <> (NEW.outcome IS NOT NULL)
    OR NEW.outcome NOT IN ('resolved', 'declined')
    OR (NEW.status = 'escalated' AND NEW.reason IS NULL)
    OR (NEW.status IN ('completed', 'escalated', 'cancelled')) <> (NEW.ended_at IS NOT NULL)
  THEN
    PERFORM public.refuse_row('executions', 'executions_sound', 'check_violation',
      'The status of an execution fits its outcome, its reason and its end.');
  END IF;
      -- Whoever has called it looks again. One that works just now keeps the time, and does not wait past it.
      IF NEW.parent_id IS NOT NULL AND NEW.ended_at IS NOT NULL THEN
        UPDATE public.executions p SET wake_at = clock_timestamp(), revision = p.revision + 1
        WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.parent_id AND p.ended_at IS NULL;
      END IF;
      IF NEW.status <> OLD.status AND NEW.status IN ('waiting', 'completed', 'escalated', 'cancelled') THEN
        IF EXISTS (SELECT FROM public.webhooks w WHERE w.tenant_id = NEW.tenant_id) THEN
          PERFORM public.tell_execution(NEW);
        END IF;
      END IF;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_execution_identity()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      IF NOT public.is_erasure_of_run(OLD, NEW) THEN
        PERFORM public.refuse_row('executions', TG_NAME, 'restrict_violation',
          'What an execution was started with never changes.');
      END IF;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_execution_start()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    DECLARE
      stopped_by text;
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(7355608, hashtext(NEW.tenant_id));
      IF NOT EXISTS (
        SELECT FROM public.procedure_versions v
        WHERE 
  v.tenant_id = NEW.tenant_id
    AND v.id = NEW.version_id
    AND v.procedure_id = NEW.procedure_id
    AND v.procedure_key = NEW.procedure_key
    AND v.version_number = NEW.version_number
    AND v.definition_hash = NEW.definition_hash
    AND (v.status = 'active' OR (NEW.parent_id IS NOT NULL AND v.status = 'deprecated'))
          AND NOT EXISTS (
            SELECT FROM public.kill_switches k WHERE k.tenant_id = NEW.tenant_id AND k.lifted_at IS NULL)
      ) THEN
        IF NOT EXISTS (SELECT FROM public.procedure_versions v WHERE 
  v.tenant_id = NEW.tenant_id
    AND v.id = NEW.version_id
    AND v.procedure_id = NEW.procedure_id
    AND v.procedure_key = NEW.procedure_key
    AND v.version_number = NEW.version_number
    AND v.definition_hash = NEW.definition_hash
    AND (v.status = 'active' OR (NEW.parent_id IS NOT NULL AND v.status = 'deprecated'))) THEN
          PERFORM public.refuse_row('executions', 'executions_of_active_version', 'restrict_violation',
            'An execution names an active version by its exact procedure, number and definition hash.');
        END IF;
        stopped_by := public.stopping_switch(NEW.tenant_id, NEW.procedure_key, NEW.tool_contracts,
          CASE WHEN NEW.parent_id IS NULL THEN NEW.pins END);
        IF stopped_by IS NOT NULL AND NEW.parent_id IS NULL THEN
          PERFORM public.refuse_row('executions', 'executions_not_stopped', 'restrict_violation',
            'A procedure that is stopped, or uses a tool that is, cannot be started.');
        END IF;
        IF stopped_by IS NOT NULL THEN
          NEW.status := 'paused';
          NEW.pause_requested_at := clock_timestamp();
          INSERT INTO public.execution_holds (tenant_id, execution_id, switch_id)
            VALUES (NEW.tenant_id, NEW.id, stopped_by) ON CONFLICT DO NOTHING;
        END IF;
      END IF;
      -- A run that is called is of the version that its root has pinned, and hands the same pins on.
      IF NEW.parent_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM public.executions p
        WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.parent_id AND p.ended_at IS NULL
          AND p.pins -> NEW.procedure_key ->> 'versionId' = NEW.version_id
          AND p.pins = NEW.pins
          AND NEW.root_id = coalesce(p.root_id, p.id)
      ) THEN
        PERFORM public.refuse_row('executions', 'executions_of_pinned_version', 'restrict_violation',
          'A called execution is of the version that was pinned when its root was started.');
      END IF;
      IF NEW.durability NOT IN ('effect', 'step') OR NEW.mode NOT IN ('automatic', 'guided')
        OR (NEW.idempotency_key IS NULL) <> (NEW.request_hash IS NULL)
        OR NEW.fence NOT IN (0, 1) OR NEW.take_over_count <> 0
        OR (NEW.parent_id IS NULL) <> (NEW.parent_ordinal IS NULL)
        OR (NEW.parent_id IS NULL) <> (NEW.root_id IS NULL)
        OR (NEW.parent_id IS NULL) <> (NEW.call_path IS NULL)
      THEN
        PERFORM public.refuse_row('executions', 'executions_sound', 'check_violation',
          'An execution has a known durability and mode, and an idempotency key with the hash of its request.');
      END IF;
      
  IF NEW.status NOT IN ('pending', 'running', 'waiting', 'paused', 'completed', 'escalated', 'cancelled')
    OR (NEW.status = 'completed') <> (NEW.outcome IS NOT NULL)
    OR NEW.outcome NOT IN ('resolved', 'declined')
    OR (NEW.status = 'escalated' AND NEW.reason IS NULL)
    OR (NEW.status IN ('completed', 'escalated', 'cancelled')) <> (NEW.ended_at IS NOT NULL)
  THEN
    PERFORM public.refuse_row('executions', 'executions_sound', 'check_violation',
      'The status of an execution fits its outcome, its reason and its end.');
  END IF;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_experience()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      IF EXISTS (
        SELECT FROM public.erased_records r
        WHERE r.tenant_id = NEW.tenant_id AND r.execution_id = NEW.execution_id
      ) THEN
        PERFORM public.refuse_row('experiences', 'experiences_of_erased', 'restrict_violation',
          'Of a run that was erased nothing is remembered.');
      END IF;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_gap()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      personal CONSTANT text[] := ARRAY['ticket', 'customer_id', 'idempotency_key', 'request_hash'];
    BEGIN
      IF to_jsonb(NEW) - personal = to_jsonb(OLD) - personal
        AND NEW.ticket = '{}' AND num_nonnulls(NEW.customer_id, NEW.idempotency_key, NEW.request_hash) = 0
        AND public.is_being_erased(NEW.tenant_id, NEW.escalation_id)
      THEN
        RETURN NULL;
      END IF;
      PERFORM public.refuse_row('coverage_gaps', 'coverage_gaps_kept', 'restrict_violation',
        'A gap in coverage stays as it was found.');
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_proposal()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      IF OLD.status = 'open' AND NEW.status IN ('accepted', 'dismissed')
        AND (NEW.definition, NEW.evidence, NEW.erased_at) IS NOT DISTINCT FROM (OLD.definition, OLD.evidence, OLD.erased_at)
        AND (NEW.status = 'dismissed' OR OLD.erased_at IS NULL)
      THEN
        RETURN NEW;
      END IF;
      IF OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL
        AND (NEW.status, NEW.decided_by, NEW.decided_at, NEW.version_id) IS NOT DISTINCT FROM
          (OLD.status, OLD.decided_by, OLD.decided_at, OLD.version_id)
        AND num_nonnulls(NEW.definition, NEW.reason) = 0 AND NEW.evidence = public.erased_evidence(OLD.evidence)
        AND EXISTS (SELECT FROM public.erasures x WHERE x.tenant_id = NEW.tenant_id AND x.ended_at IS NULL)
      THEN
        RETURN NEW;
      END IF;
      PERFORM public.refuse_row('proposals', 'proposals_decided_once', 'restrict_violation',
        'A proposal is accepted or dismissed once, and what it says stays as it was.');
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_proposed_version()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      IF NOT EXISTS (
        SELECT FROM public.proposals p
        WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.proposal_id AND p.status = 'accepted'
          AND p.version_id = NEW.id AND p.decided_by ->> 'id' = ANY (NEW.author_ids)
      ) THEN
        PERFORM public.refuse_row('procedure_versions', 'procedure_versions_of_accepted', 'restrict_violation',
          'A draft comes from a proposal that was accepted for it, and who accepted that is its author.');
      END IF;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_reply()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      -- The reference to the execution has waited for whoever was erasing it, so this sees what became of that.
      IF TG_OP = 'INSERT' THEN
        IF EXISTS (
          SELECT FROM public.erased_records r
          WHERE r.tenant_id = NEW.tenant_id AND r.execution_id = NEW.execution_id
        ) THEN
          PERFORM public.refuse_row('replies', 'replies_of_erased', 'restrict_violation',
            'A run that was erased is not answered any more.');
        END IF;
        RETURN NULL;
      END IF;
      IF to_jsonb(NEW) - ARRAY['text', 'facts', 'verification'] = to_jsonb(OLD) - ARRAY['text', 'facts', 'verification']
        AND NEW.text = '' AND NEW.facts = '[]' AND NEW.verification = '{}'
        AND public.is_being_erased(NEW.tenant_id, NEW.execution_id)
      THEN
        RETURN NULL;
      END IF;
      PERFORM public.refuse_row('replies', 'replies_kept', 'restrict_violation', 'What was sent never changes.');
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_salt()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      IF NOT public.is_being_erased(OLD.tenant_id, OLD.execution_id) THEN
        PERFORM public.refuse_row('record_salts', 'record_salts_kept', 'restrict_violation',
          'What was sealed never changes.');
      END IF;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_scenario()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      changed public.scenarios;
      status text;
    BEGIN
      changed := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
      SELECT v.status INTO status FROM public.procedure_versions v
        WHERE v.tenant_id = changed.tenant_id AND v.id = changed.version_id
        FOR SHARE;
      IF status <> 'draft' THEN
        PERFORM public.refuse_row('scenarios', 'scenarios_of_draft', 'restrict_violation',
          'Only the scenarios of a draft can be changed; make a new version instead.');
      END IF;
      RETURN changed;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_sensitive_value()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      IF to_jsonb(NEW) - ARRAY['salt', 'value'] = to_jsonb(OLD) - ARRAY['salt', 'value']
        AND NEW.salt = '' AND NEW.value = ''
        AND public.is_being_erased(NEW.tenant_id, NEW.execution_id)
      THEN
        RETURN NULL;
      END IF;
      PERFORM public.refuse_row('sensitive_values', 'sensitive_values_kept', 'restrict_violation',
        'A sensitive value never changes.');
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_step()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      IF NEW.ordinal < 1 OR NEW.attempt < 0
        OR NEW.status NOT IN ('running', 'waiting', 'completed', 'failed', 'skipped', 'expired', 'denied')
        OR (NEW.status IN ('running', 'waiting')) <> (NEW.ended_at IS NULL)
      THEN
        PERFORM public.refuse_row('step_executions', 'step_executions_sound', 'check_violation',
          'The status of a step fits its end, and ordinal and attempt are counted.');
      END IF;
      IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;
      IF OLD.status NOT IN ('running', 'waiting') THEN
        IF public.is_erasure_of_step(OLD, NEW) THEN RETURN NULL; END IF;
        PERFORM public.refuse_row('step_executions', 'step_executions_finished', 'restrict_violation',
          'A finished step never changes.');
      END IF;
      -- A step that waited may begin, once it was confirmed; one that runs never waits again.
      IF NEW.attempt < OLD.attempt OR NEW.revision < OLD.revision
        OR (NEW.status = 'waiting' AND OLD.status <> 'waiting')
      THEN
        PERFORM public.refuse_row('step_executions', 'step_executions_only_forward', 'restrict_violation',
          'Attempt, revision and status of a step never go back.');
      END IF;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_step_identity()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN
      IF NOT public.is_erasure_of_step(OLD, NEW) THEN
        PERFORM public.refuse_row('step_executions', TG_NAME, 'restrict_violation',
          'What a step was begun with never changes.');
      END IF;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.guard_ticket_vector()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      PERFORM FROM public.escalations x
        WHERE x.tenant_id = NEW.tenant_id AND x.id = NEW.escalation_id AND x.ticket IS NOT NULL FOR KEY SHARE;
      IF NOT FOUND THEN
        PERFORM public.refuse_row('ticket_embeddings', 'ticket_embeddings_of_tickets', 'restrict_violation',
          'A vector is kept of a ticket that is there.');
      END IF;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.has_written(of_tenant text, who text, definition_hash text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT EXISTS (
        SELECT FROM public.audit_events e
        WHERE e.tenant_id = of_tenant AND e.after_hash = definition_hash AND e.actor_id = who
          AND e.action IN ('version.created', 'version.edited')
          -- A copy has its authors from what it is a copy of.
          AND e.details::jsonb ->> 'basedOn' IS NULL)
    $function$
  OWNER stepwarden_owner

FUNCTION public.hold_executions()
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE held bigint;
    BEGIN
      UPDATE public.executions e
      SET status = 'paused', pause_requested_at = coalesce(e.pause_requested_at, clock_timestamp()), wake_at = NULL,
        worker_id = NULL, fence = e.fence + 1, revision = e.revision + 1
      WHERE e.ended_at IS NULL AND e.status <> 'paused';
      GET DIAGNOSTICS held = ROW_COUNT;
      DELETE FROM public.execution_holds;
      RETURN held;
    END
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.is_being_erased(of_tenant text, of_id text)
 RETURNS boolean
 LANGUAGE sql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT EXISTS (
        SELECT FROM public.erased_records r
        WHERE r.tenant_id = of_tenant AND r.execution_id = of_id AND r.xmin = pg_current_xact_id()::xid
      ) OR EXISTS (
        SELECT FROM public.erased_tickets t
        WHERE t.tenant_id = of_tenant AND t.escalation_id = of_id AND t.xmin = pg_current_xact_id()::xid
      )
    $function$
  OWNER stepwarden_owner

FUNCTION public.is_erasure_of_run(old_row executions, new_row executions)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
    DECLARE
      personal CONSTANT text[] := ARRAY['input', 'ticket', 'context', 'customer_id', 'ticket_id', 'on_behalf_of',
        'idempotency_key', 'request_hash', 'reason', 'result', 'conditions', 'selection'];
    BEGIN
      RETURN to_jsonb(new_row) - personal = to_jsonb(old_row) - personal
        AND old_row.ended_at IS NOT NULL
        AND new_row.input = '{}'
        AND num_nonnulls(new_row.ticket, new_row.context, new_row.customer_id, new_row.ticket_id,
          new_row.on_behalf_of, new_row.idempotency_key, new_row.request_hash, new_row.result,
          new_row.conditions, new_row.selection) = 0
        AND new_row.reason IS NOT DISTINCT FROM public.erased_reason(old_row.reason)
        AND public.is_being_erased(new_row.tenant_id, new_row.id);
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.is_erasure_of_step(old_row step_executions, new_row step_executions)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
    DECLARE
      personal CONSTANT text[] := ARRAY['input', 'output', 'error', 'attempts', 'exchange'];
    BEGIN
      RETURN to_jsonb(new_row) - personal = to_jsonb(old_row) - personal
        AND num_nonnulls(new_row.input, new_row.output, new_row.error, new_row.attempts, new_row.exchange) = 0
        AND public.is_being_erased(new_row.tenant_id, new_row.execution_id);
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.living_workers()
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT w.id FROM public.workers w
      WHERE w.lease_until >= clock_timestamp() AND EXISTS (
        SELECT FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.granted
          AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
          AND l.classid::bigint = w.lock_key >> 32 AND l.objid::bigint = w.lock_key & 4294967295
          AND l.objsubid = 1)
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system

FUNCTION public.netstring(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT CASE WHEN value IS NULL THEN '~' ELSE octet_length(value) || ':' || value || ',' END
    $function$
  OWNER stepwarden_owner

FUNCTION public.new_audit_id(at timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      alphabet constant text := '0123456789abcdefghjkmnpqrstvwxyz';
      rest bigint := floor(extract(epoch FROM at) * 1000)::bigint;
      bytes constant bytea := uuid_send(gen_random_uuid());
      id text := '';
    BEGIN
      FOR place IN 1..9 LOOP
        id := substr(alphabet, (rest % 32)::integer + 1, 1) || id;
        rest := rest / 32;
      END LOOP;
      -- Bytes 6 and 8 of a UUID are not all random.
      FOREACH rest IN ARRAY ARRAY[0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13] LOOP
        id := id || substr(alphabet, get_byte(bytes, rest::integer) % 32 + 1, 1);
      END LOOP;
      RETURN 'aud_' || id;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.pass_on_experience()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      next_id text;
      next_echo text;
    BEGIN
      SELECT min(x.id) INTO next_id FROM public.experiences x
        WHERE x.tenant_id = OLD.tenant_id AND x.repeats_id = OLD.id;
      IF next_id IS NOT NULL THEN
        UPDATE public.experiences x
          SET repeats_id = CASE WHEN x.id = next_id THEN NULL ELSE next_id END,
            echoes_id = CASE WHEN x.id = next_id THEN OLD.echoes_id ELSE x.echoes_id END,
            repeat_count = CASE WHEN x.id = next_id THEN x.repeat_count + OLD.repeat_count ELSE x.repeat_count END
          WHERE x.tenant_id = OLD.tenant_id AND x.repeats_id = OLD.id;
        UPDATE public.experiences x SET echoes_id = next_id
          WHERE x.tenant_id = OLD.tenant_id AND x.echoes_id = OLD.id;
        RETURN NULL;
      END IF;
      SELECT min(x.id) INTO next_echo FROM public.experiences x
        WHERE x.tenant_id = OLD.tenant_id AND x.echoes_id = OLD.id;
      IF next_echo IS NOT NULL THEN
        UPDATE public.experiences x
          SET echoes_id = CASE WHEN x.id = next_echo THEN NULL ELSE next_echo END
          WHERE x.tenant_id = OLD.tenant_id AND x.echoes_id = OLD.id;
      END IF;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.prune_webhook_deliveries(at_time timestamp with time zone, before timestamp with time zone, most integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE pruned bigint;
    BEGIN
      DELETE FROM public.webhook_secrets s WHERE s.expires_at <= at_time;
      DELETE FROM public.webhook_deliveries d USING (
          SELECT o.tenant_id, o.id FROM public.webhook_deliveries o
          WHERE o.at < before OR NOT EXISTS (
            SELECT FROM public.webhooks w WHERE w.tenant_id = o.tenant_id AND w.id = o.webhook_id)
          LIMIT most
          FOR UPDATE SKIP LOCKED
        ) old
        WHERE d.tenant_id = old.tenant_id AND d.id = old.id;
      GET DIAGNOSTICS pruned = ROW_COUNT;
      RETURN pruned;
    END
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.refuse()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      RAISE EXCEPTION USING
        ERRCODE = 'restrict_violation',
        SCHEMA = TG_TABLE_SCHEMA,
        TABLE = TG_TABLE_NAME,
        CONSTRAINT = TG_NAME,
        MESSAGE = TG_ARGV[0];
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.refuse_issued_key()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      -- Whoever an old snapshot does not show is none that is known to have come without.
      IF NOT EXISTS (SELECT FROM public.principals p
        WHERE p.tenant_id = NEW.tenant_id AND p.id = NEW.principal_id AND p.token_issued_at IS NULL) THEN
        PERFORM public.refuse_row('api_keys', 'api_keys_of_admins', 'restrict_violation',
          'Keys are for whom an admin has made, not for who comes with tokens.');
      END IF;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.refuse_row(table_name text, guard text, code text, message text)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      RAISE EXCEPTION USING ERRCODE = code, SCHEMA = 'public', TABLE = table_name, CONSTRAINT = guard,
        MESSAGE = message;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.release_executions(own_worker text, OUT released bigint, OUT suspects boolean)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      WITH lost AS (
        SELECT e.tenant_id, e.id FROM public.executions e
        WHERE e.status IN ('pending', 'running') AND e.worker_id IS NOT NULL AND e.worker_id <> own_worker
          AND e.worker_id NOT IN (SELECT public.living_workers())
        FOR NO KEY UPDATE OF e SKIP LOCKED
      )
      UPDATE public.executions e
      SET worker_id = NULL, fence = e.fence + 1, take_over_count = e.take_over_count + 1, revision = e.revision + 1
      FROM lost WHERE e.tenant_id = lost.tenant_id AND e.id = lost.id;
      GET DIAGNOSTICS released = ROW_COUNT;
      DELETE FROM public.workers w WHERE w.lease_until < clock_timestamp() - interval '10 minutes';
      suspects := EXISTS (
        SELECT FROM public.executions e
        WHERE e.status IN ('pending', 'running') AND e.worker_id IS NULL AND e.take_over_count >= 2
      );
    END
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.require_read_committed()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM public.refuse_row(TG_TABLE_NAME, 'read_committed', 'restrict_violation',
          'What goes live is changed in transactions that are READ COMMITTED, so that they see what others have done.');
      END IF;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.serve_vector()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      SELECT CASE WHEN v.status = 'active' AND NOT v.internal THEN v.category END INTO NEW.served_in
      FROM public.procedure_versions v
      WHERE v.tenant_id = NEW.tenant_id AND v.id = NEW.version_id
      FOR SHARE;
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.serve_version()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      -- The trigger of the vectors sets the value.
      UPDATE public.version_embeddings SET served_in = NULL
        WHERE tenant_id = NEW.tenant_id AND version_id = NEW.id;
      IF NEW.status <> 'active' THEN
        DELETE FROM public.literal_patterns WHERE tenant_id = NEW.tenant_id AND version_id = NEW.id;
      END IF;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.stamp_review()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      version public.procedure_versions;
    BEGIN
      SELECT * INTO version FROM public.procedure_versions v
        WHERE v.tenant_id = NEW.tenant_id AND v.id = NEW.version_id AND v.procedure_id = NEW.procedure_id
        FOR SHARE;
      IF version.id IS NULL OR (NEW.verdict <> 'comment' AND version.status <> 'draft') THEN
        PERFORM public.refuse_row('reviews', 'reviews_of_draft', 'restrict_violation',
          'A verdict is given on a draft.');
      END IF;
      IF NEW.verdict = 'approve' AND (NEW.reviewer_id = ANY (version.author_ids)
        OR public.has_written(NEW.tenant_id, NEW.reviewer_id, version.definition_hash))
      THEN
        PERFORM public.refuse_row('reviews', 'reviews_of_others', 'restrict_violation',
          'Nobody approves their own work.');
      END IF;
      NEW.content := public.version_content(version);
      RETURN NEW;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.stopping_switch(of_tenant text, of_procedure text, contracts jsonb, own_pins jsonb)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
      SELECT k.id FROM public.kill_switches k
      WHERE k.tenant_id = of_tenant AND k.lifted_at IS NULL
        AND CASE k.kind
          WHEN 'procedure' THEN k.name = of_procedure
          ELSE contracts ? k.name OR EXISTS (
            SELECT FROM jsonb_each(own_pins) p
            JOIN public.procedure_versions v ON v.tenant_id = of_tenant AND v.id = p.value ->> 'versionId'
            WHERE v.tool_contracts ? k.name)
        END
      ORDER BY k.engaged_at, k.id
      LIMIT 1
    $function$
  OWNER stepwarden_owner

FUNCTION public.tell_act()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      said jsonb;
      told jsonb := '{}';
      escalation public.escalations;
      subject text;
    BEGIN
      IF NEW.action NOT IN ('escalation.assigned', 'escalation.resolved', 'version.reviewed', 'version.activated',
        'version.deprecated', 'activation.refused', 'procedure.stopped', 'procedure.allowed', 'tool.stopped',
        'tool.allowed', 'proposal.made', 'proposal.accepted', 'proposal.dismissed')
      THEN
        RETURN NULL;
      END IF;
      IF NOT EXISTS (SELECT FROM public.webhooks w WHERE w.tenant_id = NEW.tenant_id) THEN RETURN NULL; END IF;
      IF NEW.entity_kind = 'escalation' THEN
        SELECT * INTO escalation FROM public.escalations x WHERE x.tenant_id = NEW.tenant_id AND x.id = NEW.entity_id;
        told := public.told_escalation(escalation);
        subject := coalesce(escalation.execution_id, escalation.id);
      ELSE
        said := NEW.details::jsonb;
        -- Of what stands there only what names things: reasons and comments are free text.
        SELECT coalesce(jsonb_object_agg(d.key, d.value), '{}') INTO told FROM jsonb_each(said) d
          WHERE d.key IN ('procedureKey', 'versionNumber', 'replaced', 'verdict', 'tool', 'scheduleId', 'code')
            OR (NEW.entity_kind = 'proposal' AND d.key IN ('kind', 'versionId'));
        IF NEW.entity_kind = 'version' THEN told := told || jsonb_build_object('versionId', NEW.entity_id); END IF;
        IF NEW.entity_kind = 'proposal' THEN
          told := told || jsonb_build_object('proposalId', NEW.entity_id);
          subject := NEW.entity_id;
        ELSE
          subject := coalesce(said ->> 'procedureKey', said ->> 'tool', NEW.entity_id);
        END IF;
      END IF;
      PERFORM public.tell_webhooks(NEW.tenant_id, NEW.action, coalesce(subject, NEW.entity_id), NEW.at,
        told || jsonb_build_object('auditSeq', NEW.seq));
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.tell_escalation()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      IF EXISTS (SELECT FROM public.webhooks w WHERE w.tenant_id = NEW.tenant_id) THEN
        PERFORM public.tell_webhooks(NEW.tenant_id, 'escalation.opened', coalesce(NEW.execution_id, NEW.id),
          NEW.opened_at, public.told_escalation(NEW));
      END IF;
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.tell_execution(run executions)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      own jsonb := '{}';
    BEGIN
      -- A run that waits for a moment, or for another run, goes on by itself.
      IF run.status = 'waiting' THEN
        SELECT jsonb_build_object('steps', jsonb_agg(jsonb_build_object('stepKey', s.step_key, 'ordinal', s.ordinal,
            'kind', CASE s.kind WHEN 'tool' THEN 'confirm' ELSE s.kind END) ORDER BY s.ordinal))
          INTO own FROM (
            SELECT w.step_key, w.ordinal, w.kind FROM public.step_executions w
            WHERE w.tenant_id = run.tenant_id AND w.execution_id = run.id AND w.status = 'waiting'
              AND w.kind IN ('ask', 'approval', 'tool')
            ORDER BY w.ordinal LIMIT 20) s;
        IF jsonb_typeof(own -> 'steps') <> 'array' THEN RETURN; END IF;
      ELSIF run.status = 'escalated' THEN
        SELECT jsonb_build_object('escalationId', x.id) INTO own FROM public.escalations x
          WHERE x.tenant_id = run.tenant_id AND x.execution_id = run.id;
      END IF;
      PERFORM public.tell_webhooks(run.tenant_id, 'execution.' || run.status, run.id,
        coalesce(run.ended_at, clock_timestamp()),
        jsonb_build_object('executionId', run.id, 'procedureKey', run.procedure_key, 'versionId', run.version_id,
          'versionNumber', run.version_number, 'status', run.status, 'outcome', run.outcome,
          'reasonCode', run.reason_code, 'parentId', run.parent_id, 'revision', run.revision)
          || coalesce(own, '{}'));
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.tell_governance()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    DECLARE
      tag constant text := current_setting('stepwarden.tenant', true);
      tenant text;
    BEGIN
      FOR tenant IN SELECT t FROM public.tenant_ids() t LOOP
        PERFORM set_config('stepwarden.tenant', tenant, true);
        INSERT INTO public.audit_events (tenant_id, id, at, actor_id, actor_kind, actor, action, entity_kind,
            entity_id, details, origin, ungoverned)
          VALUES (tenant, public.new_audit_id(clock_timestamp()), clock_timestamp(), 'deployment', 'service',
            '{"groups":[],"id":"deployment","kind":"service","roles":[],"tenantId":"' || tenant || '"}',
            'governance.changed', 'tenant', tenant,
            '{"before":' || OLD.required_approvals || ',"requiredApprovals":' || NEW.required_approvals || '}',
            'deployment', NEW.required_approvals = 0);
      END LOOP;
      PERFORM set_config('stepwarden.tenant', coalesce(tag, ''), true);
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.tell_lessons()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      PERFORM public.tell_webhooks(NEW.tenant_id, 'lessons.updated', 'lessons:' || NEW.task_tag, NEW.updated_at,
        jsonb_build_object('taskTag', NEW.task_tag, 'entryCount', NEW.entry_count, 'revision', NEW.revision));
      RETURN NULL;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.tell_webhooks(of_tenant text, of_type text, of_subject text, of_at timestamp with time zone, of_data jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
    BEGIN
      INSERT INTO public.webhook_deliveries (tenant_id, id, webhook_id, type, subject, at, data, due_at)
      SELECT of_tenant, 'dlv_' || substr(public.new_audit_id(clock_timestamp()), 5), w.id, of_type, of_subject, of_at,
        jsonb_build_object('tenantId', of_tenant) || of_data, clock_timestamp()
      FROM public.webhooks w
      WHERE w.tenant_id = of_tenant AND (w.events IS NULL OR of_type = ANY (w.events))
      ORDER BY w.id;
    END
    $function$
  OWNER stepwarden_owner

FUNCTION public.tenant_ids()
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT id FROM public.tenants ORDER BY id
    $function$
  OWNER stepwarden_system GRANTED TO PUBLIC, stepwarden_system

FUNCTION public.tenants_beyond_scan(of_model text, more_than integer)
 RETURNS TABLE(tenant_id text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT t.id FROM public.tenants t
      WHERE (
        SELECT count(*) FROM (
          SELECT FROM public.experience_embeddings e
          WHERE e.tenant_id = t.id AND e.model = of_model LIMIT more_than + 1
        ) counted
      ) > more_than
      ORDER BY t.id
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.tenants_to_checkpoint(after_events bigint, after_time interval)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT h.tenant_id FROM public.audit_heads h LEFT JOIN LATERAL (
          SELECT c.seq, c.at FROM public.checkpoints c WHERE c.tenant_id = h.tenant_id
          ORDER BY c.seq DESC LIMIT 1
        ) last ON true
      WHERE h.seq > coalesce(last.seq, 0)
        AND (last.seq IS NULL OR h.seq - last.seq >= after_events
          OR last.at < clock_timestamp() - after_time)
      ORDER BY h.tenant_id
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.tenants_to_learn(needed text, pruned_before timestamp with time zone)
 RETURNS TABLE(tenant_id text, has_runs boolean, lacks_vectors boolean, is_pruning_due boolean)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT * FROM (
        SELECT t.id,
          EXISTS (
            SELECT FROM public.sealed_records r
            WHERE r.tenant_id = t.id
              AND (r.seal_number, r.position) > (coalesce(c.seal_number, 0), coalesce(c.position, 0))) AS has_runs,
          EXISTS (
            SELECT FROM public.experiences x WHERE x.tenant_id = t.id AND x.embedded_with < needed)
          OR EXISTS (
            SELECT FROM public.experiences x WHERE x.tenant_id = t.id AND x.embedded_with > needed) AS lacks_vectors,
          (c.pruned_at IS NULL OR c.pruned_at < pruned_before)
            AND EXISTS (SELECT FROM public.experiences x WHERE x.tenant_id = t.id) AS is_pruning_due
        FROM public.tenants t LEFT JOIN public.experience_cursors c ON c.tenant_id = t.id
      ) s
      WHERE s.has_runs OR s.lacks_vectors OR s.is_pruning_due
      ORDER BY s.id
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.tenants_to_seal()
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT t.id FROM public.tenants t LEFT JOIN public.seal_cursors c ON c.tenant_id = t.id
      WHERE EXISTS (
          SELECT FROM public.executions e
          WHERE e.tenant_id = t.id AND e.id > coalesce(c.walked_to, ''))
        OR EXISTS (
          SELECT FROM public.seal_waiting w JOIN public.executions e
            ON e.tenant_id = w.tenant_id AND e.id = w.execution_id
          WHERE w.tenant_id = t.id AND e.ended_at IS NOT NULL)
      ORDER BY t.id
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.tenants_with_retention()
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT t.id FROM public.tenants t WHERE t.retention_days IS NOT NULL ORDER BY t.id
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.told_escalation(item escalations)
 RETURNS jsonb
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT jsonb_build_object('escalationId', item.id, 'executionId', item.execution_id, 'status', item.status,
        'reasonCode', item.reason_code, 'queue', item.queue, 'priority', item.priority)
    $function$
  OWNER stepwarden_owner

FUNCTION public.unsettled_switches(max integer)
 RETURNS TABLE(tenant_id text, id text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT k.tenant_id, k.id FROM public.kill_switches k WHERE NOT k.is_settled ORDER BY 1, 2 LIMIT max
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app

FUNCTION public.version_content(version procedure_versions)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT encode(sha256(convert_to(jsonb_build_array(version.definition, version.tool_contracts, (
        SELECT coalesce(jsonb_agg(s.scenario ORDER BY s.position), '[]') FROM public.scenarios s
          WHERE s.tenant_id = version.tenant_id AND s.version_id = version.id
      ))::text, 'UTF8')), 'hex')
    $function$
  OWNER stepwarden_owner

FUNCTION public.versions_without_vector(of_model text, after_tenant text, after_version text, max integer)
 RETURNS TABLE(tenant_id text, version_id text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
      SELECT v.tenant_id, v.id
      FROM public.procedure_versions v
      WHERE (v.tenant_id, v.id) > (after_tenant, after_version)
        AND NOT EXISTS (
          SELECT FROM public.version_embeddings e
          WHERE e.tenant_id = v.tenant_id AND e.model = of_model AND e.version_id = v.id
            AND e.text_hash = encode(sha256(convert_to(v.purpose, 'UTF8')), 'hex'))
      ORDER BY v.tenant_id, v.id
      LIMIT max
    $function$
  OWNER stepwarden_system GRANTED TO stepwarden_system, stepwarden_app
