/** The dashboard and the alert rules of `init --deploy` ask for what the gateway measures. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { payV2, request, sendProof, signProof } from '../clients.ts';
import { missing } from '../debian.ts';
import { freePort } from '../free-port.ts';
import { startGateway } from '../gateway.ts';

const templates = 'src/cli/init/templates/deploy/monitoring';
const RULES = join(templates, 'alerts.yaml');

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const { panels } = JSON.parse(readFileSync(join(templates, 'dashboard.json'), 'utf8')) as { panels: Panel[] };
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const));
const { groups } = parse(readFileSync(RULES, 'utf8')) as {
  groups: { rules: { alert: string; expr: string }[] }[];
};
const rules = groups.flatMap(({ rules }) => rules);

/** Never happened in a shop where all went well. */
const QUIET = new Set([
  'Settled before the work',
  'Failures',
  'Slowest routes, p95 of an hour',
  'Parts that settle first',
  'Reloads',
  'Tokens',
]);

async function startPrometheus(t: Test, adminPort: number): Promise<(query: string) => Promise<unknown[]>> {
  const port = await freePort();
  const folder = t.testdir({ data: {} });
  const config = {
    global: { scrape_interval: '2s' },
    rule_files: [join(process.cwd(), RULES)],
    scrape_configs: [{ job_name: 'turnpike', static_configs: [{ targets: [`127.0.0.1:${adminPort}`] }] }],
  };
  writeFileSync(join(folder, 'prometheus.yaml'), JSON.stringify(config));
  const files = [`--config.file=${folder}/prometheus.yaml`, `--storage.tsdb.path=${folder}/data`];
  const running = spawn('prometheus', [...files, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' });
  const ended = once(running, 'exit');
  t.teardown(async () => {
    running.kill();
    await ended;
  });
  return async (query) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`);
    const { status, data, error } = (await answer.json()) as {
      status: string;
      data?: { result: unknown[] };
      error?: string;
    };
    if (status !== 'success') throw new Error(`${query}: ${error}`);
    return data?.result ?? [];
  };
}

t.test(
  'every panel and every rule has an answer from a real Prometheus',
  { skip: missing('prometheus') },
  async (t) => {
    const adminPort = await freePort();
    const gateway = await startGateway({
      networks: ['chain-c'],
      environment: { TURNPIKE_ADMIN_PORT: String(adminPort) },
    });
    t.teardown(gateway.stop);
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    const known = new Set([...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    for (const [what, expr] of [...queries, ...rules.map(({ alert, expr }) => [alert, expr] as const)]) {
      for (const [name] of expr.matchAll(
        /\b(?:turnpike|http|gen_ai)_(?:server|client|[a-z]+)[a-z_]*_(?:total|bucket|count|sum|usd|up|state|info|results|first)\b/g,
      )) {
        t.ok(known.has(name) || known.has(name.replace(/_(?:bucket|count|sum)$/, '')), `${what} asks for ${name}`);
      }
    }
    const query = await startPrometheus(t, adminPort);
    const until = async (happened: () => Promise<boolean>) => {
      while (!(await happened().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 100));
    };
    const paid = 'turnpike_payments_total{outcome="settled"}';
    const pictures = async () => {
      const call = request(gateway, '/image/family-e-2', { prompt: `a lighthouse at ${performance.now()}` });
      await payV2(gateway, 'chain-c', call);
      await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
      await sendProof(call, await signProof(gateway, 'chain-c', call));
    };
    // A counter's first sample is no increase: it is seen, and then more is sold.
    await pictures();
    await until(async () => (await query(paid)).length > 0);
    const [before] = (await query(paid)) as { value: [number, string] }[];
    await pictures();
    await until(async () => ((await query(paid)) as { value: [number, string] }[])[0]?.value[1] !== before?.value[1]);
    for (const [title, expr] of queries) {
      t.ok(Array.isArray(await query(expr)), `${title}: ${expr}`);
      // What one scrape was too slow for the next one brings.
      if (!QUIET.has(title)) await until(async () => (await query(expr)).length > 0);
    }
    for (const { alert, expr } of rules) t.ok(Array.isArray(await query(expr)), alert);
  },
);

/** What each alert is for: series that it fires on, a value a minute. */
const faults: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  NothingCanBePaid: { 'turnpike_facilitator_up{network="a"}': '0x30' },
  FacilitatorDown: { 'turnpike_facilitator_up{network="a"}': '0x30', 'turnpike_facilitator_up{network="b"}': '1x30' },
  GatewayGone: { 'up{job="turnpike", instance="one"}': '0x30' },
  CallsFail: {
    'http_server_request_duration_seconds_count{http_response_status_code="200"}': '0+90x30',
    'http_server_request_duration_seconds_count{http_response_status_code="502"}': '0+10x30',
  },
  UpstreamDown: { 'turnpike_circuit_state{upstream="a"}': '1x30' },
  ResultsOwed: { turnpike_owed_results: '2x30' },
  WorkIsLost: { 'turnpike_lost_usd_total{network="a", endpoint="b"}': '0+0.5x30' },
  VouchersRefused: { 'turnpike_channel_claims_total{network="a", outcome="refused"}': '0+1x30' },
  SoldBelowCost: {
    'turnpike_revenue_usd_total{endpoint="b", rail="x402", network="a"}': '0+1x30',
    'turnpike_upstream_cost_usd_total{endpoint="b", upstream="u"}': '0+2x30',
  },
  SettlementsSlow: {
    'turnpike_settlement_duration_seconds_bucket{network="a", le="10"}': '0x30',
    'turnpike_settlement_duration_seconds_bucket{network="a", le="60"}': '0+5x30',
    'turnpike_settlement_duration_seconds_bucket{network="a", le="+Inf"}': '0+5x30',
  },
  ReloadRefused: { 'turnpike_catalogue_reloads_total{outcome="refused"}': '0x18 1x12' },
};

t.test('every rule fires on what it is for, and on nothing else', { skip: missing('promtool', 'prometheus') }, (t) => {
  t.same(
    Object.keys(faults),
    rules.map(({ alert }) => alert),
  );
  const folder = t.testdir({});
  const file = join(folder, 'rules.yaml');
  const firing = (series: Readonly<Record<string, string>>): string[] => {
    const test = {
      rule_files: [join(process.cwd(), RULES)],
      tests: [
        {
          interval: '1m',
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          promql_expr_test: [{ expr: 'ALERTS{alertstate="firing"}', eval_time: '25m', exp_samples: [] }],
        },
      ],
    };
    writeFileSync(file, JSON.stringify(test));
    try {
      execFileSync('promtool', ['test', 'rules', file], { stdio: 'pipe' });
      return [];
    } catch (error) {
      const said = String((error as { stderr?: Buffer; stdout?: Buffer }).stderr);
      return [...new Set([...said.matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name))];
    }
  };
  for (const [alert, series] of Object.entries(faults)) {
    // Where nothing at all can be paid, each network is down as well.
    const also = alert === 'NothingCanBePaid' ? ['FacilitatorDown'] : [];
    t.same(firing(series).sort(), [...also, alert].sort(), alert);
  }
  t.end();
});
