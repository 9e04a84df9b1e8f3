// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The usual questions, each a view: one line of SQL asks them. A column of a duration holds nothing but durations
 * that were measured: sums and means leave out what has none, and say how many that were.
 */
#include "export/sqlite.h"

#include <stddef.h>

/* clang-format off */
const char *const sqlite_indexes[] = {
	"CREATE INDEX executions_call ON executions(call) WHERE call IS NOT NULL",
	"CREATE INDEX copies_execution ON copies(execution)",
	"CREATE INDEX call_times_call ON call_times(call)",
	"CREATE INDEX allocations_call ON allocations(call)",
	"CREATE INDEX semantic_targets_node ON semantic_targets(node)",
	NULL,
};

const struct sqlite_view sqlite_views[] = {
	{ "kernel_summary", "one row per kernel and shape: how often it ran, how long it took, what it is made of",
	  "SELECT k.id AS kernel, k.name,"
	  " k.grid_x || 'x' || k.grid_y || 'x' || k.grid_z AS grid,"
	  " k.block_x || 'x' || k.block_y || 'x' || k.block_z AS block,"
	  " k.cluster_x || 'x' || k.cluster_y || 'x' || k.cluster_z AS cluster,"
	  " count(*) AS executions, count(e.duration_ns) AS timed, sum(e.duration_ns) AS total_ns,"
	  " CAST(avg(e.duration_ns) AS INTEGER) AS mean_ns, min(e.duration_ns) AS min_ns, max(e.duration_ns) AS max_ns,"
	  " k.grid_x * k.grid_y * k.grid_z AS blocks, k.registers, k.static_shared_bytes, k.dynamic_shared_bytes,"
	  " k.local_bytes_per_thread"
	  " FROM executions e JOIN kernels k ON k.id = e.kernel GROUP BY e.kernel ORDER BY total_ns DESC, k.id" },
	{ "kernel_names", "one row per name of a kernel; of a name with several shapes a mean would mix them: NULL",
	  "SELECT k.name, count(DISTINCT k.id) AS shapes, count(*) AS executions, count(e.duration_ns) AS timed,"
	  " sum(e.duration_ns) AS total_ns,"
	  " CASE count(DISTINCT k.id) WHEN 1 THEN CAST(avg(e.duration_ns) AS INTEGER) END AS mean_ns"
	  " FROM executions e JOIN kernels k ON k.id = e.kernel GROUP BY k.name ORDER BY total_ns DESC, k.name" },
	{ "dispatches", "one row per kernel that ran, timed or not, and how far its times can be trusted",
	  "SELECT e.id AS execution, k.name, s.process, p.pid, e.device, e.stream, e.start_ns, e.end_ns, e.duration_ns,"
	  " e.duration_ns_unmeasured, e.duration_ns IS NOT NULL AS timed, t.clock, t.source, t.quality, e.link, e.call,"
	  " e.kernel, e.graph, e.graph_node"
	  " FROM executions e JOIN kernels k ON k.id = e.kernel JOIN sessions s ON s.id = e.session"
	  " JOIN processes p ON p.id = s.process JOIN timings t ON t.id = e.timing" },
	{ "launches", "one row per kernel that ran and whose call is known: call, kernel, and what lay between entry and start",
	  "SELECT e.id AS execution, c.id AS call, k.name, a.name AS api, p.pid, c.tid, c.entry_ns, c.return_ns,"
	  " c.duration_ns AS call_duration_ns, c.duration_ns_unmeasured AS call_duration_ns_unmeasured,"
	  " e.start_ns, e.duration_ns, e.duration_ns_unmeasured,"
	  " CASE WHEN e.start_ns >= c.entry_ns THEN e.start_ns - c.entry_ns END AS delay_ns,"
	  " e.start_ns IS NULL AS delay_ns_unmeasured,"
	  " CASE WHEN e.start_ns < c.entry_ns THEN c.entry_ns - e.start_ns END AS early_ns,"
	  " e.device, e.stream, e.graph, e.kernel, c.launch_key"
	  " FROM executions e JOIN calls c ON c.id = e.call JOIN kernels k ON k.id = e.kernel JOIN apis a ON a.id = c.api"
	  " LEFT JOIN processes p ON p.id = c.process" },
	{ "copy_summary", "one row per direction and kinds of memory: how much was copied or set, how fast",
	  "SELECT m.operation, m.direction, m.src_memory, m.dst_memory, count(*) AS executions,"
	  " count(e.duration_ns) AS timed, sum(m.bytes) AS bytes,"
	  " sum(CASE WHEN e.duration_ns IS NOT NULL THEN m.bytes END) AS timed_bytes, sum(e.duration_ns) AS total_ns,"
	  " CASE WHEN sum(e.duration_ns) > 0 THEN 1e9 * sum(CASE WHEN e.duration_ns IS NOT NULL THEN m.bytes END)"
	  " / sum(e.duration_ns) END AS bytes_per_second"
	  " FROM copies m JOIN executions e ON e.id = m.execution"
	  " GROUP BY m.operation, m.direction, m.src_memory, m.dst_memory ORDER BY bytes DESC, m.operation, m.direction" },
	{ "api_summary", "one row per entry point that was called: calls by the application, and how long they took",
	  "SELECT a.name, a.population, count(*) AS calls, sum(c.outcome = 'ok') AS ok, sum(c.outcome = 'failed') AS failed,"
	  " sum(c.outcome = 'open') AS open, sum(c.outcome = 'unmeasured') AS unmeasured, sum(c.captured) AS captured,"
	  " count(c.duration_ns) AS timed, sum(c.duration_ns) AS total_ns, CAST(avg(c.duration_ns) AS INTEGER) AS mean_ns,"
	  " min(c.duration_ns) AS min_ns, max(c.duration_ns) AS max_ns"
	  " FROM calls c JOIN apis a ON a.id = c.api WHERE c.depth = 0 GROUP BY c.api ORDER BY total_ns DESC, a.id" },
	{ "device_gaps", "one row per time in which nothing ran on a device of a process, between two executions of it",
	  "SELECT process, device, gap_from_ns, start_ns AS gap_to_ns, start_ns - gap_from_ns AS duration_ns, id AS next_execution"
	  " FROM (SELECT s.process, e.device, e.id, e.start_ns, max(e.end_ns) OVER (PARTITION BY s.process, e.device"
	  " ORDER BY e.start_ns, e.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS gap_from_ns"
	  " FROM executions e JOIN sessions s ON s.id = e.session"
	  " WHERE e.start_ns IS NOT NULL AND e.kind IN ('kernel', 'copy', 'set', 'graph')) WHERE start_ns > gap_from_ns" },
	{ "device_gap_summary", "one row per device of a process: how long nothing ran between its executions",
	  "SELECT process, device, count(*) AS gaps, sum(duration_ns) AS total_ns, CAST(avg(duration_ns) AS INTEGER) AS mean_ns,"
	  " max(duration_ns) AS longest_ns FROM device_gaps GROUP BY process, device ORDER BY process, device" },
	{ "unmatched_calls", "one row per call for work by the application that no execution with valid times is joined to",
	  "SELECT c.id AS call, a.name AS api, c.process, c.tid, c.entry_ns, c.outcome, c.captured, c.device,"
	  " c.device_unmeasured FROM calls c JOIN apis a ON a.id = c.api"
	  " WHERE c.depth = 0 AND (c.device_unmeasured OR c.device <> 'ran')" },
	{ "unmatched_executions", "one row per execution whose call is not known",
	  "SELECT e.id AS execution, e.kind, k.name, e.session, e.device, e.stream, e.start_ns, e.duration_ns,"
	  " e.duration_ns_unmeasured, e.link, e.correlation"
	  " FROM executions e LEFT JOIN kernels k ON k.id = e.kernel"
	  " WHERE e.link <> 'joined' AND e.kind IN ('kernel', 'copy', 'set', 'graph')" },
	{ "unmatched_device_calls", "one row per call for work that the device observer saw and that is joined to no call of the host",
	  "SELECT d.id AS device_call, d.session, d.own_tid, d.work, d.start_ns, d.duration_ns, d.link, d.correlation, d.executions"
	  " FROM device_calls d WHERE d.link NOT IN ('joined', 'other_call', 'alone', 'nested')" },
	{ "semantic_summary", "one row per node of the sidecar: what it is tied to by itself, and how long that ran on devices",
	  "SELECT n.id AS node, n.name, n.label, n.kind, n.parent, n.use, n.start_ns, n.start_ns_unmeasured, n.duration_ns,"
	  " n.duration_ns_unmeasured, (SELECT count(DISTINCT c.call) FROM semantic_targets c WHERE c.node = n.id) AS calls,"
	  " count(t.execution) AS executions, count(e.duration_ns) AS timed, sum(e.duration_ns) AS total_ns"
	  " FROM semantic_nodes n LEFT JOIN (SELECT DISTINCT node, execution FROM semantic_targets WHERE execution IS NOT NULL) t"
	  " ON t.node = n.id LEFT JOIN executions e ON e.id = t.execution GROUP BY n.id" },
	{ NULL, NULL, NULL },
};
/* clang-format on */
