-- SPDX-License-Identifier: GPL-2.0-or-later
-- gpubpf.sql.1: views over a trace of `gpubpf timeline` (schema gpubpf.timeline.1, Perfetto's format).
--
-- Load it with the trace: `trace_processor_shell -q THIS trace`, or paste it into the query page of ui.perfetto.dev; then ask, for
-- instance, SELECT * FROM gpubpf_kernel ORDER BY total_ns DESC.
--
-- Columns keep their meaning within this version; new ones may come. A column that ends in _ns holds durations and nothing else.
-- What nobody measured is NULL, with 1 in the column of that name with _unmeasured behind it; NULL without that: there is none.
-- `ts` is where the trace shows something, in the clock of the trace. Numbers of calls (call_for_work) are those of one capture:
-- gpubpf_join is for one trace at a time.

-- ---- What it is made of ----

-- Per slice or instant of gpubpf: timed is 1 where both its ends were measured.
CREATE OR REPLACE PERFETTO VIEW gpubpf_event AS
SELECT
  id,
  ts,
  dur,
  track_id,
  category,
  name,
  depth,
  arg_set_id,
  EXTRACT_ARG(arg_set_id, 'debug.clock_domain') AS clock_domain,
  EXTRACT_ARG(arg_set_id, 'debug.timing_source') AS timing_source,
  EXTRACT_ARG(arg_set_id, 'debug.timing_quality') AS timing_quality,
  EXTRACT_ARG(arg_set_id, 'debug.timing_quality')
    IN ('measured', 'within device_clock_error_ns') AS timed
FROM slice
WHERE EXTRACT_ARG(arg_set_id, 'debug.timing_quality') IS NOT NULL;

-- Per track: whose it is; own_tid: a thread as its own pid namespace numbers it, which is not tid. Device, context and stream stand in the names of it and those above it.
CREATE OR REPLACE PERFETTO VIEW gpubpf_track AS
WITH RECURSIVE
  above(track_id, name, parent_id) AS (
    SELECT id, name, parent_id FROM track
    UNION ALL
    SELECT a.track_id, t.name, t.parent_id
    FROM above AS a
    JOIN track AS t ON t.id = a.parent_id
  ),
  place AS (
    SELECT
      track_id,
      MAX(CASE WHEN name GLOB 'GPU [0-9]*' THEN CAST(SUBSTR(name, 5) AS INTEGER) END) AS device,
      MAX(CASE WHEN name GLOB 'context [0-9]*' THEN CAST(SUBSTR(name, 9) AS INTEGER) END) AS context,
      MAX(CASE WHEN name GLOB 'stream [0-9]*' THEN CAST(SUBSTR(name, 8) AS INTEGER) END) AS stream,
      MAX(CASE WHEN name GLOB 'NVTX, thread [0-9]*' THEN CAST(SUBSTR(name, 14) AS INTEGER) END) AS own_tid
    FROM above
    GROUP BY track_id
  )
SELECT
  t.id AS track_id,
  t.name,
  th.utid,
  th.tid,
  p.upid,
  p.pid,
  p.name AS process,
  place.device,
  place.context,
  place.stream,
  place.own_tid
FROM track AS t
JOIN place ON place.track_id = t.id
LEFT JOIN thread_track AS tt ON tt.id = t.id
LEFT JOIN thread AS th ON th.utid = tt.utid
LEFT JOIN process_track AS pt ON pt.id = t.id
LEFT JOIN process_counter_track AS pct ON pct.id = t.id
LEFT JOIN process AS p ON p.upid = COALESCE(th.upid, pt.upid, pct.upid);

-- ---- The capture ----

-- A row per trace of gpubpf that is loaded: its manifest. calls are those of the capture that returned.
CREATE OR REPLACE PERFETTO VIEW gpubpf_capture AS
SELECT
  id,
  EXTRACT_ARG(arg_set_id, 'debug.capture_id') AS capture_id,
  EXTRACT_ARG(arg_set_id, 'debug.schema') AS trace_schema,
  EXTRACT_ARG(arg_set_id, 'debug.exporter') AS exporter,
  EXTRACT_ARG(arg_set_id, 'debug.capture_written_by') AS written_by,
  EXTRACT_ARG(arg_set_id, 'debug.verdict') AS verdict,
  EXTRACT_ARG(arg_set_id, 'debug.wall_time') AS wall_time,
  EXTRACT_ARG(arg_set_id, 'debug.wall_time') IS NULL AS wall_time_unmeasured,
  EXTRACT_ARG(arg_set_id, 'debug.capture_bytes') AS capture_bytes,
  EXTRACT_ARG(arg_set_id, 'debug.capture_records') AS capture_records,
  EXTRACT_ARG(arg_set_id, 'debug.clock_pairs') AS clock_pairs,
  EXTRACT_ARG(arg_set_id, 'debug.device_clock_error_ns') AS device_clock_error_ns,
  EXTRACT_ARG(arg_set_id, 'debug.device_clock_error_ns') IS NULL AS device_clock_error_ns_unmeasured,
  CASE WHEN EXTRACT_ARG(arg_set_id, 'debug.absent_host_observer') IS NULL
    THEN EXTRACT_ARG(arg_set_id, 'debug.calls') END AS calls,
  EXTRACT_ARG(arg_set_id, 'debug.absent_host_observer') IS NOT NULL AS calls_unmeasured,
  EXTRACT_ARG(arg_set_id, 'debug.kernels') AS kernels,
  EXTRACT_ARG(arg_set_id, 'debug.kernels') IS NULL AS kernels_unmeasured,
  EXTRACT_ARG(arg_set_id, 'debug.copies') AS copies,
  EXTRACT_ARG(arg_set_id, 'debug.copies') IS NULL AS copies_unmeasured,
  EXTRACT_ARG(arg_set_id, 'debug.sets') AS sets,
  EXTRACT_ARG(arg_set_id, 'debug.sets') IS NULL AS sets_unmeasured,
  EXTRACT_ARG(arg_set_id, 'debug.calls_events') AS call_events,
  EXTRACT_ARG(arg_set_id, 'debug.gpu_slice_events') AS dispatch_events,
  EXTRACT_ARG(arg_set_id, 'debug.counter_events') AS counter_events,
  EXTRACT_ARG(arg_set_id, 'debug.nvtx_events') AS nvtx_events,
  EXTRACT_ARG(arg_set_id, 'debug.nvtx_events') IS NULL AS nvtx_events_unmeasured,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.nvtx_without_a_moment'), 0) AS nvtx_not_shown,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.executions_without_a_moment'), 0) AS dispatches_not_shown,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.device_records_not_shown'), 0) AS device_records_not_shown,
  EXTRACT_ARG(arg_set_id, 'debug.absent_host_observer') AS absent_host_observer,
  EXTRACT_ARG(arg_set_id, 'debug.absent_device_observer') AS absent_device_observer,
  EXTRACT_ARG(arg_set_id, 'debug.absent_latency') AS absent_latency,
  EXTRACT_ARG(arg_set_id, 'debug.absent_nvtx') AS absent_nvtx,
  EXTRACT_ARG(arg_set_id, 'debug.absent_footer') AS absent_footer,
  EXTRACT_ARG(arg_set_id, 'debug.absent_wall_clock') AS absent_wall_clock,
  EXTRACT_ARG(arg_set_id, 'debug.left_out') AS left_out
FROM gpubpf_event
WHERE category = 'skeleton' AND name = 'manifest';

-- One row per trace, and one where none is of gpubpf: fits is 1 where this module was made for its schema.
CREATE OR REPLACE PERFETTO VIEW gpubpf_module AS
SELECT
  'gpubpf.sql.1' AS module,
  1 AS version,
  'gpubpf.timeline.1' AS made_for,
  c.capture_id,
  c.trace_schema,
  c.trace_schema IS 'gpubpf.timeline.1' AS fits
FROM (SELECT 1 AS one)
LEFT JOIN gpubpf_capture AS c ON one = 1;

-- ---- Calls ----

-- Per call of an entry point. result is the CUresult: 0 is success. call_for_work: its number among those that ask for work,
-- NULL for others; executions: what ran for it, timed or not; on_device: what became of it there.
CREATE OR REPLACE PERFETTO VIEW gpubpf_call AS
SELECT
  e.id,
  e.ts,
  CASE WHEN e.timed THEN COALESCE(EXTRACT_ARG(e.arg_set_id, 'debug.duration_ns'), e.dur) END AS duration_ns,
  NOT e.timed AND e.timing_quality <> 'entry measured, had not returned' AS duration_ns_unmeasured,
  e.name,
  e.depth,
  t.upid,
  t.pid,
  t.utid,
  t.tid,
  e.track_id,
  EXTRACT_ARG(e.arg_set_id, 'debug.result') AS result,
  EXTRACT_ARG(e.arg_set_id, 'debug.result') IS NULL
    AND e.timing_quality <> 'entry measured, had not returned' AS result_unmeasured,
  EXTRACT_ARG(e.arg_set_id, 'debug.kernel') AS kernel,
  EXTRACT_ARG(e.arg_set_id, 'debug.bytes') AS bytes,
  COALESCE(EXTRACT_ARG(e.arg_set_id, 'debug.captured'), 0) AS captured,
  EXTRACT_ARG(e.arg_set_id, 'debug.call_for_work') AS call_for_work,
  EXTRACT_ARG(e.arg_set_id, 'debug.executions') AS executions,
  EXTRACT_ARG(e.arg_set_id, 'debug.call_for_work') IS NOT NULL
    AND EXTRACT_ARG(e.arg_set_id, 'debug.executions') IS NULL AS executions_unmeasured,
  COALESCE(
    EXTRACT_ARG(e.arg_set_id, 'debug.on_device'),
    CASE WHEN EXTRACT_ARG(e.arg_set_id, 'debug.executions') > 0 THEN 'ran' END) AS on_device,
  EXTRACT_ARG(e.arg_set_id, 'debug.call_for_work') IS NOT NULL
    AND EXTRACT_ARG(e.arg_set_id, 'debug.on_device') IS NULL
    AND COALESCE(EXTRACT_ARG(e.arg_set_id, 'debug.executions'), 0) = 0 AS on_device_unmeasured,
  e.clock_domain,
  e.timing_source,
  e.timing_quality
FROM gpubpf_event AS e
JOIN gpubpf_track AS t ON t.track_id = e.track_id
WHERE e.category = 'call';

-- Per call of a capture of `record --latency`: where its time went. They add up to it; in which order is not known.
CREATE OR REPLACE PERFETTO VIEW gpubpf_call_time AS
SELECT
  id AS call_id,
  name,
  dur AS duration_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.on_cpu_ns'), 0) AS on_cpu_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.runqueue_ns'), 0) AS runqueue_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.throttled_ns'), 0) AS throttled_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.blocked_futex_ns'), 0) AS blocked_futex_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.blocked_ioctl_nvidia_ns'), 0) AS blocked_ioctl_nvidia_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.blocked_ioctl_ns'), 0) AS blocked_ioctl_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.blocked_poll_ns'), 0) AS blocked_poll_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.blocked_sleep_ns'), 0) AS blocked_sleep_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.blocked_page_fault_ns'), 0) AS blocked_page_fault_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.blocked_other_ns'), 0) AS blocked_other_ns,
  COALESCE(EXTRACT_ARG(arg_set_id, 'debug.unaccounted_ns'), 0) AS unaccounted_ns,
  EXTRACT_ARG(arg_set_id, 'debug.irq_of_on_cpu_ns') AS irq_of_on_cpu_ns,
  EXTRACT_ARG(arg_set_id, 'debug.irq_of_on_cpu_ns') IS NULL AS irq_of_on_cpu_ns_unmeasured
FROM gpubpf_event
WHERE category = 'call' AND timed AND EXTRACT_ARG(arg_set_id, 'debug.parts_of_its_time') IS NOT NULL;

-- ---- What ran on devices ----

-- Per execution: kernel, copy, set or graph. This alone is what GPU time is summed over. link: how it is tied to a call.
-- An untimed one has no start and no duration; ts is then the entry of its call. unanchored_duration_ns: by the device's clock,
-- where nothing ties that to the trace's.
CREATE OR REPLACE PERFETTO VIEW gpubpf_dispatch AS
SELECT
  e.id,
  e.ts,
  CASE WHEN e.timed THEN e.ts END AS start_ts,
  NOT e.timed AS start_ts_unmeasured,
  CASE WHEN e.timed THEN COALESCE(EXTRACT_ARG(e.arg_set_id, 'debug.duration_ns'), e.dur) END AS duration_ns,
  NOT e.timed AS duration_ns_unmeasured,
  CASE WHEN NOT e.timed THEN EXTRACT_ARG(e.arg_set_id, 'debug.duration_ns') END AS unanchored_duration_ns,
  CASE
    WHEN EXTRACT_ARG(e.arg_set_id, 'debug.grid_x') IS NOT NULL THEN 'kernel'
    WHEN EXTRACT_ARG(e.arg_set_id, 'debug.direction') IS NOT NULL THEN 'copy'
    WHEN e.name = 'memset' THEN 'set'
    ELSE 'graph'
  END AS kind,
  e.name,
  t.upid,
  t.pid,
  t.device,
  t.context,
  t.stream,
  e.track_id,
  EXTRACT_ARG(e.arg_set_id, 'debug.correlation') AS correlation,
  COALESCE(EXTRACT_ARG(e.arg_set_id, 'debug.link'), 'joined') AS link,
  EXTRACT_ARG(e.arg_set_id, 'debug.call_for_work') AS call_for_work,
  EXTRACT_ARG(e.arg_set_id, 'debug.started_before_its_call_by_ns') AS started_before_its_call_by_ns,
  EXTRACT_ARG(e.arg_set_id, 'debug.graph') AS graph,
  EXTRACT_ARG(e.arg_set_id, 'debug.graph_node') AS graph_node,
  EXTRACT_ARG(e.arg_set_id, 'debug.direction') AS direction,
  EXTRACT_ARG(e.arg_set_id, 'debug.bytes') AS bytes,
  EXTRACT_ARG(e.arg_set_id, 'debug.bytes_per_second') AS bytes_per_second,
  e.arg_set_id,
  e.clock_domain,
  e.timing_source,
  e.timing_quality
FROM gpubpf_event AS e
JOIN gpubpf_track AS t ON t.track_id = e.track_id
WHERE e.category = 'gpu_slice';

CREATE OR REPLACE PERFETTO VIEW gpubpf_dispatch_timed AS
SELECT * FROM gpubpf_dispatch WHERE duration_ns IS NOT NULL;

CREATE OR REPLACE PERFETTO VIEW gpubpf_dispatch_untimed AS
SELECT * FROM gpubpf_dispatch WHERE duration_ns IS NULL;

-- Per kernel and shape: how often it ran and how long. Means and sums are of the timed ones.
CREATE OR REPLACE PERFETTO VIEW gpubpf_kernel AS
WITH k AS (
  SELECT
    name,
    duration_ns,
    EXTRACT_ARG(arg_set_id, 'debug.grid_x') AS grid_x,
    EXTRACT_ARG(arg_set_id, 'debug.grid_y') AS grid_y,
    EXTRACT_ARG(arg_set_id, 'debug.grid_z') AS grid_z,
    EXTRACT_ARG(arg_set_id, 'debug.block_x') AS block_x,
    EXTRACT_ARG(arg_set_id, 'debug.block_y') AS block_y,
    EXTRACT_ARG(arg_set_id, 'debug.block_z') AS block_z,
    EXTRACT_ARG(arg_set_id, 'debug.cluster_x') AS cluster_x,
    EXTRACT_ARG(arg_set_id, 'debug.cluster_y') AS cluster_y,
    EXTRACT_ARG(arg_set_id, 'debug.cluster_z') AS cluster_z,
    EXTRACT_ARG(arg_set_id, 'debug.registers_per_thread') AS registers_per_thread,
    EXTRACT_ARG(arg_set_id, 'debug.static_shared_bytes') AS static_shared_bytes,
    EXTRACT_ARG(arg_set_id, 'debug.dynamic_shared_bytes') AS dynamic_shared_bytes,
    EXTRACT_ARG(arg_set_id, 'debug.local_bytes_per_thread') AS local_bytes_per_thread
  FROM gpubpf_dispatch
  WHERE kind = 'kernel'
)
SELECT
  name,
  grid_x,
  grid_y,
  grid_z,
  block_x,
  block_y,
  block_z,
  cluster_x,
  cluster_y,
  cluster_z,
  registers_per_thread,
  static_shared_bytes,
  dynamic_shared_bytes,
  local_bytes_per_thread,
  COUNT(*) AS executions,
  COUNT(duration_ns) AS timed,
  COUNT(*) - COUNT(duration_ns) AS untimed,
  SUM(duration_ns) AS total_ns,
  COUNT(duration_ns) = 0 AS total_ns_unmeasured,
  CAST(AVG(duration_ns) AS INTEGER) AS mean_ns,
  COUNT(duration_ns) = 0 AS mean_ns_unmeasured,
  MIN(duration_ns) AS min_ns,
  COUNT(duration_ns) = 0 AS min_ns_unmeasured,
  MAX(duration_ns) AS max_ns,
  COUNT(duration_ns) = 0 AS max_ns_unmeasured
FROM k
GROUP BY
  name, grid_x, grid_y, grid_z, block_x, block_y, block_z, cluster_x, cluster_y, cluster_z,
  registers_per_thread, static_shared_bytes, dynamic_shared_bytes, local_bytes_per_thread;

-- ---- The ties between the two ----

-- Per execution that is tied to a call. delay_ns: from the call's entry to its start; NULL where it started before (early_ns).
CREATE OR REPLACE PERFETTO VIEW gpubpf_join AS
WITH
  -- made once, so that they are found by their numbers
  c AS MATERIALIZED (
    SELECT id, ts, name, upid, pid, utid, tid, call_for_work, duration_ns, duration_ns_unmeasured
    FROM gpubpf_call
    WHERE call_for_work IS NOT NULL
  ),
  d AS MATERIALIZED (
    SELECT *
    FROM gpubpf_dispatch
    WHERE call_for_work IS NOT NULL
  )
SELECT
  d.id AS dispatch_id,
  c.id AS call_id,
  d.kind,
  d.name,
  c.name AS call,
  c.upid,
  c.pid,
  c.utid,
  c.tid,
  d.device,
  d.context,
  d.stream,
  c.ts AS call_ts,
  d.start_ts,
  d.start_ts_unmeasured,
  CASE WHEN d.started_before_its_call_by_ns IS NULL THEN d.start_ts - c.ts END AS delay_ns,
  d.start_ts_unmeasured AS delay_ns_unmeasured,
  d.started_before_its_call_by_ns AS early_ns,
  c.duration_ns AS call_duration_ns,
  c.duration_ns_unmeasured AS call_duration_ns_unmeasured,
  d.duration_ns,
  d.duration_ns_unmeasured,
  d.graph
FROM d
JOIN c ON c.call_for_work = d.call_for_work AND c.upid = d.upid;

-- Per call for work that no timed execution is tied to, and per execution without a call: why.
CREATE OR REPLACE PERFETTO VIEW gpubpf_unmatched AS
SELECT
  'call' AS what,
  id,
  ts,
  name,
  upid,
  pid,
  tid,
  NULL AS kind,
  on_device AS reason,
  on_device_unmeasured AS reason_unmeasured
FROM gpubpf_call
WHERE call_for_work IS NOT NULL AND on_device IS NOT 'ran'
UNION ALL
SELECT
  'execution' AS what,
  id,
  ts,
  name,
  upid,
  pid,
  NULL AS tid,
  kind,
  link AS reason,
  0 AS reason_unmeasured
FROM gpubpf_dispatch
WHERE link <> 'joined';

-- ---- What the application says of itself ----

-- Per range or mark that the application gave a name: carrier says by what (nvtx). event: range, mark, or the end of a range
-- without a start. They bind to nothing by their names. gpubpf_capture says why there are none.
CREATE OR REPLACE PERFETTO VIEW gpubpf_semantic AS
SELECT
  e.id,
  e.ts,
  'nvtx' AS carrier,
  EXTRACT_ARG(e.arg_set_id, 'debug.nvtx_event') AS event,
  CASE
    WHEN e.timed AND EXTRACT_ARG(e.arg_set_id, 'debug.nvtx_event') = 'range'
      THEN COALESCE(EXTRACT_ARG(e.arg_set_id, 'debug.duration_ns'), e.dur)
  END AS duration_ns,
  NOT e.timed AS duration_ns_unmeasured,
  e.name,
  EXTRACT_ARG(e.arg_set_id, 'debug.nvtx_domain') AS domain,
  EXTRACT_ARG(e.arg_set_id, 'debug.nvtx_category') AS category,
  EXTRACT_ARG(e.arg_set_id, 'debug.nvtx_payload') AS payload,
  COALESCE(EXTRACT_ARG(e.arg_set_id, 'debug.ended_by_another_thread'), 0) AS ended_by_another_thread,
  t.upid,
  t.pid,
  t.own_tid,
  e.track_id,
  e.clock_domain,
  e.timing_source,
  e.timing_quality
FROM gpubpf_event AS e
JOIN gpubpf_track AS t ON t.track_id = e.track_id
WHERE e.category = 'nvtx';

-- ---- Counters ----

-- Per sample of a counter of gpubpf.
CREATE OR REPLACE PERFETTO VIEW gpubpf_counter AS
WITH series AS (
  SELECT
    id AS track_id,
    name,
    CASE
      WHEN name = 'Running on the GPU' THEN 'running'
      WHEN name = 'Asked for and not started' THEN 'waiting'
      WHEN name GLOB 'Copies, *' THEN 'copy_rate'
      WHEN name GLOB 'Allocated by calls: *' THEN 'allocated'
    END AS series,
    CASE
      WHEN name GLOB 'Copies, *' THEN SUBSTR(name, 9)
      WHEN name GLOB 'Allocated by calls: *' THEN SUBSTR(name, 21)
    END AS of_what,
    CASE
      WHEN name GLOB 'Copies, *' THEN 'bytes/s'
      WHEN name GLOB 'Allocated by calls: *' THEN 'bytes'
      ELSE 'executions'
    END AS unit
  FROM counter_track
)
SELECT
  c.id,
  c.ts,
  CAST(c.value AS INTEGER) AS value,
  s.series,
  s.of_what,
  s.unit,
  s.track_id,
  s.name AS track,
  t.upid,
  t.pid,
  t.device
FROM counter AS c
JOIN series AS s ON s.track_id = c.track_id
JOIN gpubpf_track AS t ON t.track_id = c.track_id
WHERE s.series IS NOT NULL;

-- Per counter: how many samples, between which values.
CREATE OR REPLACE PERFETTO VIEW gpubpf_counter_series AS
SELECT
  track_id,
  track,
  series,
  of_what,
  unit,
  upid,
  pid,
  device,
  COUNT(*) AS samples,
  MIN(ts) AS first_ts,
  MAX(ts) AS last_ts,
  MIN(value) AS least,
  MAX(value) AS most
FROM gpubpf_counter
GROUP BY track_id;
